// Whose turn it is at a team. A row lock alone is not fair: while one write after another shares it, whoever wants the row
// alone (a suspension, a change of role) is passed by for ever. The queue of an advisory lock is in order of arrival: once
// somebody waits for the team alone, later writes wait behind.
import { type SQL, sql } from 'drizzle-orm'
import { teams } from '../tables/accounts.js'

/**
 * A condition for the `where` of a statement that locks a row of `teams`. It always holds, and is met before the row is
 * locked: taking the turn after the row would let two wait for each other. Kept until the transaction ends.
 */
export function fairTeamLock(strength: 'share' | 'alone'): SQL {
  const lock = sql.raw(strength === 'share' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock')
  return sql`${lock}(hashtextextended('team ' || ${teams.id}::text, 0)) is not null`
}
