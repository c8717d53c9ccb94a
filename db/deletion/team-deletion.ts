import { and, eq, inArray, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import type { Tx } from '../client.js'
import { deleteScriptsOfTeam } from '../scripts/script-changes.js'
import { members, teams } from '../tables/accounts.js'
import { jobs } from '../tables/jobs.js'
import { apiKeys, invitations, teamSecrets, webhooks } from '../tables/teams.js'
import { deleteCapsulesOfTeam } from './capsule-retention.js'
import { detachJobsOfKeys } from './job-detachment.js'

/**
 * Deletes a team: it loses its members, and everything that could act in its name or open its data is removed. Its jobs
 * and its ledger stay until their retention ends (docs/operations/retention.md), as do scripts that a job names. The caller has
 * locked the team for `update`.
 * @throws ServiceError `conflict` while it has open jobs, or a sealed capsule within its retention.
 */
export async function deleteTeam(tx: Tx, teamId: string, actor: string): Promise<void> {
  const [open] = await tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.teamId, teamId), inArray(jobs.status, ['pending', 'running', 'cancelling'])))
    .limit(1)
  if (open)
    throw new ServiceError('conflict', 'This team has jobs that have not finished; wait for them, or cancel them')
  await tx.delete(members).where(eq(members.teamId, teamId))
  await detachJobsOfKeys(tx, eq(apiKeys.teamId, teamId))
  for (const table of [invitations, apiKeys, teamSecrets, webhooks])
    await tx.delete(table).where(eq(table.teamId, teamId))
  await deleteScriptsOfTeam(tx, teamId)
  await tx.update(teams).set({ deletedAt: sql`now()`, personalOf: null }).where(eq(teams.id, teamId))
  // Last: its entries lock the end of the team's audit trail.
  await deleteCapsulesOfTeam(tx, teamId, actor)
}
