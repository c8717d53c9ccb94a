// Answers to writes that carried an Idempotency-Key. A key's row is the first thing that the transaction of its write
// inserts, and holds the answer before the commit: a duplicate waits on the primary key, and a process that is killed
// leaves nothing behind.
import { and, eq, sql } from 'drizzle-orm'
import { type DbOrTx, postgresCode, type Tx } from '../client.js'
import { members } from '../tables/accounts.js'
import { idempotencyKeys } from '../tables/operations.js'

/** A write as its key names it. */
export interface KeyedWrite {
  /** Whose key it is: `user:<id>` or `key:<id>`. Keys of others are others. */
  principal: string
  key: string
  method: string
  /** With its query. */
  path: string
  /** Of the body's bytes, in hex. */
  bodySha256: string
}

export interface StoredResponse extends Pick<KeyedWrite, 'method' | 'path' | 'bodySha256'> {
  status: number
  /** JSON text; '' for an answer without a body. */
  body: string
  /** Whether the write was about a team to which the user does not belong any more. */
  teamLeft: boolean
}

/** The answer that is kept under a key, or `null`. @param userId of whoever asks. */
export async function findStoredResponse(
  db: DbOrTx,
  { principal, key }: Pick<KeyedWrite, 'principal' | 'key'>,
  userId: string
): Promise<StoredResponse | null> {
  const { method, path, bodySha256, status, body, teamId } = idempotencyKeys
  const teamLeft = sql<boolean>`${teamId} is not null and ${members.userId} is null`
  const [row] = await db
    .select({ method, path, bodySha256, status, body, teamLeft })
    .from(idempotencyKeys)
    .leftJoin(members, and(eq(members.teamId, teamId), eq(members.userId, userId)))
    .where(and(eq(idempotencyKeys.principal, principal), eq(idempotencyKeys.key, key)))
  return row ?? null
}

/** Cancelled for its statement's time, or for that of a lock. */
const waitedTooLong = new Set(['57014', '55P03'])

/**
 * Takes a key for this transaction; its first statement. `taken`: an answer is kept under it. `held`: another transaction
 * had the key for all of `patienceMs`; this one is aborted then.
 */
export async function claimKey(tx: Tx, write: KeyedWrite, patienceMs: number): Promise<'mine' | 'taken' | 'held'> {
  const { principal, key, method, path, bodySha256 } = write
  // One statement sets the limit, waits, and lifts the limit for what follows: its row passes the three in this order.
  const claim = sql`
    with patience as materialized (select set_config('lock_timeout', ${`${Math.ceil(patienceMs)}ms`}, true))
    insert into ${idempotencyKeys} (principal, key, method, path, body_sha256, status, body)
    select ${principal}, ${key}, ${method}, ${path}, ${bodySha256}, 0, '' from patience
    on conflict do nothing
    returning set_config('lock_timeout', '0', true)`
  try {
    return (await tx.execute(claim)).length > 0 ? 'mine' : 'taken'
  } catch (error) {
    if (waitedTooLong.has(postgresCode(error) ?? '')) return 'held'
    throw error
  }
}

/**
 * Keeps the answer of a write under the key that its transaction has claimed; its last statement.
 * @param teamId the team that the write was about. It is forgotten when the write itself has ended the user's membership:
 * whoever leaves a team twice hears twice that they have left.
 */
export async function storeResponse(
  tx: Tx,
  { principal, key }: KeyedWrite,
  answer: { status: number; body: string; teamId: string | null; userId: string }
): Promise<void> {
  const { status, body, teamId, userId } = answer
  const team = sql`(select ${members.teamId} from ${members} where ${members.teamId} = ${teamId} and ${members.userId} = ${userId})`
  await tx
    .update(idempotencyKeys)
    .set({ status, body, teamId: teamId === null ? null : team })
    .where(and(eq(idempotencyKeys.principal, principal), eq(idempotencyKeys.key, key)))
}
