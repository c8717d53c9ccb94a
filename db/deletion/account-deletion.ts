// Deletes an account. Data of teams stays with the teams; data of the user alone is deleted.
import { and, asc, count, eq, isNull } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import { actorText } from '../audit/audit.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { members, teams, users } from '../tables/accounts.js'
import { jobs } from '../tables/jobs.js'
import { idempotencyKeys } from '../tables/operations.js'
import { apiKeys } from '../tables/teams.js'
import { hasOthers } from '../teams/members.js'
import type { Caller } from '../teams/memberships.js'
import { fairTeamLock } from '../teams/team-lock.js'
import { detachJobs, detachJobsOfKeys } from './job-detachment.js'
import { deleteTeam, deletionFaults } from './team-deletion.js'

const sharedTeam = (name: string): string =>
  `You own the team ${JSON.stringify(name)}, which has other members: transfer or delete it first`

export interface AccountDeletion {
  /** What stands in its way, in the words of the refusal; `null` when nothing does. */
  fault: string | null
  /** Teams that are deleted with the account. */
  deleted: { id: string; name: string }[]
  /** Teams of others, which lose a member. */
  left: { id: string; name: string }[]
  /** Keys that the user made, in any team. */
  apiKeys: number
}

/** What the deletion of an account would take along now, without a lock. */
export async function accountDeletion(db: DbOrTx, userId: string): Promise<AccountDeletion> {
  const [teamsOfUser, [keys]] = await Promise.all([
    db
      .select({ id: teams.id, name: teams.name, role: members.role })
      .from(members)
      .innerJoin(teams, eq(teams.id, members.teamId))
      .where(eq(members.userId, userId))
      .orderBy(asc(teams.id)),
    db
      .select({ count: count() })
      .from(apiKeys)
      .where(and(eq(apiKeys.createdBy, userId), isNull(apiKeys.revokedAt)))
  ])
  const owned = teamsOfUser.filter(({ role }) => role === 'owner')
  const faults = await deletionFaults(
    db,
    owned.map(({ id }) => id)
  )
  let fault: string | null = null
  for (const { id, name } of owned)
    fault ??= (await hasOthers(db, id, userId)) ? sharedTeam(name) : (faults.get(id) ?? null)
  const shown = (list: typeof teamsOfUser) => list.map(({ id, name }) => ({ id, name }))
  return {
    fault,
    deleted: shown(owned),
    left: shown(teamsOfUser.filter(({ role }) => role !== 'owner')),
    apiKeys: keys?.count ?? 0
  }
}

/**
 * Deletes the account, its sessions and keys, the responses stored for it, and the teams that have no other member.
 * @throws ServiceError `conflict` while the user owns a team with other members, or a team of theirs alone cannot be
 * deleted (open jobs, a sealed capsule within its retention).
 */
export async function deleteAccount(db: Db, caller: Caller): Promise<void> {
  await db.transaction(async (tx) => {
    for (const team of await lockOwnedTeams(tx, caller.userId)) {
      if (await hasOthers(tx, team.id, caller.userId)) throw new ServiceError('conflict', sharedTeam(team.name))
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
