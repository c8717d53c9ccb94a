// The teams of a caller, with the caller's role in each.
import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { Role } from '../../domain/teams/role.js'
import type { DbOrTx } from '../client.js'
import { members, teams } from '../tables/accounts.js'

export interface Membership {
  id: string
  name: string
  role: Role
  suspended: boolean
  /** As the platform administrator wrote it; `null` while the team is not suspended. */
  suspended_reason: string | null
}

/** The caller of a query. An API key sees and changes only its own team, and is at most a member. */
export interface Caller {
  userId: string
  email: string
  /** The API key of the request, and its team; `null` for a session. */
  key: { id: string; teamId: string } | null
}

/** A caller's teams, in the order of joining. */
export async function teamsOf(db: DbOrTx, caller: Caller): Promise<Membership[]> {
  return db
    .select({
      id: teams.id,
      name: teams.name,
      role: caller.key ? sql<Role>`'member'` : members.role,
      suspended: sql<boolean>`${teams.suspendedAt} is not null`,
      suspended_reason: teams.suspendedReason
    })
    .from(members)
    .innerJoin(teams, eq(teams.id, members.teamId))
    .where(membershipsOf(caller))
    .orderBy(asc(members.joinedAt), asc(teams.id))
}

/** The ids of the caller's teams, as a query. */
export const teamIdsOf = (db: DbOrTx, caller: Caller) =>
  db.select({ id: members.teamId }).from(members).where(membershipsOf(caller))

/** The rows of `members` that give a caller access. */
export const membershipsOf = (caller: Caller): SQL =>
  and(eq(members.userId, caller.userId), caller.key ? eq(members.teamId, caller.key.teamId) : undefined)!
