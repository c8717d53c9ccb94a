// The rows that a submission writes: the job, its first event, and its outbox row.
import { createHash } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { type Backend, isAtProvider } from '../../domain/backends/backend.js'
import { frameworkOfCircuit } from '../../domain/jobs/framework.js'
import { type JobParams, shotsOfRuns } from '../../domain/jobs/params/params.js'
import type { Submission } from '../../domain/jobs/submission.js'
import type { MicroUsd } from '../../domain/money/money.js'
import { now } from '../clock.js'
import { asIn, insertFrom, type Places } from '../statement.js'
import { jobEvents, jobs, outbox } from '../tables/jobs.js'

/** How long the relay leaves a new row to the nudge that follows the response. */
const NUDGE_HEAD_START_SECONDS = 2
/** The due time of a task that waits for an earlier one. The relay never takes such a row. */
const NEVER = sql`'9999-01-01Z'::timestamptz`

/** The place of a job in a capsule run. */
export interface StepOfRun {
  capsuleId: string
  runId: string
  task: string
  /** Whether it waits for an earlier task. It starts only after `releaseStep`. */
  deferred: boolean
}

export type PricedSubmission = Submission & { teamId: string; id: string; estimate: MicroUsd }

export interface SubmittedBy {
  owner: { userId: string | null; keyId: string | null }
  backend: Backend
  requestId?: string
  traceParent?: string | null
  run?: StepOfRun
}

export type RowsOfJob = ReturnType<typeof rowsOfJob>

/** The values of a job, and of its first event and its outbox row. */
export function rowsOfJob(submission: PricedSubmission, context: SubmittedBy) {
  const { backend, owner, run } = context
  const { id, teamId, source, estimate } = submission
  return {
    id,
    teamId,
    userId: owner.userId,
    apiKeyId: owner.keyId,
    name: submission.name,
    labels: submission.labels,
    mode: submission.mode,
    durable: submission.mode === 'temporal' || isAtProvider(backend),
    backend: backend.slug,
    provider: backend.provider,
    choice: submission.choice ?? null,
    framework: 'framework' in source ? source.framework : frameworkOfCircuit(source),
    sourceKind: source.kind,
    sourceFormat: 'format' in source ? source.format : null,
    sourceText: source.text,
    scriptId: source.kind === 'script' ? source.scriptId : null,
    scriptVersion: source.kind === 'script' ? source.version : null,
    capsuleId: run?.capsuleId ?? null,
    capsuleRunId: run?.runId ?? null,
    capsuleTask: run?.task ?? null,
    createCapsule: submission.capsule !== undefined,
    capsuleName: submission.capsule?.name ?? null,
    programmingModel: submission.native?.model ?? null,
    entrypoint: submission.native?.entrypoint ?? null,
    input: submission.native?.input ?? null,
    maxCost: submission.maxCost,
    sourceSha256: createHash('sha256').update(source.text).digest('hex'),
    params: submission.params.text,
    shots: submission.params.value.shots,
    timeoutSeconds: submission.timeoutSeconds,
    notBefore: submission.notBefore,
    circuitCount: submission.circuitCount,
    ...sweepColumns(submission.params.value),
    notify: submission.notify,
    requestId: context.requestId ?? null,
    traceParent: context.traceParent ?? null,
    estimatedCost: estimate,
    isOfRun: run !== undefined,
    isDeferred: run?.deferred ?? false
  }
}

/**
 * Common table expressions that insert a job with its first event and its outbox row.
 * @param from one row, or none where nothing is to be written.
 */
export function insertionOf(given: Places<RowsOfJob>, from: SQL): SQL {
  const { isOfRun, isDeferred, ...columns } = given
  const { id, teamId, backend } = columns
  const notBefore = asIn(jobs.notBefore, columns.notBefore)
  const job = insertFrom(from, jobs, {
    ...columns,
    status: 'pending',
    // The script can be missing when a capsule was imported, or is older than the script's deletion.
    scriptId: sql`case when ${isOfRun}::boolean then (select id from scripts where id = ${given.scriptId}::uuid)
      else ${given.scriptId}::uuid end`
  })
  const event = insertFrom(sql`job`, jobEvents, { jobId: id, seq: 1, type: 'status', status: 'pending' })
  const unlessDeferred = (at: SQL) => sql`case when ${isDeferred}::boolean then ${NEVER} else ${at} end`
  const message = insertFrom(sql`job`, outbox, {
    jobId: id,
    kind: 'start',
    teamId,
    backend,
    mode: sql`case when ${given.durable}::boolean then 'temporal' else 'direct' end`,
    generation: 1,
    // Uses the database's clock, like every reader; the API's clock can differ.
    dueAt: unlessDeferred(sql`coalesce(${notBefore}::timestamptz, ${now})`),
    heldReason: sql`case when ${isDeferred}::boolean then 'earlier_task' end`,
    nextAt: unlessDeferred(
      sql`greatest(${notBefore}::timestamptz, ${now} + make_interval(secs => ${NUDGE_HEAD_START_SECONDS}))`
    )
  })
  return sql`job as (${job} returning id), event as (${event}), message as (${message})`
}

const sweepColumns = (params: JobParams) => {
  const shots = shotsOfRuns(params)
  return params.points
    ? { pointsTotal: shots.length, pointsShots: shots.reduce((sum, of) => sum + of, 0) }
    : { pointsTotal: null, pointsShots: null }
}
