// Passwords: changed with the current one, or reset by mail to the account's address.
import { and, eq, gt, isNull, ne, sql } from 'drizzle-orm'
import type { DbOrTx, Tx } from '../client.js'
import { passwordResets, sessions, users } from '../tables/accounts.js'
import { hashToken, newToken } from '../tokens.js'

const RESET_LIFETIME = sql`interval '1 hour'`

export async function passwordHashOf(db: DbOrTx, userId: string): Promise<string | null> {
  const [row] = await db.select({ hash: users.passwordHash }).from(users).where(eq(users.id, userId))
  return row?.hash ?? null
}

/** Sets a password and revokes the user's sessions, except the one with the id `keep`. */
export async function setPassword(tx: Tx, userId: string, passwordHash: string, keep: string | null): Promise<void> {
  await tx.update(users).set({ passwordHash }).where(eq(users.id, userId))
  await revokeSessions(tx, userId, keep)
}

/**
 * @returns the token for the mailed link and its expiry, and whether the link would be the first proof of the address;
 * `null` when no account has the address.
 */
export async function beginPasswordReset(
  db: DbOrTx,
  email: string
): Promise<{ token: string; email: string; expiresAt: Date; firstProof: boolean } | null> {
  const [user] = await db
    .select({ id: users.id, email: users.email, provedAt: users.emailVerifiedAt })
    .from(users)
    .where(eq(sql`lower(${users.email})`, email.toLowerCase()))
  if (!user) return null
  const token = newToken()
  const [row] = await db
    .insert(passwordResets)
    .values({ tokenHash: hashToken(token), userId: user.id, expiresAt: sql`now() + ${RESET_LIFETIME}` })
    .returning({ expiresAt: passwordResets.expiresAt })
  return { token, email: user.email, expiresAt: row!.expiresAt, firstProof: user.provedAt === null }
}

/** Whether the token can be used now. */
export async function isResetLive(db: DbOrTx, token: string): Promise<boolean> {
  const rows = await db.select({ userId: passwordResets.userId }).from(passwordResets).where(isLive(token))
  return rows.length > 0
}

/**
 * Sets the password of the account that the token was mailed to. The token works once. All other tokens and all
 * sessions of the account become invalid.
 * @returns the user's id, and whether this is the first proof of the account's address: access that was given before
 * then has to end (db/deletion/former-access.ts). `null` for an invalid token.
 */
export async function resetPassword(
  tx: Tx,
  token: string,
  passwordHash: string
): Promise<{ userId: string; firstProof: boolean } | null> {
  const [used] = await tx
    .update(passwordResets)
    .set({ usedAt: sql`now()` })
    .where(isLive(token))
    .returning({ userId: passwordResets.userId })
  if (!used) return null
  const { userId } = used
  await tx
    .update(passwordResets)
    .set({ usedAt: sql`now()` })
    .where(and(eq(passwordResets.userId, userId), isNull(passwordResets.usedAt)))
  const firstProof = await proveAddress(tx, userId)
  await setPassword(tx, userId, passwordHash, null)
  return { userId, firstProof }
}

/** Records that the user receives mail at the account's address. @returns whether it was unproved until now. */
export async function proveAddress(tx: Tx, userId: string): Promise<boolean> {
  const proved = await tx
    .update(users)
    .set({ emailVerifiedAt: sql`now()` })
    .where(and(eq(users.id, userId), isNull(users.emailVerifiedAt)))
    .returning({ id: users.id })
  return proved.length > 0
}

/** Revokes the user's sessions, except the one with the id `keep`. */
export async function revokeSessions(tx: Tx, userId: string, keep: string | null): Promise<void> {
  await tx
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(
      and(eq(sessions.userId, userId), isNull(sessions.revokedAt), keep === null ? undefined : ne(sessions.id, keep))
    )
}

const isLive = (token: string) =>
  and(
    eq(passwordResets.tokenHash, hashToken(token)),
    isNull(passwordResets.usedAt),
    gt(passwordResets.expiresAt, sql`now()`)
  )
