// Ids are UUIDs of version 7, which sort by creation time.
import { v7 } from 'uuid'

export const newId = (): string => v7()

/** The lowest id that can have been made at this time. Later rows have higher ids. */
export const firstIdAt = (time: Date): string => v7({ msecs: time.getTime(), seq: 0, random: new Uint8Array(16) })
