// Proves a team's audit trail: no entry was changed, removed, inserted, moved or truncated. Entries are read page by
// page in one snapshot, so memory does not grow with the trail; only the checkpoints are read at once.
import { verify as checkSignature, type KeyObject } from 'node:crypto'
import canonicalize from 'canonicalize'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { type AuditFault, auditEntryText, type ChainedEntry, NO_HASH } from '../../domain/audit/audit-action.js'
import { type Checkpoint, checkpointText } from '../../domain/audit/audit-checkpoint.js'
import { entryHash } from '../audit/audit.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { auditCheckpoints, auditEntries, auditHeads } from '../tables/audit.js'
import { capsules } from '../tables/capsules.js'
import { capsuleClaims } from './audit-capsule-claims.js'
import { runClaims } from './audit-runs.js'

const PAGE = 1_000
/** The description of an unknown key. */
export const NOT_OURS = "none of this installation's"

export interface AuditReport {
  ok: boolean
  /** How many entries exist, valid or not. */
  entries: number
  /** The end according to the database. */
  head: { seq: number; hash: string }
  firstBroken: AuditFault | null
  /** How many checkpoints were verified, and the last entry that one covers. */
  checkpoints: number
  signedUpTo: number
  /** How many seals have the content that was sealed. */
  seals: number
}

export interface AuditEvidence {
  /** Public keys of this installation, by id. */
  keys: ReadonlyMap<string, KeyObject>
  /** Keys in the database that do not belong to this installation, with a description to follow "which is ...". */
  unproven?: ReadonlyMap<string, string>
  /** Checkpoints of this team from outside the database. */
  exported?: readonly Checkpoint[]
  /** Checks the sealed capsule that an entry names. Returns what is wrong; `null` when nothing is. */
  checkSeal?: (tx: DbOrTx, entry: ChainedEntry) => Promise<string | null>
  /** Told after each page how many entries have been checked, of how many. */
  onProgress?: OnProgress
}

export type OnProgress = (entries: number, of: number) => void

/** Checks a team's whole trail, and stops at the first fault. */
export async function verifyAudit(db: Db, teamId: string, evidence: AuditEvidence): Promise<AuditReport> {
  return db.transaction((tx) => auditReport(tx, teamId, evidence), {
    isolationLevel: 'repeatable read',
    accessMode: 'read only'
  })
}

/** The same inside an existing transaction, which should see one state of the database throughout. */
export async function auditReport(tx: Tx, teamId: string, evidence: AuditEvidence): Promise<AuditReport> {
  const [head] = await tx.select().from(auditHeads).where(eq(auditHeads.teamId, teamId))
  const [counted] = await tx
    .select({ entries: sql<number>`count(*)::int` })
    .from(auditEntries)
    .where(eq(auditEntries.teamId, teamId))
  const points = await signedPoints(tx, teamId, evidence.exported ?? [])
  const walk = createWalk({ seq: 0, hash: NO_HASH }, points, evidence)
  const claimed = capsuleClaims()
  const runs = runClaims()
  let seals = 0
  /** Checks the entries of a page until one fails. */
  async function pageFault(page: ChainedEntry[]): Promise<AuditFault | null> {
    for (const [place, entry] of page.entries()) {
      const broken = walk.step(entry) ?? (await sealFault(tx, entry, points, evidence))
      // A fault in an earlier entry of the page comes first.
      if (broken) return (await runs.fault(tx, page.slice(0, place))) ?? broken
      if (entry.action === 'capsule.sealed') seals++
      claimed.note(entry)
    }
    return runs.fault(tx, page)
  }
  let checked = 0
  const fault = await (async (): Promise<AuditFault | null> => {
    for await (const page of pagesAfter(tx, teamId, Number.MIN_SAFE_INTEGER)) {
      const broken = await pageFault(page)
      if (broken) return broken
      checked += page.length
      evidence.onProgress?.(checked, counted!.entries)
    }
    const { seq } = walk.at
    return (
      walk.end(head ?? null) ?? (await claimed.fault(tx, teamId, seq)) ?? (await runs.unclaimed(tx, teamId, seq + 1))
    )
  })()
  return {
    ok: fault === null,
    entries: counted!.entries,
    head: head ? { seq: head.seq, hash: head.hash } : { seq: 0, hash: NO_HASH },
    firstBroken: fault,
    checkpoints: walk.checkpoints,
    signedUpTo: walk.signedUpTo,
    seals
  }
}

/** Every team that has a trail, a part of one, or a sealed capsule; and the named ones. */
export async function teamsWithTrails(db: DbOrTx, named: readonly string[]): Promise<string[]> {
  const rows = await db.execute<{ team_id: string }>(sql`
    select team_id from ${auditHeads} union select team_id from ${auditCheckpoints}
    union select team_id from ${capsules} union select distinct team_id from ${auditEntries}`)
  return [...new Set([...rows.map((row) => row.team_id), ...named])].sort()
}

/** The entries after one, page by page. */
async function* pagesAfter(tx: DbOrTx, teamId: string, after: number): AsyncGenerator<ChainedEntry[]> {
  for (let last = after; ; ) {
    const rows = await tx
      .select()
      .from(auditEntries)
      .where(and(eq(auditEntries.teamId, teamId), gt(auditEntries.seq, last)))
      .orderBy(asc(auditEntries.seq))
      .limit(PAGE)
    yield rows
    if (rows.length < PAGE) return
    last = rows.at(-1)!.seq
  }
}

interface Point extends Checkpoint {
  /** How messages refer to it. */
  where: 'in the database' | 'outside the database'
  /** Set for a point outside the database that is missing in it. */
  lost: boolean
}

/** The checkpoints by the entry that they sign. */
async function signedPoints(
  tx: DbOrTx,
  teamId: string,
  exported: readonly Checkpoint[]
): Promise<Map<number, Point[]>> {
  const rows = await tx.select().from(auditCheckpoints).where(eq(auditCheckpoints.teamId, teamId))
  const inDatabase = new Set(rows.map((row) => `${row.seq} ${row.at}`))
  const points = new Map<number, Point[]>()
  const add = (point: Point) => points.set(point.seq, [...(points.get(point.seq) ?? []), point])
  for (const row of rows) add({ ...row, where: 'in the database', lost: false })
  for (const point of exported)
    add({ ...point, where: 'outside the database', lost: !inDatabase.has(`${point.seq} ${point.at}`) })
  return points
}

/** Walks along a chain from a known entry. */
function createWalk(
  from: { seq: number; hash: string },
  points: ReadonlyMap<number, readonly Point[]>,
  keys: Pick<AuditEvidence, 'keys' | 'unproven'>
) {
  const walk = {
    at: from,
    checkpoints: 0,
    signedUpTo: 0,

    /** Takes the next entry. Returns what is wrong with it. */
    step(entry: ChainedEntry): AuditFault | null {
      const seq = walk.at.seq + 1
      if (entry.seq !== seq) return { seq: Math.min(seq, entry.seq), reason: outOfTurn(seq, entry.seq) }
      if (entry.prevHash !== walk.at.hash) return { seq, reason: 'prev_hash is not the hash of the entry before it' }
      if (!isCanonical(entry.metadata)) return { seq, reason: 'metadata was changed: it is not canonical JSON' }
      if (entryHash(walk.at.hash, auditEntryText(entry)) !== entry.hash)
        return { seq, reason: 'the entry was changed: its hash is another one' }
      walk.at = { seq, hash: entry.hash }
      for (const point of points.get(seq) ?? []) {
        const reason = pointFault(point, entry.hash, keys)
        if (reason) return { seq, reason }
        walk.checkpoints++
        walk.signedUpTo = seq
      }
      return null
    },

    /** Called after the last entry. Returns what is missing. */
    end(head: { seq: number; hash: string } | null): AuditFault | null {
      const { seq, hash } = walk.at
      const beyond = [...points.values()].flat().find((point) => point.seq > seq || point.seq < 1)
      if (beyond)
        return {
          seq: seq + 1,
          reason: `the end is missing: a checkpoint of ${beyond.at} ${beyond.where} signs entry ${beyond.seq}`
        }
      if (!head && seq === 0) return null
      if (!head) return { seq, reason: "the record of the trail's end is missing" }
      if (head.seq > seq) return { seq: seq + 1, reason: `the end is missing: the trail had entries up to ${head.seq}` }
      if (head.seq < seq)
        return { seq: head.seq + 1, reason: `the trail ended at entry ${head.seq}; this entry was appended after it` }
      return head.hash === hash ? null : { seq, reason: 'it is not the entry with which the trail ended' }
    }
  }
  return walk
}

const outOfTurn = (expected: number, found: number): string =>
  found > expected ? `entry ${expected} is missing` : `there is an entry ${found}, where the first is number 1`

function isCanonical(metadata: string): boolean {
  try {
    const value: unknown = JSON.parse(metadata)
    return typeof value === 'object' && value !== null && !Array.isArray(value) && canonicalize(value) === metadata
  } catch {
    return false
  }
}

function pointFault(
  point: Point,
  hash: string,
  { keys, unproven }: Pick<AuditEvidence, 'keys' | 'unproven'>
): string | null {
  const named = `the checkpoint of ${point.at} ${point.where}`
  const key = keys.get(point.keyId)
  if (!key) return `${named} names the key ${point.keyId}, which is ${unproven?.get(point.keyId) ?? NOT_OURS}`
  if (!isSignedBy(key, point)) return `${named} does not carry the signature of the key ${point.keyId}`
  if (point.hash !== hash) return `the trail was rewritten: ${named} signs another hash for this entry`
  return point.lost ? `${named} is missing in the database` : null
}

function isSignedBy(key: KeyObject, point: Checkpoint): boolean {
  const signature = Buffer.from(point.signature, 'base64')
  // Node ignores characters that are not base64.
  if (signature.toString('base64') !== point.signature) return false
  return checkSignature(null, Buffer.from(checkpointText(point)), key, signature)
}

async function sealFault(
  tx: DbOrTx,
  entry: ChainedEntry,
  points: ReadonlyMap<number, readonly Point[]>,
  { checkSeal }: AuditEvidence
): Promise<AuditFault | null> {
  const { seq } = entry
  if (entry.action !== 'capsule.sealed') return null
  // It was written in the transaction of the seal.
  if (!points.get(seq)?.length) return { seq, reason: 'the checkpoint that was signed with this seal is missing' }
  const reason = checkSeal ? await checkSeal(tx, entry) : null
  return reason === null ? null : { seq, reason }
}

/**
 * Checks the entries since the last checkpoint before a new one is signed, so that a rewritten chain gets no signature.
 * Returns `null` when they are valid.
 */
export async function verifySinceCheckpoint(
  tx: DbOrTx,
  teamId: string,
  keys: ReadonlyMap<string, KeyObject>
): Promise<AuditFault | null> {
  const [last] = await tx
    .select()
    .from(auditCheckpoints)
    .where(eq(auditCheckpoints.teamId, teamId))
    .orderBy(sql`${auditCheckpoints.seq} desc, ${auditCheckpoints.at} desc`)
    .limit(1)
  const [head] = await tx.select().from(auditHeads).where(eq(auditHeads.teamId, teamId))
  if (last) {
    const [signed] = await tx
      .select({ hash: auditEntries.hash })
      .from(auditEntries)
      .where(and(eq(auditEntries.teamId, teamId), eq(auditEntries.seq, last.seq)))
    const reason = pointFault({ ...last, where: 'in the database', lost: false }, signed?.hash ?? '', { keys })
    if (reason) return { seq: last.seq, reason }
  }
  const from = last ? { seq: last.seq, hash: last.hash } : { seq: 0, hash: NO_HASH }
  const walk = createWalk(from, new Map(), { keys })
  for await (const page of pagesAfter(tx, teamId, from.seq))
    for (const entry of page) {
      const fault = walk.step(entry)
      if (fault) return fault
    }
  return walk.end(head ?? null)
}
