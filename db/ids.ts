// Ids are UUIDs of version 7, which sort by the time they were made.
import { v7 } from 'uuid'

export const newId = (): string => v7()
