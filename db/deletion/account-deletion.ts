// Deletes an account. Data of teams stays with the teams; data of the user alone is deleted.
import { and, asc, eq } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import { actorText } from '../audit/audit.js'
import type { Db, Tx } from '../client.js'
import { members, teams, users } from '../tables/accounts.js'
import { jobs } from '../tables/jobs.js'
import { idempotencyKeys } from '../tables/operations.js'
import { apiKeys } from '../tables/teams.js'
import { hasOthers } from '../teams/members.js'
import type { Caller } from '../teams/memberships.js'
import { fairTeamLock } from '../teams/team-lock.js'
import { detachJobs, detachJobsOfKeys } from './job-detachment.js'
import { deleteTeam } from './team-deletion.js'

/**
 * Deletes the account, its sessions and keys, the responses stored for it, and the teams that have no other member.
 * @throws ServiceError `conflict` while the user owns a team with other members, or a team of theirs alone cannot be
 * deleted (open jobs, a sealed capsule within its retention).
 */
export async function deleteAccount(db: Db, caller: Caller): Promise<void> {
  await db.transaction(async (tx) => {
    for (const team of await lockOwnedTeams(tx, caller.userId)) {
      if (await hasOthers(tx, team.id, caller.userId))
        throw new ServiceError(
          'conflict',
          `You own the team ${JSON.stringify(team.name)}, which has other members: transfer or delete it first`
        )
      await deleteTeam(tx, team.id, actorText(caller))
    }
    await tx.delete(idempotencyKeys).where(eq(idempotencyKeys.principal, `user:${caller.userId}`))
    await detachJobs(tx, eq(jobs.userId, caller.userId), { userId: null })
    await detachJobsOfKeys(tx, eq(apiKeys.createdBy, caller.userId))
    await tx.delete(users).where(eq(users.id, caller.userId))
  })
}

/**
 * Locks the teams that the user owns. The ids are read first: in one statement with the membership, Postgres can take
 * the lock of every team while it looks for those of the user.
 */
async function lockOwnedTeams(tx: Tx, userId: string): Promise<{ id: string; name: string }[]> {
  const isOwner = and(eq(members.userId, userId), eq(members.role, 'owner'))
  // Ordered, since two concurrent deletions may share teams.
  const owned = await tx.select({ id: members.teamId }).from(members).where(isOwner).orderBy(asc(members.teamId))
  const locked: { id: string; name: string }[] = []
  for (const { id } of owned) {
    const [team] = await tx
      .select({ id: teams.id, name: teams.name })
      .from(teams)
      .where(and(eq(teams.id, id), fairTeamLock('alone')))
      .for('update')
    const [still] = await tx
      .select({ id: members.teamId })
      .from(members)
      .where(and(isOwner, eq(members.teamId, id)))
    if (team && still) locked.push(team)
  }
  return locked
}
