// Fair locking of a team. A row lock alone is not fair: while a stream of writes shares it, a transaction that needs
// the row alone (a suspension, a change of role) starves. An advisory lock queues in order of arrival: once a
// transaction waits for the team alone, later writes queue behind it.
import { type SQL, sql } from 'drizzle-orm'
import { teams } from '../tables/accounts.js'

/**
 * A condition for the `where` of a statement that locks a row of `teams`. It is always true, and is evaluated before
 * the row is locked: taking the advisory lock after the row could deadlock. Held until the transaction ends.
 */
export function fairTeamLock(strength: 'share' | 'alone'): SQL {
  const lock = sql.raw(strength === 'share' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock')
  return sql`${lock}(hashtextextended('team ' || ${teams.id}::text, 0)) is not null`
}
