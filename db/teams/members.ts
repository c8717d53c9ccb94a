// The members of a team and their roles. Every writer has locked the team for `update` (db/teams/teams.ts), so
// concurrent changes run one after the other and a team has exactly one owner at every instant, which a unique index
// also enforces.
import { and, asc, eq, inArray, ne, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import { assertMayLeave, assertRemovable, assertRoleChanges } from '../../domain/teams/membership.js'
import type { AssignableRole, Role } from '../../domain/teams/role.js'
import { MEMBERS_MAX } from '../../domain/teams/team-limits.js'
import type { DbOrTx, Tx } from '../client.js'
import { members, teams, users } from '../tables/accounts.js'

const memberColumns = {
  userId: members.userId,
  email: users.email,
  // The display name, or else the part of the address before the @.
  name: sql<string>`coalesce(nullif(${users.displayName}, ''), split_part(${users.email}, '@', 1))`,
  role: members.role,
  joinedAt: members.joinedAt
}

const memberQuery = (db: DbOrTx) =>
  db.select(memberColumns).from(members).innerJoin(users, eq(users.id, members.userId))

export type Member = Awaited<ReturnType<typeof memberQuery>>[number]

/** In the order of joining. */
export async function listMembers(db: DbOrTx, teamId: string): Promise<Member[]> {
  return memberQuery(db)
    .where(eq(members.teamId, teamId))
    .orderBy(asc(members.joinedAt), asc(members.userId))
    .limit(MEMBERS_MAX)
}

/** Members of a team that have one of these addresses, by their address in lower case. */
export async function membersByAddress(
  db: DbOrTx,
  teamId: string,
  emails: readonly string[]
): Promise<Map<string, Pick<Member, 'userId' | 'email'>>> {
  if (emails.length === 0) return new Map()
  const lower = emails.map((email) => email.toLowerCase())
  const rows = await memberQuery(db).where(and(eq(members.teamId, teamId), inArray(sql`lower(${users.email})`, lower)))
  return new Map(rows.map(({ userId, email }) => [email.toLowerCase(), { userId, email }]))
}

/** @throws ServiceError `not_found`. */
async function memberOf(tx: Tx, teamId: string, userId: string): Promise<Member> {
  const [member] = await memberQuery(tx).where(and(eq(members.teamId, teamId), eq(members.userId, userId)))
  if (!member) throw new ServiceError('not_found', 'no such member of this team')
  return member
}

/**
 * Makes a member an admin or a plain member.
 * @throws ServiceError `not_found`; `permission_denied` for the owner, whose role changes only by a transfer.
 */
export async function changeRole(tx: Tx, teamId: string, userId: string, role: AssignableRole): Promise<Member> {
  const member = await memberOf(tx, teamId, userId)
  assertRoleChanges(member.role)
  await tx
    .update(members)
    .set({ role })
    .where(and(eq(members.teamId, teamId), eq(members.userId, userId)))
  return { ...member, role }
}

/** @throws ServiceError `not_found`; `permission_denied` for the owner, and for removing oneself. */
export async function removeMember(tx: Tx, teamId: string, userId: string, actorId: string): Promise<void> {
  const member = await memberOf(tx, teamId, userId)
  assertRemovable(member.role, userId === actorId)
  await deleteMember(tx, teamId, userId)
}

/** @throws ServiceError `permission_denied` for the owner. */
export async function leaveTeam(tx: Tx, teamId: string, userId: string): Promise<void> {
  const member = await memberOf(tx, teamId, userId)
  assertMayLeave(member.role)
  await deleteMember(tx, teamId, userId)
}

async function deleteMember(tx: Tx, teamId: string, userId: string): Promise<void> {
  await tx.delete(members).where(and(eq(members.teamId, teamId), eq(members.userId, userId)))
}

/**
 * Makes another member the owner; the current one becomes an admin. A personal team stops being personal: its former
 * owner gets a new one with their next write.
 * @throws ServiceError `not_found`, `permission_denied` when the actor is no longer the owner.
 */
export async function transferOwnership(tx: Tx, teamId: string, from: string, to: string): Promise<void> {
  const present = await memberOf(tx, teamId, from)
  if (present.role !== 'owner') throw new ServiceError('permission_denied', "Only the team's owner may do this")
  const next = await memberOf(tx, teamId, to)
  if (next.userId === from) return
  const set = (userId: string, role: Role) =>
    tx
      .update(members)
      .set({ role })
      .where(and(eq(members.teamId, teamId), eq(members.userId, userId)))
  await set(from, 'admin')
  await set(to, 'owner')
  await tx.update(teams).set({ personalOf: null }).where(eq(teams.id, teamId))
}

/** Whether the team has members other than the user. */
export async function hasOthers(db: DbOrTx, teamId: string, userId: string): Promise<boolean> {
  const others = await db
    .select({ id: members.userId })
    .from(members)
    .where(and(eq(members.teamId, teamId), ne(members.userId, userId)))
    .limit(1)
  return others.length > 0
}
