// Identities at identity providers, and the accounts that they open.
import { and, eq, gt, isNotNull, or, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { identities, users } from '../tables/accounts.js'
import { signUp, type User, userColumns } from './accounts.js'

/** A person as the identity provider describes them. Issuer and subject together always identify the same person. */
export interface ProvidedIdentity {
  issuer: string
  subject: string
  email: string | null
  /** Whether the provider confirms that the person receives mail at the address. */
  emailVerified: boolean
  displayName: string | null
}

type Named = Pick<ProvidedIdentity, 'issuer' | 'subject'>
type WithEmail = ProvidedIdentity & { email: string }

const isNamed = ({ issuer, subject }: Named) => and(eq(identities.issuer, issuer), eq(identities.subject, subject))

/**
 * An account created with an unproved address passes to the person who later proves the address by a password reset.
 * From then on it no longer opens to the identity that created it, which may belong to someone who only claimed the
 * address.
 */
const isSuperseded = and(isNotNull(users.passwordHash), gt(users.emailVerifiedAt, identities.createdAt))

/** The user whose account the identity opens; `null` when it opens none. */
export async function findIdentityOwner(db: DbOrTx, identity: Named): Promise<User | null> {
  const [row] = await db
    .select(userColumns)
    .from(identities)
    .innerJoin(users, eq(users.id, identities.userId))
    // The comparison is null while the address is unproved.
    .where(and(isNamed(identity), sql`(${isSuperseded}) is not true`))
  return row ?? null
}

/**
 * Links the identity to the account with its email address. Both sides must have proved the address: otherwise anyone
 * could take over an account by claiming its address at a provider, or prepare an account for another person's address.
 * @returns the account's user; `null` when no account has the address.
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
        'An account with your e-mail address exists, and the identity provider does not confirm that the address is yours (email_verified): sign in with the password'
      )
    if (found.emailVerifiedAt === null)
      throw new ServiceError(
        'permission_denied',
        'An account with your e-mail address exists, but the address was never verified here: sign in with the password. To sign in this way later, reset the password once: the link in the mail verifies the address'
      )
    await attach(tx, identity, found.user.id)
    return found.user
  })
}

/**
 * Creates an account without a password that this identity opens, and spends one use of the code, both or neither.
 * @param code `null` when none is required.
 * @throws ServiceError as `signUp` does.
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
    .where(and(eq(users.id, identities.userId), isSuperseded))
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
