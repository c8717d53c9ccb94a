// How many rows a list has in all, as far as anybody needs to know (domain/json/page.ts).
import { sql } from 'drizzle-orm'
import type { PgSelect } from 'drizzle-orm/pg-core'
import { TOTAL_MAX } from '../domain/json/page.js'
import type { DbOrTx } from './client.js'

/**
 * @param matching a query of what is counted, one row each: `db.select(ONE).from(...).where(...).$dynamic()`.
 * @returns no more than `TOTAL_MAX + 1`.
 */
export async function cappedCount(db: DbOrTx, matching: PgSelect): Promise<number> {
  const [row] = await db
    .select({ total: sql<number>`count(*)::int` })
    .from(matching.limit(TOTAL_MAX + 1).as('matching') as never)
  return (row as { total: number } | undefined)?.total ?? 0
}

/** What such a query selects. */
export const ONE = { one: sql`1`.as('one') }
