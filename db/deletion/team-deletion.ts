import { and, eq, inArray, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import type { Tx } from '../client.js'
import { deleteScriptsOfTeam } from '../scripts/script-changes.js'
import { members, teams } from '../tables/accounts.js'
import { jobs } from '../tables/jobs.js'
import { apiKeys, invitations, teamSecrets, webhooks } from '../tables/teams.js'
import { deleteCapsulesOfTeam } from './capsule-retention.js'

/**
 * Takes a team out of use: nobody belongs to it any more, and what could act or open anything in its name is gone. Its jobs
 * and its ledger stay until their retention ends (docs/operations/retention.md); of its scripts those that a job names stay, for it. The team is locked for `update` by the caller.
 * @throws ServiceError `conflict` while jobs of it are under way, or a sealed capsule has to be kept.
 */
export async function deleteTeam(tx: Tx, teamId: string, actor: string): Promise<void> {
  const [open] = await tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.teamId, teamId), inArray(jobs.status, ['pending', 'running', 'cancelling'])))
    .limit(1)
  if (open) throw new ServiceError('conflict', 'Jobs of this team are under way; wait for them, or cancel them')
  await tx.delete(members).where(eq(members.teamId, teamId))
  for (const table of [invitations, apiKeys, teamSecrets, webhooks])
    await tx.delete(table).where(eq(table.teamId, teamId))
  await deleteScriptsOfTeam(tx, teamId)
  await tx.update(teams).set({ deletedAt: sql`now()`, personalOf: null }).where(eq(teams.id, teamId))
  // Last: its entries hold the end of the team's audit trail.
  await deleteCapsulesOfTeam(tx, teamId, actor)
}
