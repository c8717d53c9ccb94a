// Estimates how many rows a query finds.
import { type SQLWrapper, sql } from 'drizzle-orm'
import type { DbOrTx } from './client.js'

/**
 * How many rows Postgres' planner expects of a query, by the statistics that `analyze` has gathered. It costs a plan, however
 * many rows there are. The planner knows how common each value of a column is, and takes the columns as independent.
 */
export async function estimatedRows(db: DbOrTx, query: SQLWrapper): Promise<number> {
  const [row] = await db.execute<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
    sql`explain (format json) ${query.getSQL()}`
  )
  return row!['QUERY PLAN'][0].Plan['Plan Rows']
}
