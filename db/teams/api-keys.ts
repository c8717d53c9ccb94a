// API keys. The key is shown to its owner once; the row stores its SHA-256.
import { and, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { MicroUsd } from '../../domain/money/money.js'
import { KEY_PREFIX_LENGTH, type KeyKind, type KeyTier, keyPrefix, keyShape } from '../../domain/teams/api-key.js'
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
  /** `null` when only the team's limits apply. */
  dailyLimit: MicroUsd | null
}

/**
 * The valid key of a token and the user that it acts as, who must still be a member of the team. The last use is
 * recorded at most once a minute, and outside the request.
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

/** @returns the row, and the key itself, which cannot be recovered later. */
export async function createApiKey(db: DbOrTx, given: NewApiKey): Promise<{ row: ApiKeyRow; key: string }> {
  const key = `${keyPrefix(given.kind)}${newToken()}`
  const [row] = await db
    .insert(apiKeys)
    .values({ id: newId(), ...given, prefix: key.slice(0, KEY_PREFIX_LENGTH), tokenHash: hashToken(key) })
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

/** A team's keys that were not revoked, newest first. */
export async function listApiKeys(db: DbOrTx, teamId: string): Promise<ApiKeyRow[]> {
  return db
    .select(shownColumns)
    .from(apiKeys)
    .where(and(eq(apiKeys.teamId, teamId), isNull(apiKeys.revokedAt)))
    .orderBy(desc(apiKeys.id))
    .limit(API_KEYS_MAX)
}

/** The team of a key that was not revoked. */
export async function teamOfApiKey(db: DbOrTx, keyId: string): Promise<string | null> {
  const [row] = await db
    .select({ teamId: apiKeys.teamId })
    .from(apiKeys)
    .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt)))
  return row?.teamId ?? null
}

/** Revokes a key at once. Returns `false` when it was revoked before. */
export async function revokeApiKey(db: DbOrTx, keyId: string): Promise<boolean> {
  const revoked = await db
    .update(apiKeys)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id })
  return revoked.length > 0
}
