// Column types that all tables share.
import { bigint, customType, timestamp } from 'drizzle-orm/pg-core'

/** Millisecond precision: a JavaScript Date has no more, and a keyset cursor must not lose rows to rounding. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

/** Money in micro-USD. */
export const micro = (name: string) => bigint(name, { mode: 'bigint' })

export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' })
