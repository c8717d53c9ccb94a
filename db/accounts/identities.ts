// Who somebody is at a provider of identities, and whose account that opens.
import { and, eq, gt, isNotNull, or, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { identities, users } from '../tables/accounts.js'
import { signUp, type User, userColumns } from './accounts.js'

/** A person as the provider tells of them; issuer and subject together name the same person for ever. */
export interface ProvidedIdentity {
  issuer: string
  subject: string
  email: string | null
  /** The provider says that mail to the address reaches this person. */
  emailVerified: boolean
  displayName: string | null
}

type Named = Pick<ProvidedIdentity, 'issuer' | 'subject'>
type WithEmail = ProvidedIdentity & { email: string }

const isNamed = ({ issuer, subject }: Named) => and(eq(identities.issuer, issuer), eq(identities.subject, subject))

/**
 * An account that was made with an address that nobody had proved belongs to whoever proves it later, by the mail that
 * resets a password. From then on it no longer opens to the identity that made it: that may be somebody else's, who only
 * claimed the address.
 */
const isOvertaken = and(isNotNull(users.passwordHash), gt(users.emailVerifiedAt, identities.createdAt))

/** Whose account the identity opens; `null` for one that opens none. */
export async function findIdentityOwner(db: DbOrTx, identity: Named): Promise<User | null> {
  const [row] = await db
    .select(userColumns)
    .from(identities)
    .innerJoin(users, eq(users.id, identities.userId))
    // Without a proof of the address the comparison is null.
    .where(and(isNamed(identity), sql`(${isOvertaken}) is not true`))
  return row ?? null
}

/**
 * Lets the identity open the account that has its e-mail address. Both sides must have proved the address, or anybody could
 * take an account by claiming its address at a provider, or lie in wait with an account for the address of somebody else.
 * @returns the account's user, `null` when no account has the address.
 * @throws ServiceError `permission_denied` when one has, but a proof is missing.
 */
export async function linkIdentity(db: Db, identity: WithEmail): Promise<User | null> {
  return db.transaction(async (tx) => {
    const [found] = await tx
      .select({ user: userColumns, emailVerifiedAt: users.emailVerifiedAt })
      .from(users)
      .where(eq(sql`lower(${users.email})`, identity.email.toLowerCase()))
      .for('share')
    if (!found) return null
    if (!identity.emailVerified)
      throw new ServiceError(
        'permission_denied',
        'An account with your e-mail address exists, and the provider of identities does not say that the address is yours (email_verified): sign in with the password'
      )
    if (found.emailVerifiedAt === null)
      throw new ServiceError(
        'permission_denied',
        'An account with your e-mail address exists, but the address was never verified here: sign in with the password. To sign in this way later, reset the password once (POST /api/auth/forgot-password): the link in the mail verifies the address'
      )
    await attach(tx, identity, found.user.id)
    return found.user
  })
}

/**
 * Makes an account that this identity opens, without a password, and spends one use of the code: both or neither.
 * @param code `null` where none is needed. @throws ServiceError as `signUp` does.
 */
export async function signUpWithIdentity(db: Db, identity: WithEmail, code: string | null): Promise<User> {
  const { email, displayName, emailVerified } = identity
  return signUp(db, { email, displayName, passwordHash: null, code }, async (tx, user) => {
    if (emailVerified) await tx.update(users).set({ emailVerifiedAt: sql`now()` }).where(eq(users.id, user.id))
    await attach(tx, identity, user.id)
  })
}

/** Takes an identity over only from an account that it does not open any more. */
async function attach(tx: Tx, { issuer, subject }: Named, userId: string): Promise<void> {
  const overtaken = tx
    .select({ one: sql`1` })
    .from(users)
    .where(and(eq(users.id, identities.userId), isOvertaken))
  const attached = await tx
    .insert(identities)
    .values({ issuer, subject, userId })
    .onConflictDoUpdate({
      target: [identities.issuer, identities.subject],
      set: { userId, createdAt: sql`now()` },
      setWhere: or(eq(identities.userId, userId), sql`exists (${overtaken})`)!
    })
    .returning({ userId: identities.userId })
  if (attached.length === 0)
    throw new ServiceError('conflict', 'You were signed in by another request at the same moment; sign in again')
}
