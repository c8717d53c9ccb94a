// Counts the rows of a list, up to the cap of domain/json/page.ts.
import { sql } from 'drizzle-orm'
import type { PgSelect } from 'drizzle-orm/pg-core'
import { TOTAL_MAX } from '../domain/json/page.js'
import type { DbOrTx } from './client.js'

/**
 * @param matching a query with one row for each item: `db.select(ONE).from(...).where(...).$dynamic()`.
 * @returns at most `TOTAL_MAX + 1`.
 */
export async function cappedCount(db: DbOrTx, matching: PgSelect): Promise<number> {
  const [row] = await db
    .select({ total: sql<number>`count(*)::int` })
    .from(matching.limit(TOTAL_MAX + 1).as('matching') as never)
  return (row as { total: number } | undefined)?.total ?? 0
}

/** The selection of such a query. */
export const ONE = { one: sql`1`.as('one') }
