// Teams and memberships.
import { and, asc, eq, sql } from 'drizzle-orm'
import { ServiceError } from '../domain/errors.js'
import type { DbOrTx, Tx } from './client.js'
import { newId } from './ids.js'
import { members, teams } from './tables/accounts.js'

export type Role = 'owner' | 'admin' | 'member'

export interface Membership {
  id: string
  name: string
  role: Role
  suspended: boolean
}

/** A user's teams, in the order of joining. */
export async function teamsOf(db: DbOrTx, userId: string): Promise<Membership[]> {
  return db
    .select({
      id: teams.id,
      name: teams.name,
      role: members.role,
      suspended: sql<boolean>`${teams.suspendedAt} is not null`
    })
    .from(members)
    .innerJoin(teams, eq(teams.id, members.teamId))
    .where(eq(members.userId, userId))
    .orderBy(asc(members.joinedAt), asc(teams.id))
}

/**
 * The team that a write goes to: the one named, of which the user must be a member, else the user's personal team, made
 * here if need be (two first writes at once make one). The row is locked against suspension until the transaction ends.
 * @throws ServiceError `not_found` for a team of others, `team_suspended`.
 */
export async function lockTeamForWrite(
  tx: Tx,
  actor: { userId: string; email: string; teamId: string | null }
): Promise<string> {
  const [row] = actor.teamId
    ? await tx
        .select({ id: teams.id, suspendedAt: teams.suspendedAt })
        .from(teams)
        .innerJoin(members, and(eq(members.teamId, teams.id), eq(members.userId, actor.userId)))
        .where(eq(teams.id, actor.teamId))
        .for('share', { of: teams })
    : await lockPersonalTeam(tx, actor)
  if (!row) throw new ServiceError('not_found', 'team_id: no such team')
  if (row.suspendedAt) throw suspended()
  return row.id
}

/**
 * In whose name a user runs something that no team owns: the first of their teams that is not suspended, `null` without
 * any team. @throws ServiceError `team_suspended` when all are.
 */
export async function teamForRuns(db: DbOrTx, userId: string): Promise<string | null> {
  const memberships = await teamsOf(db, userId)
  const usable = memberships.find((team) => !team.suspended)
  if (!usable && memberships.length > 0) throw suspended()
  return usable?.id ?? null
}

/** For writes to what a team already owns. @throws ServiceError `team_suspended`. */
export async function assertNotSuspended(db: DbOrTx, teamId: string): Promise<void> {
  const [row] = await db.select({ suspendedAt: teams.suspendedAt }).from(teams).where(eq(teams.id, teamId))
  if (row?.suspendedAt) throw suspended()
}

const suspended = () =>
  new ServiceError(
    'team_suspended',
    'This team is suspended and read-only. Contact support to lift the suspension.',
    // The specification's own spelling, for sessions.
    { code: 'TEAM_SUSPENDED' }
  )

async function lockPersonalTeam(tx: Tx, actor: { userId: string; email: string }) {
  const select = () =>
    tx
      .select({ id: teams.id, suspendedAt: teams.suspendedAt })
      .from(teams)
      .where(eq(teams.personalOf, actor.userId))
      .for('share')
  const found = await select()
  if (found.length > 0) return found
  // Whoever loses the race waits here on the unique index, then finds the winner's team.
  const [made] = await tx
    .insert(teams)
    .values({ id: newId(), name: `${actor.email}'s Team`, personalOf: actor.userId })
    .onConflictDoNothing({ target: teams.personalOf })
    .returning({ id: teams.id })
  if (made) await tx.insert(members).values({ teamId: made.id, userId: actor.userId, role: 'owner' })
  return select()
}

/** The user's role in a team, or `null`. */
export async function roleIn(db: DbOrTx, userId: string, teamId: string): Promise<Role | null> {
  const [row] = await db
    .select({ role: members.role })
    .from(members)
    .where(and(eq(members.teamId, teamId), eq(members.userId, userId)))
  return row?.role ?? null
}

export async function teamExists(db: DbOrTx, teamId: string): Promise<boolean> {
  const rows = await db.select({ id: teams.id }).from(teams).where(eq(teams.id, teamId))
  return rows.length > 0
}
