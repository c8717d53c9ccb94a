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

/** The first digits of an id: those of one span of time, of 2^28 ms or 3.1 days, are the same. */
const SPAN_DIGITS = 5

/** The span of an id, as the index on it has it. */
export const spanOf = (id: PgColumn): SQL => sql`left(${id}::text, ${sql.raw(String(SPAN_DIGITS))})`

/** All spans since the one of this id, some 120 for each year. The last one has not begun: another clock can be ahead. */
export function spansSince(id: string): string[] {
  const [first, last] = [id, newId()].map((one) => Number.parseInt(one.slice(0, SPAN_DIGITS), 16)) as [number, number]
  return Array.from({ length: Math.max(0, last + 2 - first) }, (_, at) =>
    (first + at).toString(16).padStart(SPAN_DIGITS, '0')
  )
}

/** The lowest id that can have been made at this time. Later rows have higher ids. */
export const firstIdAt = (time: Date): string => v7({ msecs: time.getTime(), seq: 0, random: new Uint8Array(16) })
