// Compares what a trail claims about runs with their rows: what ran, in which jobs, what was compared, and the outcome.
import canonicalize from 'canonicalize'
import { and, asc, count, eq, gt, isNotNull, sql } from 'drizzle-orm'
import type { AuditFault, ChainedEntry } from '../../domain/audit/audit-action.js'
import { recordedValue } from '../audit/audit.js'
import { runSha256 } from '../audit/audit-records.js'
import { deletionIsRecorded } from '../audit/audit-seals.js'
import { type CapsuleRunRow, runColumns } from '../capsule-runs/capsule-run-records.js'
import { anyOf, type DbOrTx } from '../client.js'
import { digestIn, isKept } from '../content-store.js'
import { RESULT_ARTIFACT } from '../jobs/artifacts.js'
import { auditEntries } from '../tables/audit.js'
import { capsuleRuns, capsuleRunTasks, capsules } from '../tables/capsules.js'
import { artifacts, jobs } from '../tables/jobs.js'

/** How many rows' texts one statement digests: it has ten seconds. */
const AT_ONCE = 100
const PAGE = 1_000
const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

type Claim = Record<string, unknown>

interface NamedRun {
  entry: ChainedEntry
  claim: Claim
  runId: string
}

interface PresentRun {
  row: CapsuleRunRow
  /** The digest of its current text. */
  definitionSha256: string
  /** In starting order. */
  tasks: { name: string; jobId: string; backend: string; resultSha256: string | null }[]
}

export interface RunClaims {
  /**
   * The first of these entries whose claim about a run is false, or whose run is missing. Entries arrive page by page.
   */
  fault(tx: DbOrTx, entries: readonly ChainedEntry[]): Promise<AuditFault | null>
  /** A run or a verdict that no entry claims; `next` is the number of the entry that should. */
  unclaimed(tx: DbOrTx, teamId: string, next: number): Promise<AuditFault | null>
}

export function runClaims(): RunClaims {
  // Only counts: which ones are missing would take memory for a long trail, and is queried when the counts differ.
  let begun = 0
  let judged = 0
  return {
    async fault(tx, entries) {
      const named = entries.flatMap(namedRun)
      for (let at = 0; at < named.length; at += AT_ONCE) {
        const some = named.slice(at, at + AT_ONCE)
        const present = await presentRuns(tx, [...new Set(some.map(({ runId }) => runId))])
        for (const one of some) {
          const run = present.get(one.runId)
          const reason = await runFault(tx, one, run)
          if (reason) return { seq: one.entry.seq, reason }
          if (run && one.entry.action === 'capsule.run') begun++
          if (run?.row.verdict && one.entry.action === 'capsule.verified') judged++
        }
      }
      return null
    },
    async unclaimed(tx, teamId, next) {
      const [there] = await tx
        .select({ runs: count(), verdicts: count(capsuleRuns.verdict) })
        .from(capsules)
        .innerJoin(capsuleRuns, eq(capsuleRuns.capsuleId, capsules.id))
        .where(eq(capsules.teamId, teamId))
      if (there!.runs > begun)
        return {
          seq: next,
          reason: `no entry records the run ${await unclaimedRun(tx, teamId, 'capsule.run')}`
        }
      if (there!.verdicts > judged)
        return {
          seq: next,
          reason: `no entry records the verdict of the run ${await unclaimedRun(tx, teamId, 'capsule.verified')}`
        }
      return null
    }
  }
}

function namedRun(entry: ChainedEntry): NamedRun[] {
  if (entry.action !== 'capsule.run' && entry.action !== 'capsule.verified') return []
  const claim = JSON.parse(entry.metadata) as Claim
  const { run_id: runId } = claim
  return typeof runId === 'string' && uuidShape.test(runId) ? [{ entry, claim, runId }] : []
}

async function presentRuns(tx: DbOrTx, ids: string[]): Promise<Map<string, PresentRun>> {
  const rows = await tx
    .select({ row: runColumns, definitionSha256: textSha256(sql`${capsuleRuns.definition}`) })
    .from(capsuleRuns)
    .where(anyOf(capsuleRuns.id, ids))
  const tasks = await tx
    .select({
      runId: capsuleRunTasks.runId,
      name: capsuleRunTasks.name,
      jobId: jobs.id,
      backend: jobs.backend,
      resultSha256: jobs.resultSha256
    })
    .from(capsuleRunTasks)
    .innerJoin(jobs, eq(jobs.id, capsuleRunTasks.jobId))
    .where(anyOf(capsuleRunTasks.runId, ids))
    .orderBy(asc(capsuleRunTasks.position))
  return new Map(
    rows.map(({ row, definitionSha256 }) => [
      row.id,
      { row, definitionSha256, tasks: tasks.filter(({ runId }) => runId === row.id) }
    ])
  )
}

/** Hex, of a text as UTF-8. */
export const textSha256 = (text: ReturnType<typeof sql>) =>
  sql<string>`encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`

async function runFault(
  tx: DbOrTx,
  { entry, claim, runId }: NamedRun,
  run: PresentRun | undefined
): Promise<string | null> {
  const { teamId, capsuleId, seq, action } = entry
  if (!run) {
    if (capsuleId !== null && (await deletionIsRecorded(tx, { teamId, capsuleId, seq }))) return null
    return `the run ${runId} is gone`
  }
  const { row, definitionSha256, tasks } = run
  const fault =
    row.capsuleId !== capsuleId || row.teamId !== teamId
      ? 'it is one of another capsule'
      : definitionSha256 !== row.definitionSha256
        ? 'its definition was changed'
        : action === 'capsule.run'
          ? startFault(claim, row, tasks)
          : (endFault(claim, row) ?? (await resultFault(tx, claim, tasks)))
  return fault && `the run ${runId} is not what the trail says: ${fault}`
}

function startFault(claim: Claim, row: CapsuleRunRow, tasks: PresentRun['tasks']): string | null {
  const present = {
    mode: row.mode,
    trigger: row.trigger,
    ...(claim.definition_sha256 !== undefined && { definition_sha256: row.definitionSha256 }),
    scheduled_at: row.scheduledAt?.toISOString(),
    confirms: row.confirms ?? undefined,
    ...(claim.tasks !== undefined && {
      tasks: recordedValue(tasks.map(({ name, jobId, backend }) => ({ name, job_id: jobId, backend })))
    }),
    refused: row.status === 'refused' ? recordedValue(row.reason) : undefined
  }
  for (const [field, value] of Object.entries(present))
    if (canonicalize(value) !== canonicalize(claim[field])) return `its ${field} was changed`
  return null
}

function endFault(claim: Claim, row: CapsuleRunRow): string | null {
  if (claim.verdict !== row.verdict) return `its verdict is ${row.verdict}; the trail says ${String(claim.verdict)}`
  return claim.run_sha256 === undefined || claim.run_sha256 === runSha256(row) ? null : 'its outcome was changed'
}

/** The result that was judged. A capsule that can be verified has one task. */
async function resultFault(tx: DbOrTx, claim: Claim, [main]: PresentRun['tasks']): Promise<string | null> {
  const { result_sha256: compared } = claim
  if (typeof compared !== 'string') return null
  const changed = `the result of its job ${main?.jobId} is not the one that was compared`
  if (main?.resultSha256 !== compared) return changed
  const [result] = await tx
    .select({
      actual: sql<string | null>`encode(sha256(${artifacts.content}), 'hex')`,
      key: artifacts.objectKey,
      sizeBytes: artifacts.sizeBytes
    })
    .from(artifacts)
    .where(and(eq(artifacts.jobId, main.jobId), eq(artifacts.name, RESULT_ARTIFACT), eq(artifacts.sha256, compared)))
  if (!result) return changed
  const { actual, key, sizeBytes } = result
  const isSame =
    actual === null ? digestIn(key!) === compared && (await isKept(tx, key!, sizeBytes)) : actual === compared
  return isSame ? null : changed
}

/** The first run that no entry of this kind names; for verdicts, the first that has one. */
async function unclaimedRun(tx: DbOrTx, teamId: string, action: 'capsule.run' | 'capsule.verified'): Promise<string> {
  const named = new Set<string | null>()
  for (let last = 0; ; ) {
    const rows = await tx
      .select({ seq: auditEntries.seq, runId: sql<string | null>`${auditEntries.metadata}::json->>'run_id'` })
      .from(auditEntries)
      .where(and(eq(auditEntries.teamId, teamId), eq(auditEntries.action, action), gt(auditEntries.seq, last)))
      .orderBy(asc(auditEntries.seq))
      .limit(PAGE)
    for (const { runId } of rows) named.add(runId)
    if (rows.length < PAGE) break
    last = rows.at(-1)!.seq
  }
  const runs = await tx
    .select({ id: capsuleRuns.id })
    .from(capsules)
    .innerJoin(capsuleRuns, eq(capsuleRuns.capsuleId, capsules.id))
    .where(and(eq(capsules.teamId, teamId), action === 'capsule.run' ? undefined : isNotNull(capsuleRuns.verdict)))
    .orderBy(asc(capsuleRuns.id))
  return runs.find(({ id }) => !named.has(id))?.id ?? 'that was inserted'
}
