// The installation's signing keys. Private halves come and go sealed; nothing here can open them.
import { and, asc, eq, gt, isNull, ne, sql } from 'drizzle-orm'
import type { DbOrTx } from './client.js'
import { signingKeys } from './tables/audit.js'

export type SigningKeyRow = typeof signingKeys.$inferSelect
export type NewSigningKey = Omit<SigningKeyRow, 'createdAt' | 'retiredAt'>

/** One transaction at a time makes or retires a key. */
export async function lockSigningKeys(tx: DbOrTx): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('signing_keys', 0))`)
}

/** Which key signs now; `null` before there is any. */
export async function currentSigningKeyId(db: DbOrTx): Promise<string | null> {
  const [row] = await db
    .select({ keyId: signingKeys.keyId })
    .from(signingKeys)
    .where(isNull(signingKeys.retiredAt))
    .orderBy(asc(signingKeys.createdAt))
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

/** Keys that are sealed with another key of the ring, in the order of their ids, after one of them. */
export async function signingKeysNotUnder(
  db: DbOrTx,
  ringKeyId: string,
  page: { after: string; limit: number }
): Promise<Pick<SigningKeyRow, 'keyId' | 'ringKeyId' | 'wrappedKey'>[]> {
  return db
    .select({ keyId: signingKeys.keyId, ringKeyId: signingKeys.ringKeyId, wrappedKey: signingKeys.wrappedKey })
    .from(signingKeys)
    .where(and(ne(signingKeys.ringKeyId, ringKeyId), gt(signingKeys.keyId, page.after)))
    .orderBy(asc(signingKeys.keyId))
    .limit(page.limit)
}

/** As `rewrapRow` of the other sealed values. */
export async function rewrapSigningKey(
  db: DbOrTx,
  read: { keyId: string; wrappedKey: Buffer },
  next: { ringKeyId: string; wrappedKey: Buffer }
): Promise<boolean> {
  const rows = await db
    .update(signingKeys)
    .set({ ringKeyId: next.ringKeyId, wrappedKey: next.wrappedKey })
    .where(and(eq(signingKeys.keyId, read.keyId), eq(signingKeys.wrappedKey, read.wrappedKey)))
    .returning({ keyId: signingKeys.keyId })
  return rows.length > 0
}
