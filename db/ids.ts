// Ids are UUIDs of version 7, which sort by creation time.
import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'

export const newId = (): string => v7()

/**
 * The condition that an id ends with 8 to 12 hexadecimal digits. An index on `right(id::text, 8)` serves it, because the end
 * of an id is random.
 */
export const endsWith = (id: PgColumn, end: string): SQL => {
  const digits = end.toLowerCase()
  return sql`(right(${id}::text, 8) = ${digits.slice(-8)} and right(${id}::text, ${digits.length}::int) = ${digits})`
}

/** The lowest id that can have been made at this time. Later rows have higher ids. */
export const firstIdAt = (time: Date): string => v7({ msecs: time.getTime(), seq: 0, random: new Uint8Array(16) })
