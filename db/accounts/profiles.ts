// Profiles of users.
import { and, eq, sql } from 'drizzle-orm'
import { validationError } from '../../domain/errors.js'
import { type DbOrTx, postgresCode } from '../client.js'
import { users } from '../tables/accounts.js'

const columns = {
  username: users.username,
  displayName: users.displayName,
  bio: users.bio,
  avatarUrl: users.avatarUrl,
  website: users.website,
  location: users.location,
  githubUsername: users.githubUsername,
  twitterUsername: users.twitterUsername,
  linkedinUrl: users.linkedinUrl,
  isPublic: users.isPublic
}

const query = (db: DbOrTx) => db.select(columns).from(users)
export type Profile = Awaited<ReturnType<typeof query>>[number]

export async function findProfile(db: DbOrTx, userId: string): Promise<Profile | null> {
  const [profile] = await query(db).where(eq(users.id, userId))
  return profile ?? null
}

/** By username in any case; `null` when there is none, or the profile is not public. */
export async function findPublicProfile(db: DbOrTx, username: string): Promise<Profile | null> {
  const [profile] = await query(db).where(
    and(eq(sql`lower(${users.username})`, username.toLowerCase()), eq(users.isPublic, true))
  )
  return profile ?? null
}

/** @throws ServiceError `validation_error` when another user has the username. */
export async function changeProfile(db: DbOrTx, userId: string, change: Partial<Profile>): Promise<Profile | null> {
  if (Object.keys(change).length === 0) return findProfile(db, userId)
  try {
    const [profile] = await db.update(users).set(change).where(eq(users.id, userId)).returning(columns)
    return profile ?? null
  } catch (error) {
    if (postgresCode(error) !== '23505') throw error
    throw validationError('username: is taken')
  }
}
