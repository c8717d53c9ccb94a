// Reads and creates teams and memberships.

import { and, eq, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import type { Role } from '../../domain/teams/role.js'
import type { DbOrTx, Tx } from '../client.js'
import { newId } from '../ids.js'
import { type Places, query } from '../statement.js'
import { members, teams } from '../tables/accounts.js'
import { type Caller, type Membership, teamsOf } from './memberships.js'
import { fairTeamLock } from './team-lock.js'

/**
 * The team that a read concerns: the named one, or else the first that the caller joined; `null` when there is none.
 * @throws ServiceError `not_found` for non-members, `permission_denied` below the role `least`.
 */
export async function teamForRead(
  db: DbOrTx,
  caller: Caller,
  teamId: string | undefined,
  least: Role
): Promise<Membership | null> {
  const mine = await teamsOf(db, caller)
  const team = teamId === undefined ? mine[0] : mine.find(({ id }) => id === teamId.toLowerCase())
  if (!team && teamId === undefined) return null
  if (!team) throw noSuchTeam()
  assertRole(team.role, least)
  return team
}

/**
 * The team that a write concerns: a key's own; the named one, of which the caller must be a member; or else the
 * caller's personal team, which is created if it is missing (two concurrent first writes create one). Team and
 * membership are locked against suspension and changes of role until the transaction ends. `update` also makes all
 * other writes to the team wait. It must be taken at once: two transactions that upgrade a shared lock would deadlock.
 * @throws ServiceError `not_found` for non-members, `permission_denied` below the role `least`, `team_suspended`.
 */
export async function lockTeamForWrite(
  tx: DbOrTx,
  caller: Caller,
  teamId: string | null,
  least: Role = 'member',
  strength: 'share' | 'update' = 'share'
): Promise<string> {
  const named = teamId ?? caller.key?.teamId ?? null
  const row = named === null ? await lockPersonalTeam(tx, caller) : await lockNamedTeam(tx, caller, named, strength)
  if (!row) throw noSuchTeam()
  assertRole(caller.key ? 'member' : row.role, least)
  if (row.suspendedAt) throw suspended(row.suspendedReason)
  return row.id
}

const noSuchTeam = () => new ServiceError('not_found', 'team_id: no such team')

const ranks: Record<Role, number> = { member: 0, admin: 1, owner: 2 }

/** @throws ServiceError `permission_denied`. */
export function assertRole(role: Role, least: Role): void {
  if (ranks[role] < ranks[least])
    throw new ServiceError(
      'permission_denied',
      least === 'owner' ? "Only the team's owner may do this" : "Only the team's owner and admins may do this"
    )
}

const lockedColumns = {
  id: teams.id,
  suspendedAt: teams.suspendedAt,
  suspendedReason: teams.suspendedReason,
  role: members.role
}

async function lockNamedTeam(tx: DbOrTx, caller: Caller, teamId: string, strength: 'share' | 'update') {
  if (caller.key && caller.key.teamId !== teamId.toLowerCase()) return undefined
  const [row] = await namedTeam[strength](tx, { teamId, userId: caller.userId })
  return row
}

const lockOfTeam = (strength: 'share' | 'update') =>
  query(({ teamId, userId }: Places<{ teamId: string; userId: string }>, on) =>
    on
      .select(lockedColumns)
      .from(teams)
      .innerJoin(members, and(eq(members.teamId, teams.id), eq(members.userId, userId)))
      .where(and(eq(teams.id, teamId), fairTeamLock(strength === 'update' ? 'alone' : 'share')))
      .for(strength)
  )

const namedTeam = { share: lockOfTeam('share'), update: lockOfTeam('update') }

async function lockPersonalTeam(tx: DbOrTx, caller: Caller) {
  const [found] = await personalTeam(tx, caller)
  if (found) return found
  await makePersonalTeam(tx, caller)
  return (await personalTeam(tx, caller))[0]
}

const personalTeam = query(({ userId }: Places<Pick<Caller, 'userId'>>, on) =>
  on
    .select(lockedColumns)
    .from(teams)
    .innerJoin(members, and(eq(members.teamId, teams.id), eq(members.userId, userId)))
    .where(and(eq(teams.personalOf, userId), fairTeamLock('share')))
    .for('share')
)

/**
 * Inserts both rows in one statement. The loser of a race waits on the unique index, and then finds the winner's team.
 */
async function makePersonalTeam(tx: DbOrTx, caller: Caller): Promise<void> {
  const team = tx
    .insert(teams)
    .values({ id: newId(), name: `${caller.email}'s Team`, personalOf: caller.userId })
    .onConflictDoNothing({ target: teams.personalOf })
    .returning({ id: teams.id })
  await tx.execute(sql`with team as ${team}
    insert into ${members} (team_id, user_id, role) select id, ${caller.userId}, 'owner' from team`)
}

/**
 * The team in whose name a caller runs something that no team owns: the first of their teams that is not suspended;
 * `null` without any team.
 * @throws ServiceError `team_suspended` when all are.
 */
export async function teamForRuns(db: DbOrTx, caller: Caller): Promise<string | null> {
  const memberships = await teamsOf(db, caller)
  const usable = memberships.find((team) => !team.suspended)
  if (!usable && memberships[0]) throw suspended(memberships[0].suspended_reason)
  return usable?.id ?? null
}

/** @param reason as the platform administrator wrote it. */
export const suspended = (reason: string | null) =>
  new ServiceError(
    'team_suspended',
    `This team is suspended and read-only${reason === null ? '' : ` (reason: ${reason})`}. Contact support to lift the suspension.`,
    // The specification's own spelling, for sessions.
    { code: 'TEAM_SUSPENDED' }
  )

export async function teamExists(db: DbOrTx, teamId: string): Promise<boolean> {
  const rows = await db.select({ id: teams.id }).from(teams).where(eq(teams.id, teamId))
  return rows.length > 0
}

/** Makes a team whose owner is the caller. */
export async function createTeam(tx: Tx, caller: Caller, name: string): Promise<Membership> {
  const id = newId()
  await tx.insert(teams).values({ id, name })
  await tx.insert(members).values({ teamId: id, userId: caller.userId, role: 'owner' })
  return { id, name, role: 'owner', suspended: false, suspended_reason: null }
}

export async function renameTeam(tx: Tx, teamId: string, name: string): Promise<void> {
  await tx.update(teams).set({ name }).where(eq(teams.id, teamId))
}

export async function teamName(db: DbOrTx, teamId: string): Promise<string> {
  const [row] = await db.select({ name: teams.name }).from(teams).where(eq(teams.id, teamId))
  return row?.name ?? ''
}
