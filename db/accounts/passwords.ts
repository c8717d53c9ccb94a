// Passwords: changed with the current one, or reset by mail to the account's address.
import { and, eq, gt, isNull, ne, sql } from 'drizzle-orm'
import type { Db, DbOrTx, Tx } from '../client.js'
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
  await tx
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(
      and(eq(sessions.userId, userId), isNull(sessions.revokedAt), keep === null ? undefined : ne(sessions.id, keep))
    )
}

/** @returns the token for the mailed link and its expiry; `null` when no account has the address. */
export async function beginPasswordReset(
  db: DbOrTx,
  email: string
): Promise<{ token: string; email: string; expiresAt: Date } | null> {
  const [user] = await db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(eq(sql`lower(${users.email})`, email.toLowerCase()))
  if (!user) return null
  const token = newToken()
  const [row] = await db
    .insert(passwordResets)
    .values({ tokenHash: hashToken(token), userId: user.id, expiresAt: sql`now() + ${RESET_LIFETIME}` })
    .returning({ expiresAt: passwordResets.expiresAt })
  return { token, email: user.email, expiresAt: row!.expiresAt }
}

/** Whether the token can be used now. */
export async function isResetLive(db: DbOrTx, token: string): Promise<boolean> {
  const rows = await db.select({ userId: passwordResets.userId }).from(passwordResets).where(isLive(token))
  return rows.length > 0
}

/**
 * Sets the password of the account that the token was mailed to. The token works once. All other tokens and all
 * sessions of the account become invalid.
 * @returns the user's id; `null` for an invalid token.
 */
export async function resetPassword(db: Db, token: string, passwordHash: string): Promise<string | null> {
  return db.transaction(async (tx) => {
    const [used] = await tx
      .update(passwordResets)
      .set({ usedAt: sql`now()` })
      .where(isLive(token))
      .returning({ userId: passwordResets.userId })
    if (!used) return null
    await tx
      .update(passwordResets)
      .set({ usedAt: sql`now()` })
      .where(and(eq(passwordResets.userId, used.userId), isNull(passwordResets.usedAt)))
    await tx
      .update(users)
      .set({ emailVerifiedAt: sql`coalesce(${users.emailVerifiedAt}, now())` })
      .where(eq(users.id, used.userId))
    await setPassword(tx, used.userId, passwordHash, null)
    return used.userId
  })
}

const isLive = (token: string) =>
  and(
    eq(passwordResets.tokenHash, hashToken(token)),
    isNull(passwordResets.usedAt),
    gt(passwordResets.expiresAt, sql`now()`)
  )
