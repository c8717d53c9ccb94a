// Deletes rows whose retention is over (docs/operations/retention.md).
import { sql } from 'drizzle-orm'
import type { Db } from '../client.js'

/** How many rows of one kind a statement deletes. It locks them while others wait. */
const AT_ONCE = 1_000

const due = [
  {
    table: 'sessions',
    where: sql`coalesce(revoked_at, least(last_seen_at + interval '7 days', created_at + interval '30 days')) < now() - interval '30 days'`
  },
  { table: 'password_resets', where: sql`expires_at < now() - interval '1 day'` },
  { table: 'sealed_mails', where: sql`expires_at < now()` },
  { table: 'invitations', where: sql`expires_at < now() - interval '90 days'` },
  { table: 'idempotency_keys', where: sql`created_at < now() - interval '48 hours'` },
  { table: 'script_analyses', where: sql`created_at < now() - interval '7 days'` },
  { table: 'playground_telemetry', where: sql`created_at < now() - interval '90 days'` }
]

/**
 * Rows that another session has locked are left to a later pass.
 * @param onFailure called for a kind that could not be deleted; the others are deleted all the same.
 * @returns how many rows were deleted; at least `AT_ONCE` of a kind when there are more.
 */
export async function removeOutdated(
  db: Db,
  onFailure: (table: string, error: unknown) => void
): Promise<{ removed: number; more: boolean }> {
  let removed = 0
  let more = false
  for (const { table, where } of due)
    try {
      const name = sql.identifier(table)
      const gone = await db.execute(sql`
        with old as (select ctid from ${name} where ${where} limit ${AT_ONCE} for update skip locked)
        delete from ${name} where ctid in (select ctid from old) returning 1`)
      removed += gone.length
      more ||= gone.length === AT_ONCE
    } catch (error) {
      onFailure(table, error)
    }
  return { removed, more }
}
