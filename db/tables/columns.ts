// Column types that all tables share.
import { sql } from 'drizzle-orm'
import { bigint, customType, text, timestamp } from 'drizzle-orm/pg-core'

/** Millisecond precision: a JavaScript Date has no more, and a keyset cursor must not lose rows to rounding. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

/** Money in micro-USD. */
export const micro = (name: string) => bigint(name, { mode: 'bigint' })

export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' })

/** A content that is in its row, or in the content store, or on its way from one to the other in both (db/contents). */
export const contentColumns = {
  content: bytea('content'),
  objectKey: text('object_key'),
  // When the object was written.
  objectAt: instant('object_at')
}

/** From this size on a content is worth an object of its own: with fewer bytes, the requests cost more than they spare. */
export const OBJECT_BYTES_MIN = 64 * 1024

/** Of the indexes that serve the sweep: contents that it has not looked at, and those that are in both places. */
export const unmoved = sql.raw(`object_key is null and size_bytes >= ${OBJECT_BYTES_MIN}`)
export const moving = sql.raw('object_key is not null and content is not null')
