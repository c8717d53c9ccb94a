// Access that an account gave before its address was proved. The person who signed up with an address may not be the one
// who receives its mail: their API keys, further members and webhooks would stay when the password is replaced, jobs would
// start later with credentials that the owner has stored by then, and the owner's jobs would run with theirs. All of it
// ends when the address is proved for the first time.
import { and, eq, inArray, isNull, ne, or, type SQL, sql } from 'drizzle-orm'
import { actorText, appendAudit } from '../audit/audit.js'
import type { Tx } from '../client.js'
import { requestCancel } from '../job-steps/job-steps.js'
import { members, teams } from '../tables/accounts.js'
import { capsuleSchedules, capsules } from '../tables/capsules.js'
import { jobs } from '../tables/jobs.js'
import { apiKeys, invitations, teamSecrets, webhooks } from '../tables/teams.js'
import { fairTeamLock } from '../teams/team-lock.js'

/**
 * Revokes the account's API keys and cancels its pending invitations, in every team. In its personal team, removes all
 * other members, webhooks, credentials and pending invitations, pauses the schedules and cancels the jobs that have not
 * started. Adds an entry to the audit trail of each team concerned, so it must come last in the transaction.
 */
export async function endFormerAccess(tx: Tx, userId: string): Promise<void> {
  const [personal] = await tx
    .select({ id: teams.id })
    .from(teams)
    .where(and(eq(teams.personalOf, userId), fairTeamLock('alone')))
    .for('update')
  const ended = new Map<string, Record<string, number>>()
  const count = (kind: string, rows: { teamId: string }[]) => {
    for (const { teamId } of rows) {
      const counts = ended.get(teamId) ?? {}
      counts[kind] = (counts[kind] ?? 0) + 1
      ended.set(teamId, counts)
    }
  }
  count('api_keys', await revokeKeys(tx, userId))
  count('invitations', await cancelInvitations(tx, userId, personal?.id ?? null))
  if (personal) {
    count('members', await removeOthers(tx, personal.id, userId))
    count('webhooks', await deleteWebhooks(tx, personal.id))
    count('credentials', await deleteCredentials(tx, personal.id))
    count('schedules', await pauseSchedules(tx, personal.id))
    count('jobs', await cancelPendingJobs(tx, personal.id))
  }
  // In one order, since two transactions may concern the same teams.
  for (const [teamId, counts] of [...ended].sort())
    await appendAudit(tx, {
      teamId,
      capsuleId: null,
      action: 'account.proved',
      actor: actorText({ userId, email: '', key: null }),
      previousState: null,
      newState: null,
      metadata: { ended: counts }
    })
}

const revokeKeys = (tx: Tx, userId: string) =>
  tx
    .update(apiKeys)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(apiKeys.createdBy, userId), isNull(apiKeys.revokedAt)))
    .returning({ teamId: apiKeys.teamId })

const cancelInvitations = (tx: Tx, userId: string, personal: string | null) =>
  tx
    .update(invitations)
    .set({ status: 'cancelled' })
    .where(
      and(
        eq(invitations.status, 'pending'),
        or(eq(invitations.invitedBy, userId), personal === null ? undefined : eq(invitations.teamId, personal))
      )
    )
    .returning({ teamId: invitations.teamId })

const removeOthers = (tx: Tx, teamId: string, userId: string) =>
  tx
    .delete(members)
    .where(and(eq(members.teamId, teamId), ne(members.userId, userId)))
    .returning({ teamId: members.teamId })

const deleteWebhooks = (tx: Tx, teamId: string) =>
  tx.delete(webhooks).where(eq(webhooks.teamId, teamId)).returning({ teamId: webhooks.teamId })

const deleteCredentials = (tx: Tx, teamId: string) =>
  tx.delete(teamSecrets).where(eq(teamSecrets.teamId, teamId)).returning({ teamId: teamSecrets.teamId })

/** A team has as many as its limit of submissions a day allows in the days that a start can be deferred. */
async function cancelPendingJobs(tx: Tx, teamId: string): Promise<{ teamId: string }[]> {
  const pending = await tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.teamId, teamId), eq(jobs.status, 'pending')))
    .orderBy(jobs.id)
  for (const { id } of pending) await requestCancel(tx, id)
  return pending.map(() => ({ teamId }))
}

const pauseSchedules = (tx: Tx, teamId: string) => {
  const ofTeam: SQL = inArray(
    capsuleSchedules.capsuleId,
    tx.select({ id: capsules.id }).from(capsules).where(eq(capsules.teamId, teamId))
  )
  return tx
    .update(capsuleSchedules)
    .set({ paused: true, version: sql`${capsuleSchedules.version} + 1`, updatedAt: sql`now()` })
    .where(and(ofTeam, eq(capsuleSchedules.paused, false), isNull(capsuleSchedules.endedAt)))
    .returning({ teamId: sql<string>`${teamId}` })
}
