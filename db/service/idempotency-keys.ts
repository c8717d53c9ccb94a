// Responses to writes with an Idempotency-Key. The row of a key is the first thing that the transaction of its write
// inserts, and has the response before the commit. A duplicate waits on the primary key, and a killed process leaves
// nothing behind.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type DbOrTx, postgresCode, type Tx } from '../client.js'
import { type Given, insertFrom, type Places } from '../statement.js'
import { members } from '../tables/accounts.js'
import { idempotencyKeys } from '../tables/operations.js'

/** A write, as its key identifies it. */
export interface IdempotentWrite {
  /** The owner of the key: `user:<id>` or `key:<id>`. Equal keys of different owners are independent. */
  principal: string
  key: string
  method: string
  /** Includes the query string. */
  path: string
  /** Of the body's bytes, in hex. */
  bodySha256: string
}

export interface StoredResponse extends Pick<IdempotentWrite, 'method' | 'path' | 'bodySha256'> {
  status: number
  /** JSON text; '' for a response without a body. */
  body: string
  /** Whether the write concerned a team that the user has left since. */
  teamLeft: boolean
}

/** The response stored under a key, or `null`. @param userId the caller. */
export async function findStoredResponse(
  db: DbOrTx,
  { principal, key }: Pick<IdempotentWrite, 'principal' | 'key'>,
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

const LOCK_TIMEOUT = '55P03'
/** Cancelled by the statement timeout or the lock timeout. */
const waitedTooLong = new Set(['57014', LOCK_TIMEOUT])

/**
 * Claims a key for this transaction. Must be its first statement. `taken`: a response is stored under it. `held`:
 * another transaction had the key for all of `patienceMs`; this transaction is then aborted.
 */
export async function claimKey(tx: Tx, write: IdempotentWrite, patienceMs: number): Promise<'mine' | 'taken' | 'held'> {
  const { principal, key, method, path, bodySha256 } = write
  // One statement sets the time limit, waits, and lifts the limit again: its row passes the three parts in this order.
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

/** A key with the response that its write has if it is carried out. */
export interface KeyedAnswer extends IdempotentWrite {
  status: number
  /** JSON text. */
  body: string
  /** How long the statement waits for another transaction that has the key. */
  patienceMs: number
}

/**
 * Common table expressions of a statement that is the whole write: they claim a key with its response. `claimed` has a row if
 * `from` has one and the key was free. When another transaction had the key for too long, the statement fails (`waitedForKey`).
 * @param teamId the team that the write concerns. The caller is a member.
 */
export function claimAnswered(answer: Places<KeyedAnswer>, teamId: Given<string>, from: SQL): SQL {
  const { patienceMs, ...columns } = answer
  const claim = insertFrom(sql`patience`, idempotencyKeys, { ...columns, teamId })
  // Its row passes the parts in this order, as in `claimKey`.
  return sql`patience as materialized (select set_config('lock_timeout', ${patienceMs}::int || 'ms', true) from ${from}),
    claimed as (${claim} on conflict do nothing returning set_config('lock_timeout', '0', true))`
}

/** Whether a statement with `claimAnswered` failed since another transaction had the key. */
export const waitedForKey = (code: string | null): boolean => code === LOCK_TIMEOUT

/**
 * Stores the response of a write under the key that its transaction has claimed. Must be its last statement.
 * @param teamId the team that the write concerned. It is dropped when the write itself ended the user's membership, so
 * that repeating the request to leave a team returns the same response.
 */
export async function storeResponse(
  tx: Tx,
  { principal, key }: IdempotentWrite,
  answer: { status: number; body: string; teamId: string | null; userId: string }
): Promise<void> {
  const { status, body, teamId, userId } = answer
  const team = sql`(select ${members.teamId} from ${members} where ${members.teamId} = ${teamId} and ${members.userId} = ${userId})`
  await tx
    .update(idempotencyKeys)
    .set({ status, body, teamId: teamId === null ? null : team })
    .where(and(eq(idempotencyKeys.principal, principal), eq(idempotencyKeys.key, key)))
}
