// The audit trail. Each entry is appended to its team's hash chain in the transaction of the change that it records, so
// neither can exist without the other.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { and, desc, eq, gte, lte, sql } from 'drizzle-orm'
import { type AuditAction, auditEntryText, type ChainedEntry, NO_HASH } from '../../domain/audit/audit-action.js'
import { cappedCount, ONE } from '../capped-count.js'
import type { DbOrTx, Tx } from '../client.js'
import { auditEntries, auditHeads } from '../tables/audit.js'
import type { Caller } from '../teams/memberships.js'
import { sealRecord } from './audit-seals.js'

/** A metadata value whose JSON is longer than this is recorded by its digest. */
const VALUE_MAX_BYTES = 8 * 1024
/**
 * Runs of characters between those that no address contains. Each character is examined once, however long the text is.
 */
const word = /[^\s"'<>(),;:]+/gu

export interface NewAuditEntry {
  teamId: string
  capsuleId: string | null
  action: AuditAction
  /** Made by `actorText`. */
  actor: string
  previousState: string | null
  newState: string | null
  /** JSON. Email addresses in it are removed, and large values are recorded by their SHA-256. */
  metadata: Record<string, unknown>
}

/** The actor, by id alone. */
export function actorText(actor: Caller | { adminId: string } | 'system'): string {
  if (actor === 'system') return 'system'
  if ('adminId' in actor) return `admin:${actor.adminId}`
  return actor.key ? `key:${actor.key.id}` : `user:${actor.userId}`
}

/**
 * Appends to the team's chain. Must come last in the transaction: the end of the chain stays locked until the commit,
 * and this lock comes after every other. The entry of a seal is written after the seal, since it digests the seal's
 * rows.
 */
export async function appendAudit(tx: Tx, entry: NewAuditEntry): Promise<{ seq: number; hash: string }> {
  const head = await lockHead(tx, entry.teamId)
  const seal = entry.action === 'capsule.sealed' ? await sealRecord(tx, entry.capsuleId!) : null
  if (entry.action === 'capsule.sealed' && !seal)
    throw new Error(`the audit entry was written before the seal of ${entry.capsuleId}`)
  const next = {
    seq: head.seq + 1,
    teamId: entry.teamId,
    capsuleId: entry.capsuleId,
    action: entry.action,
    actor: entry.actor,
    at: head.now,
    previousState: entry.previousState,
    newState: entry.newState,
    metadata: metadataText({ ...entry.metadata, ...seal })
  }
  const hash = entryHash(head.hash, auditEntryText(next))
  // One statement for both, since it is the last round trip before the commit.
  await tx.execute(sql`
    with entry as (
      insert into ${auditEntries}
        (team_id, seq, capsule_id, action, actor, at, previous_state, new_state, metadata, prev_hash, hash)
      values (${next.teamId}, ${next.seq}, ${next.capsuleId}, ${next.action}, ${next.actor}, ${next.at},
        ${next.previousState}, ${next.newState}, ${next.metadata}, ${head.hash}, ${hash}))
    update ${auditHeads} set seq = ${next.seq}, hash = ${hash} where team_id = ${next.teamId}`)
  return { seq: next.seq, hash }
}

/** Hex hash of an entry with the canonical form `text`, after the one with `prevHash`. */
export const entryHash = (prevHash: string, text: string): string =>
  createHash('sha256')
    .update(prevHash + text)
    .digest('hex')

/** The end of a team's chain, locked until the transaction ends, and the current time. */
async function lockHead(tx: Tx, teamId: string): Promise<{ seq: number; hash: string; now: string }> {
  const lock = () =>
    tx
      .select({
        seq: auditHeads.seq,
        hash: auditHeads.hash,
        now: sql<string>`to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      })
      .from(auditHeads)
      .where(eq(auditHeads.teamId, teamId))
      .for('update')
  const [head] = await lock()
  if (head) return head
  await tx.insert(auditHeads).values({ teamId, seq: 0, hash: NO_HASH }).onConflictDoNothing()
  return (await lock())[0]!
}

/** @throws Error for a value that JSON cannot represent. */
function metadataText(metadata: Record<string, unknown>): string {
  const recorded = Object.entries(metadata).flatMap(([name, value]) => {
    const given = recordedValue(value)
    return given === undefined ? [] : [[name, given]]
  })
  return canonicalize(Object.fromEntries(recorded))!
}

/** A metadata value as the entry stores it; `undefined` for what JSON omits. */
export function recordedValue(value: unknown): unknown {
  const text = canonicalize(cleaned(value))
  if (text === undefined) return undefined
  const size = Buffer.byteLength(text)
  if (size <= VALUE_MAX_BYTES) return JSON.parse(text)
  return { sha256: createHash('sha256').update(text).digest('hex'), size_bytes: size }
}

/** Removes email addresses, and lone surrogates, which canonical JSON does not have. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return withoutAddresses(value.toWellFormed())
  if (Array.isArray(value)) return value.map(cleaned)
  if (value instanceof Date) return value.toISOString()
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [cleaned(name) as string, cleaned(inner)]))
  return value
}

/** An entry can never be deleted, so no text of the form name@host.example gets into one. */
function withoutAddresses(text: string): string {
  if (!text.includes('@')) return text
  return text.replace(word, (some) => {
    const at = some.indexOf('@')
    return at > 0 && some.indexOf('.', at + 2) > 0 ? '[mail address]' : some
  })
}

export interface AuditFilter {
  teamId?: string
  capsuleId?: string
  action?: AuditAction
  from?: Date
  to?: Date
  /** Only entries up to this one. Older pages stay the same while entries are added. */
  seqMax?: number
  limit: number
  offset: number
}

/** Newest first. `total` is counted no further than `TOTAL_MAX + 1`. */
export async function listAudit(
  db: DbOrTx,
  { teamId, capsuleId, action, from, to, seqMax, limit, offset }: AuditFilter
): Promise<{ rows: ChainedEntry[]; total: number }> {
  const which = and(
    teamId === undefined ? undefined : eq(auditEntries.teamId, teamId),
    capsuleId === undefined ? undefined : eq(auditEntries.capsuleId, capsuleId),
    action === undefined ? undefined : eq(auditEntries.action, action),
    // Stored as text of one form, which sorts by time.
    from === undefined ? undefined : gte(auditEntries.at, from.toISOString()),
    to === undefined ? undefined : lte(auditEntries.at, to.toISOString()),
    seqMax === undefined ? undefined : lte(auditEntries.seq, seqMax)
  )
  const rows = await db
    .select()
    .from(auditEntries)
    .where(which)
    .orderBy(desc(auditEntries.seq))
    .limit(limit)
    .offset(offset)
  return { rows, total: await cappedCount(db, db.select(ONE).from(auditEntries).where(which).$dynamic()) }
}
