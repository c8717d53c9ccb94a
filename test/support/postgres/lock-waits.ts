// Sessions of a database that wait for a lock: then what they do and what a test does overlap.
import { sql } from 'drizzle-orm'
import type { DbOrTx } from '../../../db/client.js'
import { eventually } from '../eventually.js'

export const sessionsThatWait = async (db: DbOrTx): Promise<number> => {
  const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await db.execute(waiting)).length
}

/** Resolves when so many sessions wait. */
export const untilLockAwaited = (db: DbOrTx, sessions = 1): Promise<boolean> =>
  eventually(async () => (await sessionsThatWait(db)) >= sessions)
