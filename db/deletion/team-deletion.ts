import { and, eq, exists, inArray, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import { anyOf, type DbOrTx, type Tx } from '../client.js'
import { deleteScriptsOfTeam } from '../scripts/script-changes.js'
import { members, teams } from '../tables/accounts.js'
import { jobs } from '../tables/jobs.js'
import { apiKeys, invitations, teamSecrets, webhooks } from '../tables/teams.js'
import { deleteCapsulesOfTeam, retainedCapsules } from './capsule-retention.js'
import { detachJobsOfKeys } from './job-detachment.js'

const OPEN_JOBS = 'This team has jobs that have not finished; wait for them, or cancel them'

/** Why teams cannot be deleted now, in the words of the refusal, by the team's id. */
export async function deletionFaults(db: DbOrTx, teamIds: string[]): Promise<Map<string, string>> {
  if (teamIds.length === 0) return new Map()
  const [busy, retained] = await Promise.all([withOpenJobs(db, teamIds), retainedCapsules(db, teamIds)])
  return new Map([...retained, ...[...busy].map((id): [string, string] => [id, OPEN_JOBS])])
}

async function withOpenJobs(db: DbOrTx, teamIds: string[]): Promise<Set<string>> {
  const open = inArray(jobs.status, ['pending', 'running', 'cancelling'])
  const rows = await db
    .select({ id: teams.id })
    .from(teams)
    .where(
      and(
        anyOf(teams.id, teamIds),
        exists(
          db
            .select({ id: jobs.id })
            .from(jobs)
            .where(and(eq(jobs.teamId, teams.id), open))
        )
      )
    )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Deletes a team: it loses its members, and everything that could act in its name or open its data is removed. Its jobs
 * and its ledger stay until their retention ends (docs/operations/retention.md), as do scripts that a job names. The caller has
 * locked the team for `update`.
 * @throws ServiceError `conflict` while it has open jobs, or a sealed capsule within its retention.
 */
export async function deleteTeam(tx: Tx, teamId: string, actor: string): Promise<void> {
  if ((await withOpenJobs(tx, [teamId])).has(teamId)) throw new ServiceError('conflict', OPEN_JOBS)
  await tx.delete(members).where(eq(members.teamId, teamId))
  await detachJobsOfKeys(tx, eq(apiKeys.teamId, teamId))
  for (const table of [invitations, apiKeys, teamSecrets, webhooks])
    await tx.delete(table).where(eq(table.teamId, teamId))
  await deleteScriptsOfTeam(tx, teamId)
  await tx.update(teams).set({ deletedAt: sql`now()`, personalOf: null }).where(eq(teams.id, teamId))
  // Last: its entries lock the end of the team's audit trail.
  await deleteCapsulesOfTeam(tx, teamId, actor)
}
