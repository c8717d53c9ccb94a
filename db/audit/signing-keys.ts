// The installation's signing keys. Private halves are passed sealed; this file cannot open them.
import { and, asc, desc, eq, isNull, ne, sql } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'
import { signingKeys } from '../tables/audit.js'

export type SigningKeyRow = typeof signingKeys.$inferSelect
export type NewSigningKey = Omit<SigningKeyRow, 'createdAt' | 'retiredAt'>

/** Serialises the transactions that create or retire a key. */
export async function lockSigningKeys(tx: DbOrTx): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('signing_keys', 0))`)
}

/**
 * The id of the key that signs now: the newest that is not retired, so a key whose retirement was undone signs nothing.
 * `null` before there is any.
 */
export async function currentSigningKeyId(db: DbOrTx): Promise<string | null> {
  const [row] = await db
    .select({ keyId: signingKeys.keyId })
    .from(signingKeys)
    .where(isNull(signingKeys.retiredAt))
    .orderBy(desc(signingKeys.createdAt), desc(signingKeys.keyId))
    .limit(1)
  return row?.keyId ?? null
}

export async function findSigningKey(db: DbOrTx, keyId: string): Promise<SigningKeyRow | null> {
  const [row] = await db.select().from(signingKeys).where(eq(signingKeys.keyId, keyId))
  return row ?? null
}

/** All keys, the oldest first. */
export async function listSigningKeys(db: DbOrTx): Promise<SigningKeyRow[]> {
  return db.select().from(signingKeys).orderBy(asc(signingKeys.createdAt), asc(signingKeys.keyId))
}

/** Makes this the signing key. Must run under `lockSigningKeys`. Existing signatures of the other keys stay valid. */
export async function putSigningKey(tx: DbOrTx, key: NewSigningKey): Promise<void> {
  await tx.insert(signingKeys).values(key)
  await tx
    .update(signingKeys)
    .set({ retiredAt: sql`now()` })
    .where(and(isNull(signingKeys.retiredAt), ne(signingKeys.keyId, key.keyId)))
}
