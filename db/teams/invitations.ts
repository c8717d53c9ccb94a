// Invitations to a team. Only the recipient of the mail has the token of its link; the row stores its SHA-256.

import { and, desc, eq, gt, lte, sql } from 'drizzle-orm'
import { ServiceError, validationError } from '../../domain/errors.js'
import type { AssignableRole, InvitationState } from '../../domain/teams/role.js'
import { MEMBERS_MAX, PENDING_INVITATIONS_MAX } from '../../domain/teams/team-limits.js'
import { proveAddress } from '../accounts/passwords.js'
import { type DbOrTx, postgresCode, type Tx } from '../client.js'
import { newId } from '../ids.js'
import { members, teams, users } from '../tables/accounts.js'
import { invitations } from '../tables/teams.js'
import { hashToken, newToken } from '../tokens.js'
import { suspended } from './teams.js'

const LIFETIME = sql`interval '7 days'`

const columns = {
  id: invitations.id,
  teamId: invitations.teamId,
  email: invitations.email,
  role: invitations.role,
  message: invitations.message,
  // The time alone makes a pending invitation expired; no write is needed.
  status: sql<InvitationState>`case
    when ${invitations.status} = 'pending' and ${invitations.expiresAt} <= now() then 'expired' else ${invitations.status} end`,
  invitedBy: invitations.invitedBy,
  createdAt: invitations.createdAt,
  expiresAt: invitations.expiresAt
}

const query = (db: DbOrTx) => db.select(columns).from(invitations)
export type Invitation = Awaited<ReturnType<typeof query>>[number]

const isLive = and(eq(invitations.status, 'pending'), gt(invitations.expiresAt, sql`now()`))

/** A team's invitations that can still be accepted, newest first. */
export async function listInvitations(db: DbOrTx, teamId: string): Promise<Invitation[]> {
  return query(db)
    .where(and(eq(invitations.teamId, teamId), isLive))
    .orderBy(desc(invitations.id))
    .limit(PENDING_INVITATIONS_MAX)
}

/** The team of an invitation in any state. */
export async function teamOfInvitation(db: DbOrTx, id: string): Promise<string | null> {
  const [row] = await db.select({ teamId: invitations.teamId }).from(invitations).where(eq(invitations.id, id))
  return row?.teamId ?? null
}

/**
 * @returns the invitation, and the token for its link.
 * @throws ServiceError `validation_error` for the address of a member or of a pending invitation; `conflict`.
 */
export async function invite(
  tx: Tx,
  given: { teamId: string; email: string; role: AssignableRole; message: string | null; invitedBy: string }
): Promise<{ invitation: Invitation; token: string }> {
  const { teamId, email } = given
  const [member] = await tx
    .select({ id: users.id })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.teamId, teamId), sameAddress(users.email, email)))
  if (member) throw validationError('email: already belongs to a member of this team')
  const [{ pending } = { pending: 0 }] = await tx
    .select({ pending: sql<number>`count(*)::int` })
    .from(invitations)
    .where(and(eq(invitations.teamId, teamId), isLive))
  if (pending >= PENDING_INVITATIONS_MAX)
    throw new ServiceError(
      'conflict',
      `${PENDING_INVITATIONS_MAX} invitations are pending, which is the limit; cancel some first`
    )
  // Removes an expired invitation of the address, so that a new one can be inserted.
  await tx
    .update(invitations)
    .set({ status: 'cancelled' })
    .where(
      and(
        eq(invitations.teamId, teamId),
        sameAddress(invitations.email, email),
        eq(invitations.status, 'pending'),
        lte(invitations.expiresAt, sql`now()`)
      )
    )
  const token = newToken()
  try {
    const [invitation] = await tx
      .insert(invitations)
      .values({ id: newId(), ...given, ...freshLink(token), status: 'pending' })
      .returning(columns)
    return { invitation: invitation!, token }
  } catch (error) {
    if (postgresCode(error) !== '23505') throw error
    throw validationError('email: has a pending invitation already; resend it instead')
  }
}

/**
 * Creates a new link that is valid for seven days and invalidates the old one.
 * @returns `null` when the invitation was accepted or cancelled.
 */
export async function resendInvitation(tx: Tx, id: string): Promise<{ invitation: Invitation; token: string } | null> {
  const token = newToken()
  const [invitation] = await tx
    .update(invitations)
    .set(freshLink(token))
    .where(and(eq(invitations.id, id), eq(invitations.status, 'pending')))
    .returning(columns)
  return invitation ? { invitation, token } : null
}

/** `null` when it can no longer be accepted. */
export async function changeInvitedRole(tx: Tx, id: string, role: AssignableRole): Promise<Invitation | null> {
  const [invitation] = await tx
    .update(invitations)
    .set({ role })
    .where(and(eq(invitations.id, id), isLive))
    .returning(columns)
  return invitation ?? null
}

/** `false` when it was accepted or cancelled before. */
export async function cancelInvitation(tx: Tx, id: string): Promise<boolean> {
  const cancelled = await tx
    .update(invitations)
    .set({ status: 'cancelled' })
    .where(and(eq(invitations.id, id), eq(invitations.status, 'pending')))
    .returning({ id: invitations.id })
  return cancelled.length > 0
}

/** What the recipient of a link sees; `null` for an invalid link. */
export async function previewInvitation(
  db: DbOrTx,
  token: string
): Promise<{ teamId: string; teamName: string; role: AssignableRole; email: string; expiresAt: Date } | null> {
  const [row] = await db
    .select({
      teamId: teams.id,
      teamName: teams.name,
      role: invitations.role,
      email: invitations.email,
      expiresAt: invitations.expiresAt
    })
    .from(invitations)
    .innerJoin(teams, eq(teams.id, invitations.teamId))
    .where(and(eq(invitations.tokenHash, hashToken(token)), isLive))
  return row ?? null
}

/**
 * Makes the user a member with the invited role. Following the link proves that the user receives mail at the address.
 * A member keeps their role.
 * @returns the membership, and whether this is the first proof of the account's address: access that was given before
 * then has to end (db/deletion/former-access.ts).
 * @throws ServiceError `not_found` for an invalid link, `permission_denied` for another address than the invited one,
 * `team_suspended`, `conflict` when the team is full.
 */
export async function acceptInvitation(
  tx: Tx,
  token: string,
  user: { id: string; email: string }
): Promise<{ teamId: string; role: AssignableRole; firstProof: boolean }> {
  const [found] = await tx
    .select({ email: invitations.email, teamId: invitations.teamId })
    .from(invitations)
    .where(and(eq(invitations.tokenHash, hashToken(token)), isLive))
  if (!found) throw noSuchInvitation()
  if (found.email.toLowerCase() !== user.email.toLowerCase())
    throw new ServiceError('permission_denied', 'This invitation is for another e-mail address; sign in with that one')
  // The team is locked before the invitation, as everywhere.
  const [team] = await tx
    .select({ suspendedAt: teams.suspendedAt, suspendedReason: teams.suspendedReason })
    .from(teams)
    .where(eq(teams.id, found.teamId))
    .for('update')
  if (team?.suspendedAt) throw suspended(team.suspendedReason)
  const [accepted] = await tx
    .update(invitations)
    .set({ status: 'accepted' })
    .where(and(eq(invitations.tokenHash, hashToken(token)), isLive))
    .returning({ teamId: invitations.teamId, role: invitations.role })
  if (!accepted) throw noSuchInvitation()
  const [{ count } = { count: 0 }] = await tx
    .select({ count: sql<number>`count(*)::int` })
    .from(members)
    .where(eq(members.teamId, found.teamId))
  if (count >= MEMBERS_MAX)
    throw new ServiceError('conflict', `The team has ${MEMBERS_MAX} members, which is the limit`)
  await tx
    .insert(members)
    .values({ teamId: accepted.teamId, userId: user.id, role: accepted.role })
    .onConflictDoNothing()
  return { ...accepted, firstProof: await proveAddress(tx, user.id) }
}

export const noSuchInvitation = () =>
  new ServiceError('not_found', 'This invitation does not exist, has expired, or was accepted or cancelled')

const sameAddress = (column: typeof users.email | typeof invitations.email, email: string) =>
  eq(sql`lower(${column})`, email.toLowerCase())

const freshLink = (token: string) => ({ tokenHash: hashToken(token), expiresAt: sql`now() + ${LIFETIME}` })
