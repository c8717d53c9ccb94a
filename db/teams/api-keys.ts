// Keys of programs. The key itself goes to its owner once; the row holds its SHA-256.
import { and, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { MicroUsd } from '../../domain/money/money.js'
import { type KeyKind, type KeyTier, keyPrefix, keyShape, SHOWN_CHARACTERS } from '../../domain/teams/api-key.js'
import { API_KEYS_MAX } from '../../domain/teams/team-limits.js'
import { type User, userColumns } from '../accounts/accounts.js'
import type { DbOrTx } from '../client.js'
import { newId } from '../ids.js'
import { members, users } from '../tables/accounts.js'
import { apiKeys } from '../tables/teams.js'
import { hashToken, newToken } from '../tokens.js'

export interface ApiKey {
  id: string
  teamId: string
  tier: KeyTier
  kind: KeyKind
  /** `null`: only the team's limits hold. */
  dailyLimit: MicroUsd | null
}

/**
 * The live key behind a token and the user it acts as, who must still belong to the team. Its last use is noted at most
 * once a minute, outside the answer's way.
 */
export async function findApiKey(
  db: DbOrTx,
  token: string
): Promise<{ key: ApiKey; user: User; stale: boolean } | null> {
  if (!keyShape.test(token)) return null
  const [row] = await db
    .select({
      key: {
        id: apiKeys.id,
        teamId: apiKeys.teamId,
        tier: apiKeys.tier,
        kind: apiKeys.kind,
        dailyLimit: apiKeys.dailyLimit
      },
      user: userColumns,
      stale: sql<boolean>`${apiKeys.lastUsedAt} is null or ${apiKeys.lastUsedAt} < now() - interval '1 minute'`
    })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.createdBy))
    .innerJoin(members, and(eq(members.teamId, apiKeys.teamId), eq(members.userId, apiKeys.createdBy)))
    .where(
      and(
        eq(apiKeys.tokenHash, hashToken(token)),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`))
      )
    )
  return row ?? null
}

export async function touchApiKey(db: DbOrTx, keyId: string): Promise<void> {
  await db.update(apiKeys).set({ lastUsedAt: sql`now()` }).where(eq(apiKeys.id, keyId))
}

export interface NewApiKey {
  teamId: string
  createdBy: string
  name: string
  tier: KeyTier
  kind: KeyKind
  dailyLimit: MicroUsd | null
  expiresAt: Date | null
}

/** @returns the row, and the key itself, which nobody can tell again. */
export async function createApiKey(db: DbOrTx, given: NewApiKey): Promise<{ row: ApiKeyRow; key: string }> {
  const key = `${keyPrefix(given.kind)}${newToken()}`
  const [row] = await db
    .insert(apiKeys)
    .values({ id: newId(), ...given, prefix: key.slice(0, SHOWN_CHARACTERS), tokenHash: hashToken(key) })
    .returning(shownColumns)
  return { row: row!, key }
}

const shownColumns = {
  id: apiKeys.id,
  teamId: apiKeys.teamId,
  name: apiKeys.name,
  prefix: apiKeys.prefix,
  tier: apiKeys.tier,
  kind: apiKeys.kind,
  dailyLimit: apiKeys.dailyLimit,
  createdBy: apiKeys.createdBy,
  expiresAt: apiKeys.expiresAt,
  lastUsedAt: apiKeys.lastUsedAt,
  createdAt: apiKeys.createdAt
}

export type ApiKeyRow = { [name in keyof typeof shownColumns]: (typeof apiKeys.$inferSelect)[name] }

/** A team's keys that have not been revoked, newest first. */
export async function listApiKeys(db: DbOrTx, teamId: string): Promise<ApiKeyRow[]> {
  return db
    .select(shownColumns)
    .from(apiKeys)
    .where(and(eq(apiKeys.teamId, teamId), isNull(apiKeys.revokedAt)))
    .orderBy(desc(apiKeys.id))
    .limit(API_KEYS_MAX)
}

/** The team of a key that has not been revoked. */
export async function teamOfApiKey(db: DbOrTx, keyId: string): Promise<string | null> {
  const [row] = await db
    .select({ teamId: apiKeys.teamId })
    .from(apiKeys)
    .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt)))
  return row?.teamId ?? null
}

/** Ends a key at once; `false` when it had ended before. */
export async function revokeApiKey(db: DbOrTx, keyId: string): Promise<boolean> {
  const revoked = await db
    .update(apiKeys)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id })
  return revoked.length > 0
}
