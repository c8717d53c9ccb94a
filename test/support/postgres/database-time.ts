// The clock of the database, by which leases expire and messages become due.
import { sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.js'

/** The time of the database, in seconds. */
export async function databaseTime(db: Db): Promise<number> {
  const [row] = await db.execute<{ now: number }>(sql`select extract(epoch from clock_timestamp())::float8 as now`)
  return row!.now
}
