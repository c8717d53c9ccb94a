import { sql } from 'drizzle-orm'

/**
 * A condition that always holds, for an update whose loss only repeats harmless work: its commit does not wait for the disk, nor
 * for a standby, and can be lost when the server crashes within the next half second. Only in a statement of its own: in a
 * transaction it would apply to all of it.
 */
export const unflushed = sql`set_config('synchronous_commit', 'off', true) = 'off'`
