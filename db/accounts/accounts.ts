// Users, their sessions, and the access codes for sign-up.
import { randomBytes } from 'node:crypto'
import { and, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { isReservedUsername } from '../../domain/accounts/username.js'
import { validationError } from '../../domain/errors.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { newId } from '../ids.js'
import { type Places, query } from '../statement.js'
import { accessCodes, sessions, teams, users } from '../tables/accounts.js'
import { hashToken, newToken } from '../tokens.js'

export interface User {
  id: string
  email: string
  username: string
  displayName: string | null
  isPlatformAdmin: boolean
  createdAt: Date
}

export const userColumns = {
  id: users.id,
  email: users.email,
  username: users.username,
  displayName: users.displayName,
  isPlatformAdmin: users.isPlatformAdmin,
  createdAt: users.createdAt
}

/** A session expires after a week without use, and at the latest after a month. */
const SESSION_IDLE = sql`interval '7 days'`
const SESSION_ABSOLUTE = sql`interval '30 days'`
const isLive = and(
  isNull(sessions.revokedAt),
  gt(sessions.lastSeenAt, sql`now() - ${SESSION_IDLE}`),
  gt(sessions.createdAt, sql`now() - ${SESSION_ABSOLUTE}`)
)

const isStale = sql<boolean>`${sessions.lastSeenAt} < now() - interval '1 minute'`

/**
 * Creates an account and spends one use of the code, both or neither, so that two people cannot take the last use.
 * @param account.code `null` when none is required.
 * @param also creates what belongs to the account, in the same transaction.
 * @throws ServiceError `validation_error`. The message for an address that is taken does not reveal that it is.
 */
export async function signUp(
  db: Db,
  account: NewUser & { code: string | null },
  also: (tx: Tx, user: User) => Promise<void> = async () => {}
): Promise<User> {
  return db.transaction(async (tx) => {
    if (account.code !== null && !(await spendAccessCode(tx, account.code)))
      throw validationError('code: is not valid, has expired or is used up')
    const user = await insertUser(tx, account)
    await also(tx, user)
    return user
  })
}

export interface NewUser {
  email: string
  /** `null` for users who sign in only through an identity provider. */
  passwordHash: string | null
  displayName: string | null
}

const addressTaken = () => validationError('email: cannot be used for a new account; sign in instead if it is yours')

async function insertUser(tx: Tx, account: NewUser): Promise<User> {
  const base = usernameBase(account.email)
  for (let tries = 0; tries < 10; tries++) {
    const username = tries === 0 ? base : `${base.slice(0, 24)}-${randomBytes(3).toString('hex').slice(0, 5)}`
    const [row] = await tx
      .insert(users)
      .values({
        id: newId(),
        email: account.email,
        username,
        displayName: account.displayName,
        passwordHash: account.passwordHash
      })
      .onConflictDoNothing()
      .returning(userColumns)
    if (row) return row
    // Either the username or the address was taken. Only the username can be tried again.
    const [other] = await tx
      .select({ id: users.id })
      .from(users)
      .where(eq(sql`lower(${users.email})`, account.email.toLowerCase()))
    if (other) throw addressTaken()
  }
  throw new Error('no free username in ten tries')
}

/** A username of 3-30 letters, digits, hyphens and underscores, from the part of the address before the @. */
function usernameBase(email: string): string {
  const cleaned = email
    .split('@')[0]!
    .replace(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 30)
  return cleaned.length >= 3 && !isReservedUsername(cleaned) ? cleaned : `user-${cleaned.slice(0, 25)}`
}

export async function findPasswordHash(
  db: DbOrTx,
  email: string
): Promise<{ user: User; passwordHash: string | null } | null> {
  const [row] = await db
    .select({ ...userColumns, passwordHash: users.passwordHash })
    .from(users)
    .where(eq(sql`lower(${users.email})`, email.toLowerCase()))
  if (!row) return null
  const { passwordHash, ...user } = row
  return { user, passwordHash }
}

/** Whether an account has proved that it receives mail at the address. */
export async function isAddressProved(db: DbOrTx, email: string): Promise<boolean> {
  const [row] = await db
    .select({ provedAt: users.emailVerifiedAt })
    .from(users)
    .where(eq(sql`lower(${users.email})`, email.toLowerCase()))
  return row?.provedAt != null
}

/** Opens a session. Its owner gets the token; the row stores its SHA-256. */
export async function openSession(db: DbOrTx, userId: string, userAgent: string | null): Promise<string> {
  const token = newToken()
  await db
    .insert(sessions)
    .values({ id: newId(), userId, tokenHash: hashToken(token), userAgent: userAgent?.slice(0, 300) ?? null })
  return token
}

/** The valid session of a token. The last use is recorded at most once a minute, and outside the request. */
export async function findSession(
  db: DbOrTx,
  token: string
): Promise<{ sessionId: string; user: User; personalTeamId: string | null; stale: boolean } | null> {
  const [row] = await liveSession(db, { tokenHash: hashToken(token) })
  return row ?? null
}

const liveSession = query(({ tokenHash }: Places<{ tokenHash: Buffer }>, on) =>
  on
    .select({
      sessionId: sessions.id,
      user: userColumns,
      personalTeamId: sql<string | null>`(select ${teams.id} from ${teams} where ${teams.personalOf} = ${users.id})`,
      stale: isStale
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.tokenHash, tokenHash), isLive))
)

export async function touchSession(db: DbOrTx, sessionId: string): Promise<void> {
  await db.update(sessions).set({ lastSeenAt: sql`now()` }).where(eq(sessions.id, sessionId))
}

export interface SessionTimes {
  id: string
  /** When it ends, however much it is used. */
  expiresAt: Date
  /** When it ends without another request. */
  idleUntil: Date
}

/** Of a session that a request came with, which counts as a use of it. */
export async function sessionTimes(db: DbOrTx, sessionId: string): Promise<SessionTimes> {
  const [row] = await db
    .select({
      id: sessions.id,
      expiresAt: sql<Date>`${sessions.createdAt} + ${SESSION_ABSOLUTE}`.mapWith(sessions.createdAt),
      // The last use is recorded once a minute.
      idleUntil: sql<Date>`case when ${isStale} then now() else ${sessions.lastSeenAt} end + ${SESSION_IDLE}`.mapWith(
        sessions.lastSeenAt
      )
    })
    .from(sessions)
    .where(eq(sessions.id, sessionId))
  return row!
}

/** Revokes a session of the user. Returns `false` when it is another user's, or has expired. */
export async function revokeSession(db: DbOrTx, userId: string, sessionId: string): Promise<boolean> {
  const revoked = await db
    .update(sessions)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(sessions.id, sessionId), eq(sessions.userId, userId), isNull(sessions.revokedAt)))
    .returning({ id: sessions.id })
  return revoked.length > 0
}

const SESSIONS_SHOWN = 100

export interface SessionItem {
  id: string
  userAgent: string | null
  createdAt: Date
  lastSeenAt: Date
}

/** A user's valid sessions, newest first. */
export async function listSessions(db: DbOrTx, userId: string): Promise<SessionItem[]> {
  return db
    .select({
      id: sessions.id,
      userAgent: sessions.userAgent,
      createdAt: sessions.createdAt,
      lastSeenAt: sessions.lastSeenAt
    })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), isLive))
    .orderBy(desc(sessions.id))
    .limit(SESSIONS_SHOWN)
}

const codeIsLive = (code: string) =>
  and(
    eq(accessCodes.code, code),
    gt(accessCodes.remainingUses, 0),
    or(isNull(accessCodes.expiresAt), gt(accessCodes.expiresAt, sql`now()`))
  )

/** The remaining uses of a code; 0 for unknown, expired and used-up codes alike. Spends nothing. */
export async function remainingUses(db: DbOrTx, code: string): Promise<number> {
  const [row] = await db.select({ remaining: accessCodes.remainingUses }).from(accessCodes).where(codeIsLive(code))
  return row?.remaining ?? 0
}

async function spendAccessCode(tx: Tx, code: string): Promise<boolean> {
  const spent = await tx
    .update(accessCodes)
    .set({ remainingUses: sql`${accessCodes.remainingUses} - 1` })
    .where(codeIsLive(code))
    .returning({ code: accessCodes.code })
  return spent.length > 0
}

/** Creates an access code. @returns the given code, or a new random one. */
export async function createAccessCode(
  db: DbOrTx,
  options: { code?: string; uses: number; expiresAt?: Date }
): Promise<string> {
  const code = options.code ?? randomBytes(9).toString('base64url')
  await db.insert(accessCodes).values({ code, remainingUses: options.uses, expiresAt: options.expiresAt ?? null })
  return code
}

/** Makes a user a platform administrator. Returns `false` when no account has that address. */
export async function grantPlatformAdmin(db: DbOrTx, email: string): Promise<boolean> {
  const granted = await db
    .update(users)
    .set({ isPlatformAdmin: true })
    .where(eq(sql`lower(${users.email})`, email.toLowerCase()))
    .returning({ id: users.id })
  return granted.length > 0
}
