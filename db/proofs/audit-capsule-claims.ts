// Compares what a trail last claims about each existing capsule (state, definition, first evidence, publication,
// schedule) with the rows. Deleted capsules are dropped from memory, so the memory grows with the team's capsules and
// not with the length of the trail.
import canonicalize from 'canonicalize'
import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm'
import type { AuditFault, ChainedEntry } from '../../domain/audit/audit-action.js'
import { filesSha256, publicationSha256 } from '../audit/audit-records.js'
import { anyOf, type DbOrTx } from '../client.js'
import { auditEntries } from '../tables/audit.js'
import { capsuleFiles, capsulePublications, capsuleSchedules, capsuleSeals, capsules } from '../tables/capsules.js'
import { textSha256 } from './audit-runs.js'

/** How many capsules one statement covers. */
const AT_ONCE = 100
/** The same for statements that digest evidence, up to 60 MiB per capsule: a statement has ten seconds. */
const DIGESTED_AT_ONCE = 10

/** A fact, and the entry that claimed it last. */
interface Fact {
  seq: number
  /** A digest, or the text itself; `null` when it no longer exists. */
  is: string | null
}

interface ClaimedCapsule {
  state: Fact
  definition?: Fact
  evidence?: Fact
  publication?: Fact
  schedule?: Fact
}

export interface CapsuleClaims {
  note(entry: ChainedEntry): void
  /** The first of the noted entries whose claim is false; `seq` is the last of them. */
  fault(tx: DbOrTx, teamId: string, seq: number): Promise<AuditFault | null>
}

export function capsuleClaims(): CapsuleClaims {
  const claims = new Map<string, ClaimedCapsule>()
  return {
    note(entry) {
      const { capsuleId, action, seq } = entry
      if (capsuleId === null) return
      if (action === 'capsule.deleted') return void claims.delete(capsuleId)
      const before = claims.get(capsuleId)
      // Entries of runs name the state at that time, which may have changed since.
      if (entry.previousState !== entry.newState)
        claims.set(capsuleId, { ...before, state: { seq, is: entry.newState } })
      const capsule = claims.get(capsuleId)
      if (capsule) Object.assign(capsule, factsOf(entry))
    },
    async fault(tx, teamId, seq) {
      const faults = [
        await capsulesFault(tx, teamId, claims, seq + 1),
        await evidenceFault(tx, claims),
        await publicationsFault(tx, teamId, claims, seq + 1),
        await schedulesFault(tx, teamId, claims, seq + 1)
      ].filter((fault) => fault !== null)
      return first(faults)
    }
  }
}

const first = (faults: AuditFault[]): AuditFault | null =>
  faults.reduce<AuditFault | null>((least, fault) => (least && least.seq <= fault.seq ? least : fault), null)

function factsOf({ action, seq, metadata }: ChainedEntry): Omit<Partial<ClaimedCapsule>, 'state'> {
  const text = (name: string): Fact | undefined => {
    const { [name]: value } = JSON.parse(metadata) as Record<string, unknown>
    return typeof value === 'string' ? { seq, is: value } : undefined
  }
  switch (action) {
    case 'capsule.created':
    case 'capsule.cloned':
    case 'capsule.imported':
    case 'capsule.updated':
      return known({ definition: text('definition_sha256'), evidence: text('evidence_sha256') })
    case 'capsule.published':
    case 'capsule.takedown':
      return known({ publication: text('publication_sha256') })
    case 'capsule.schedule.changed':
      return { schedule: { seq, is: scheduleText(JSON.parse(metadata) as Record<string, unknown>) } }
    case 'capsule.schedule.deleted':
    case 'capsule.archived':
      return { schedule: { seq, is: null } }
    default:
      return {}
  }
}

const known = (facts: Record<string, Fact | undefined>) =>
  Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)) as Partial<ClaimedCapsule>

const scheduleText = ({ cron, timezone, paused, alert_on }: Record<string, unknown>): string =>
  canonicalize({ cron, timezone, paused, alert_on })!

type Claims = ReadonlyMap<string, ClaimedCapsule>

async function capsulesFault(tx: DbOrTx, teamId: string, claims: Claims, next: number): Promise<AuditFault | null> {
  const rows = await tx
    .select({ id: capsules.id, state: capsules.state, definitionSha256: capsules.definitionSha256 })
    .from(capsules)
    .where(eq(capsules.teamId, teamId))
    .orderBy(asc(capsules.id))
  const faults: AuditFault[] = []
  for (const { id, state, definitionSha256 } of rows) {
    const capsule = claims.get(id)
    if (!capsule) faults.push(await unknownFault(tx, teamId, id, next))
    else if (capsule.state.is !== state)
      faults.push({
        seq: capsule.state.seq,
        reason: `the capsule ${id} is ${state}; the trail last says ${capsule.state.is}`
      })
    else if (capsule.definition && capsule.definition.is !== definitionSha256)
      faults.push(changed(capsule.definition, id))
  }
  const there = new Set(rows.map(({ id }) => id))
  for (const [id, { state }] of claims)
    if (!there.has(id))
      faults.push({ seq: state.seq, reason: `the capsule ${id} is missing, and no entry records its deletion` })
  // For a sealed capsule, the record of the seal contains it.
  const open = rows.filter(({ state }) => state === 'draft' || state === 'runnable').map(({ id }) => id)
  for (const ids of pages(open))
    for (const { id, stated, actual } of await tx
      .select({
        id: capsules.id,
        stated: capsules.definitionSha256,
        actual: textSha256(sql`${capsules.definition}`)
      })
      .from(capsules)
      .where(anyOf(capsules.id, ids))) {
      const definition = claims.get(id)?.definition
      if (definition && stated !== actual) faults.push(changed(definition, id))
    }
  return first(faults)
}

const changed = ({ seq }: Fact, id: string): AuditFault => ({
  seq,
  reason: `the definition of the capsule ${id} is not the one that the trail last recorded`
})

async function unknownFault(tx: DbOrTx, teamId: string, id: string, next: number): Promise<AuditFault> {
  const [last] = await tx
    .select({ seq: auditEntries.seq })
    .from(auditEntries)
    .where(
      and(eq(auditEntries.capsuleId, id), eq(auditEntries.teamId, teamId), eq(auditEntries.action, 'capsule.deleted'))
    )
    .orderBy(desc(auditEntries.seq))
    .limit(1)
  return last
    ? { seq: last.seq, reason: `the capsule ${id} exists, and the trail says that it was deleted` }
    : { seq: next, reason: `no entry records the capsule ${id}` }
}

/** The first evidence of a capsule made from a job, sealed or not. */
async function evidenceFault(tx: DbOrTx, claims: Claims): Promise<AuditFault | null> {
  const faults: AuditFault[] = []
  const withEvidence = [...claims].filter(([, { evidence }]) => evidence)
  for (const some of pages(withEvidence, DIGESTED_AT_ONCE)) {
    const files = await tx
      .select({
        capsuleId: capsuleFiles.capsuleId,
        name: capsuleFiles.name,
        // For a sealed capsule, the proof of the seal has checked the content.
        sha256: sql<string>`case when ${capsuleSeals.capsuleId} is null
          then encode(sha256(${capsuleFiles.content}), 'hex') else ${capsuleFiles.sha256} end`
      })
      .from(capsuleFiles)
      .leftJoin(capsuleSeals, eq(capsuleSeals.capsuleId, capsuleFiles.capsuleId))
      .where(
        anyOf(
          capsuleFiles.capsuleId,
          some.map(([id]) => id)
        )
      )
    for (const [id, { evidence }] of some)
      if (filesSha256(files.filter(({ capsuleId }) => capsuleId === id)) !== evidence!.is)
        faults.push({ seq: evidence!.seq, reason: `the evidence of the capsule ${id} is not what it began with` })
  }
  return first(faults)
}

async function publicationsFault(tx: DbOrTx, teamId: string, claims: Claims, next: number): Promise<AuditFault | null> {
  const rows = await tx
    .select({ id: capsulePublications.capsuleId })
    .from(capsulePublications)
    .innerJoin(capsules, eq(capsules.id, capsulePublications.capsuleId))
    .where(eq(capsules.teamId, teamId))
  const faults: AuditFault[] = rows
    .filter(({ id }) => !claims.get(id)?.publication)
    .map(({ id }) => ({ seq: next, reason: `no entry records the publication of the capsule ${id}` }))
  for (const some of pages([...claims].filter(([, { publication }]) => publication))) {
    const ids = some.map(([id]) => id)
    const present = await tx.select().from(capsulePublications).where(anyOf(capsulePublications.capsuleId, ids))
    const digests = new Map(present.map((row) => [row.capsuleId, publicationSha256(row)]))
    for (const [id, { publication }] of some)
      if (digests.get(id) !== publication!.is)
        faults.push({
          seq: publication!.seq,
          reason: `the publication of the capsule ${id} is not what the trail last recorded`
        })
  }
  return first(faults)
}

async function schedulesFault(tx: DbOrTx, teamId: string, claims: Claims, next: number): Promise<AuditFault | null> {
  const rows = await tx
    .select({
      id: capsuleSchedules.capsuleId,
      cron: capsuleSchedules.cron,
      timezone: capsuleSchedules.timezone,
      paused: capsuleSchedules.paused,
      alert_on: capsuleSchedules.alertOn
    })
    .from(capsuleSchedules)
    .innerJoin(capsules, eq(capsules.id, capsuleSchedules.capsuleId))
    .where(and(eq(capsules.teamId, teamId), isNull(capsuleSchedules.endedAt)))
  const present = new Map(rows.map(({ id, ...row }) => [id, scheduleText(row)]))
  const faults: AuditFault[] = []
  for (const id of new Set([...present.keys(), ...claims.keys()])) {
    const schedule = claims.get(id)?.schedule
    if ((present.get(id) ?? null) !== (schedule?.is ?? null))
      faults.push({
        seq: schedule?.seq ?? next,
        reason: `the schedule of the capsule ${id} is not what the trail last recorded`
      })
  }
  return first(faults)
}

function* pages<T>(all: readonly T[], size = AT_ONCE): Generator<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
