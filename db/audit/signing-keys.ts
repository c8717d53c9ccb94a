// The installation's signing keys. Private halves come and go sealed; nothing here can open them.
import { and, asc, desc, eq, isNull, ne, sql } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'
import { signingKeys } from '../tables/audit.js'

export type SigningKeyRow = typeof signingKeys.$inferSelect
export type NewSigningKey = Omit<SigningKeyRow, 'createdAt' | 'retiredAt'>

/** One transaction at a time makes or retires a key. */
export async function lockSigningKeys(tx: DbOrTx): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('signing_keys', 0))`)
}

/** Which key signs now, the newest that is not retired: one whose retirement was undone signs nothing. `null` before there is any. */
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

/** All there ever were, the oldest first. */
export async function listSigningKeys(db: DbOrTx): Promise<SigningKeyRow[]> {
  return db.select().from(signingKeys).orderBy(asc(signingKeys.createdAt), asc(signingKeys.keyId))
}

/** Makes this the key that signs; call it under `lockSigningKeys`. What the others have signed stays valid. */
export async function putSigningKey(tx: DbOrTx, key: NewSigningKey): Promise<void> {
  await tx.insert(signingKeys).values(key)
  await tx
    .update(signingKeys)
    .set({ retiredAt: sql`now()` })
    .where(and(isNull(signingKeys.retiredAt), ne(signingKeys.keyId, key.keyId)))
}
