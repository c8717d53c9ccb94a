// Records, finds and lists jobs. A job, its reservation and its outbox row are one transaction, which starts nothing.
// Reads always name the caller: non-members get the same result as for a job that does not exist.
import { createHash } from 'node:crypto'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Backend, isAtProvider } from '../../domain/backends/backend.js'
import { frameworkOfCircuit } from '../../domain/jobs/framework.js'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import { type JobParams, shotsOfRuns } from '../../domain/jobs/params/params.js'
import type { StoredSource, Submission } from '../../domain/jobs/submission.js'
import { type BudgetRefusal, budgetError } from '../../domain/money/budget.js'
import { estimateRuns } from '../../domain/money/cost.js'
import type { MicroUsd } from '../../domain/money/money.js'
import { anyOf, type DbOrTx, type Tx } from '../client.js'
import { now } from '../clock.js'
import { newId } from '../ids.js'
import { reserve } from '../money/budget.js'
import { asIn, type Places, query, statement } from '../statement.js'
import { members, teams } from '../tables/accounts.js'
import { backends } from '../tables/backends.js'
import { attempts, jobEvents, jobs, outbox } from '../tables/jobs.js'
import { type Caller, membershipsOf } from '../teams/memberships.js'
import { assertFits, assertStorageLeft, type StorageFigures, storageFigures } from '../teams/team-storage.js'
import { type Fence, fenceHolds } from './fence.js'
import { hasPlainEnd } from './has-plain-end.js'
import { providerJobsOfJob, waitingOfJob } from './job-waiting.js'

/** How long the relay leaves a new row to the nudge that follows the response. */
const NUDGE_HEAD_START_SECONDS = 2
/** A larger submission is not written before all that could refuse it is known. */
const RECORDED_FIRST_BYTES = 64 * 1024
/** The due time of a task that waits for an earlier one. The relay never takes such a row. */
const NEVER = sql`'9999-01-01Z'::timestamptz`

/**
 * Records a job with its reservation and its outbox row, for a team that the transaction has locked
 * (`lockTeamForWrite`).
 * @returns the job's id.
 * @throws ServiceError `budget_exceeded`, `spend_limit_exceeded` or `storage_limit_exceeded` with the figures; the
 * transaction must then be rolled back.
 */
export async function createJob(
  tx: Tx,
  submission: Submission & { teamId: string },
  context: {
    caller: Caller
    keyDailyLimit?: MicroUsd | null
    backend: Backend
    at: Date
    /** The id of the request that submits it. */
    requestId?: string
    /** The place of that request in a trace (W3C traceparent). */
    traceParent?: string | null
    /**
     * Called with a refusal before it is thrown. The notification (`recordBudgetExceeded`) must wait until after the
     * rollback.
     */
    refused?: (refusal: BudgetRefusal) => void
  }
): Promise<string> {
  const { caller, keyDailyLimit = null, backend, at, refused } = context
  const { teamId } = submission
  const id = newId()
  const estimate = estimateOf(submission, backend)
  const startsAt = submission.notBefore ?? at
  const key = caller.key && keyDailyLimit !== null ? { id: caller.key.id, dailyLimit: keyDailyLimit } : null
  const reserveEstimate = async () => {
    const refusal = await reserve(tx, { id, teamId, estimate, startsAt, maxCost: submission.maxCost, key })
    if (!refusal) return
    refused?.(refusal)
    throw budgetError(refusal)
  }
  const rows = rowsOfJob(
    { ...submission, id, estimate },
    { ...context, owner: { ...caller, keyId: caller.key?.id ?? null } }
  )
  const bytes = submissionBytes(submission)
  if (bytes > RECORDED_FIRST_BYTES) {
    await assertStorageLeft(tx, teamId, bytes)
    await reserveEstimate()
    await insertRows(tx, rows)
    return id
  }
  // One statement, since the caller waits for every round trip. The money comes last, since other jobs of the team wait for
  // its counters from there to the commit.
  const [figures] = await insertWithFigures(tx, rows)
  assertFits(figures!, bytes)
  await reserveEstimate()
  return id
}

/** What a submission stores. Its result is stored in addition, also when it exceeds the team's limit by then. */
export const submissionBytes = ({ source, params, native, choice }: Submission): number =>
  [source.text, params.text, native?.input ?? '', choice ? JSON.stringify(choice) : ''].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0
  )

/** The most that a run on the backend can cost at the current price. */
export const estimateOf = (
  { params, circuitCount }: Pick<Submission, 'params' | 'circuitCount'>,
  { pricing }: Pick<Backend, 'pricing'>
): MicroUsd => estimateRuns(pricing, shotsOfRuns(params.value), circuitCount)

/** The place of a job in a capsule run. */
export interface StepOfRun {
  capsuleId: string
  runId: string
  task: string
  /** Whether it waits for an earlier task. It starts only after `releaseStep`. */
  deferred: boolean
}

type PricedSubmission = Submission & { teamId: string; id: string; estimate: MicroUsd }

interface SubmittedBy {
  owner: { userId: string | null; keyId: string | null }
  backend: Backend
  requestId?: string
  traceParent?: string | null
  run?: StepOfRun
}

/** Records a job. Its estimate is reserved in the same transaction, and its bytes fit. */
export async function insertJob(tx: Tx, submission: PricedSubmission, by: SubmittedBy): Promise<void> {
  await insertRows(tx, rowsOfJob(submission, by))
}

type RowsOfJob = ReturnType<typeof rowsOfJob>

/** The values of a job, and of its first event and its outbox row. */
function rowsOfJob(submission: PricedSubmission, context: SubmittedBy) {
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

/** Common table expressions that insert a job with its first event and its outbox row. */
function insertionOf(given: Places<RowsOfJob>, on: DbOrTx): SQL {
  const { isOfRun, isDeferred, ...columns } = given
  const { id, teamId, backend } = columns
  const notBefore = asIn(jobs.notBefore, columns.notBefore)
  const job = on.insert(jobs).values({
    ...columns,
    status: 'pending',
    // The script can be missing when a capsule was imported, or is older than the script's deletion.
    scriptId: sql`case when ${isOfRun}::boolean then (select id from scripts where id = ${given.scriptId}::uuid)
      else ${given.scriptId}::uuid end`
  })
  const event = on.insert(jobEvents).values({ jobId: id, seq: 1, type: 'status', status: 'pending' })
  const unlessDeferred = (at: SQL) => sql`case when ${isDeferred}::boolean then ${NEVER} else ${at} end`
  const message = on.insert(outbox).values({
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
  return sql`job as ${job}, event as ${event}, message as ${message}`
}

const insertRows = statement<RowsOfJob, Record<string, never>>(
  (given, on) => sql`with ${insertionOf(given, on)} select 1`
)

const insertWithFigures = statement<RowsOfJob, StorageFigures>(
  (given, on) => sql`with ${insertionOf(given, on)} ${storageFigures(given.teamId)}`
)

const sweepColumns = (params: JobParams) => {
  const shots = shotsOfRuns(params)
  return params.points
    ? { pointsTotal: shots.length, pointsShots: shots.reduce((sum, of) => sum + of, 0) }
    : { pointsTotal: null, pointsShots: null }
}

export const recordColumns = {
  id: jobs.id,
  name: jobs.name,
  labels: jobs.labels,
  timeoutSeconds: jobs.timeoutSeconds,
  teamId: jobs.teamId,
  userId: jobs.userId,
  status: jobs.status,
  statusReason: jobs.statusReason,
  backend: jobs.backend,
  provider: jobs.provider,
  choice: jobs.choice,
  mode: jobs.mode,
  durable: jobs.durable,
  generation: jobs.generation,
  framework: jobs.framework,
  sourceKind: jobs.sourceKind,
  sourceFormat: jobs.sourceFormat,
  sourceSha256: jobs.sourceSha256,
  scriptId: jobs.scriptId,
  scriptVersion: jobs.scriptVersion,
  capsuleId: jobs.capsuleId,
  capsuleRunId: jobs.capsuleRunId,
  entrypoint: jobs.entrypoint,
  params: jobs.params,
  maxCost: jobs.maxCost,
  estimatedCost: jobs.estimatedCost,
  actualCost: jobs.actualCost,
  resultSha256: jobs.resultSha256,
  errorCode: jobs.errorCode,
  errorMessage: jobs.errorMessage,
  cancelRequestedAt: jobs.cancelRequestedAt,
  cancelOutcome: jobs.cancelOutcome,
  workflowRunId: jobs.workflowRunId,
  notBefore: jobs.notBefore,
  circuitCount: jobs.circuitCount,
  pointsTotal: jobs.pointsTotal,
  pointsDone: jobs.pointsDone,
  pointsFailed: jobs.pointsFailed,
  createdAt: jobs.createdAt,
  startedAt: jobs.startedAt,
  completedAt: jobs.completedAt,
  updatedAt: jobs.updatedAt,
  summary: sql<string | null>`(select ${attempts.summary} from ${attempts} where ${attempts.jobId} = ${jobs.id}
    and ${attempts.task} = '' and ${attempts.resultSha256} = ${jobs.resultSha256} limit 1)`,
  attempts: sql<number>`(select count(*)::int from ${attempts} where ${attempts.jobId} = ${jobs.id})`,
  waiting: waitingOfJob,
  providerJobs: providerJobsOfJob
}

/** Bytes of the longest parameters that lists include: a page of 100 jobs must stay small. */
export const LISTED_PARAMS_MAX = 4096

/** A job as lists have it: `params` is null where it is longer than `LISTED_PARAMS_MAX`. */
export const listColumns = {
  ...recordColumns,
  params: sql<
    string | null
  >`case when octet_length(${jobs.params}) <= ${sql.raw(`${LISTED_PARAMS_MAX}`)} then ${jobs.params} end`
}

const recordQuery = (db: DbOrTx, caller: Caller) =>
  db
    .select(recordColumns)
    .from(jobs)
    .innerJoin(members, and(eq(members.teamId, jobs.teamId), membershipsOf(caller)))

export type JobRow = Awaited<ReturnType<typeof recordQuery>>[number]
export type ListedJob = Omit<JobRow, 'params'> & { params: string | null }

/** A job of one of the caller's teams, or `null`. */
export async function loadJob(db: DbOrTx, caller: Caller, jobId: string): Promise<JobRow | null> {
  const [row] = await recordQuery(db, caller).where(eq(jobs.id, jobId))
  return row ?? null
}

/**
 * The source that was submitted.
 * @param most reads no text that has more bytes: it is '' then.
 */
export async function loadSource(db: DbOrTx, jobId: string, most?: number): Promise<StoredSource> {
  const text = (column: typeof jobs.sourceText | typeof jobs.input) =>
    most === undefined
      ? sql<string>`${column}`
      : sql<string>`case when octet_length(${column}) <= ${most}::int then ${column} else '' end`
  const [row] = await db
    .select({
      kind: jobs.sourceKind,
      format: jobs.sourceFormat,
      framework: jobs.framework,
      text: text(jobs.sourceText),
      scriptId: jobs.scriptId,
      version: jobs.scriptVersion,
      model: jobs.programmingModel,
      entrypoint: jobs.entrypoint,
      input: text(jobs.input),
      maxCost: jobs.maxCost
    })
    .from(jobs)
    .where(eq(jobs.id, jobId))
  const { model, entrypoint, input, ...source } = row!
  return { ...source, native: model && { model, entrypoint: entrypoint!, input: input! } }
}

export async function jobStatus(db: DbOrTx, jobId: string): Promise<JobStatus | null> {
  const [row] = await db.select({ status: jobs.status }).from(jobs).where(eq(jobs.id, jobId))
  return row?.status ?? null
}

export interface JobState {
  status: JobStatus
  /** The number of the newest event. */
  seq: number
}

/** The states of the jobs by id. A job that does not exist is missing. */
export async function jobStates(db: DbOrTx, jobIds: string[]): Promise<Map<string, JobState>> {
  const rows = await db
    .select({ id: jobs.id, status: jobs.status, seq: jobs.eventSeq })
    .from(jobs)
    .where(anyOf(jobs.id, jobIds))
  return new Map(rows.map(({ id, ...state }) => [id, state]))
}

/**
 * What every worker reads of a job. `storedResult` is the digest of a result that an earlier call of a step has stored.
 */
export const runColumns = {
  id: jobs.id,
  status: jobs.status,
  generation: jobs.generation,
  teamId: jobs.teamId,
  requestId: jobs.requestId,
  backend: jobs.backend,
  framework: jobs.framework,
  sourceKind: jobs.sourceKind,
  sourceFormat: jobs.sourceFormat,
  sourceText: jobs.sourceText,
  params: jobs.params,
  timeoutSeconds: jobs.timeoutSeconds,
  maxQubits: backends.maxQubits,
  storedResult: sql<string | null>`(select ${attempts.resultSha256} from ${attempts}
    where ${attempts.jobId} = ${jobs.id} and ${attempts.task} = '' and ${attempts.state} = 'completed' limit 1)`
}

export type JobRun = NonNullable<Awaited<ReturnType<typeof loadJobRun>>>

/**
 * Everything that the executor needs to run a job. `engine` is null when the backend has none (`atProvider`), or is no
 * longer in the catalogue.
 */
export async function loadJobRun(db: DbOrTx, jobId: string) {
  const [row] = await jobRun(db, { jobId })
  return row ?? null
}

const jobRun = query(({ jobId }: Places<{ jobId: string }>, on) =>
  on
    .select({
      ...runColumns,
      engine: backends.engine,
      atProvider: sql<boolean>`${backends.slug} is not null and ${backends.engine} is null`,
      durable: jobs.durable,
      /** How many executions of it the executor has accepted, but those that ended with the executor itself. */
      accepted: sql<number>`(select count(*)::int from ${attempts}
        where ${attempts.jobId} = ${jobs.id} and ${attempts.task} = ''
          and ${attempts.errorCode} is distinct from 'executor_shut_down')`,
      endsPlainly: sql<boolean>`(${hasPlainEnd})`,
      startedAt: jobs.startedAt,
      programmingModel: jobs.programmingModel,
      entrypoint: jobs.entrypoint,
      input: jobs.input,
      pointsTotal: jobs.pointsTotal,
      pointsMs: jobs.pointsMs
    })
    .from(jobs)
    .leftJoin(backends, eq(backends.slug, jobs.backend))
    .where(eq(jobs.id, jobId))
)

/** Whether a job is running, and this worker has the claim on it. */
export async function isRunBy(db: DbOrTx, jobId: string, fence: Fence): Promise<boolean> {
  const rows = await db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.id, jobId), eq(jobs.status, 'running'), fenceHolds(fence)))
  return rows.length > 0
}

/** The place in a trace of the request that submitted a job (W3C traceparent). */
export async function loadTraceParent(db: DbOrTx, jobId: string): Promise<string | null> {
  const [row] = await db.select({ traceParent: jobs.traceParent }).from(jobs).where(eq(jobs.id, jobId))
  return row?.traceParent ?? null
}

/** The labels of a workflow, by which operators find and recognise it. */
export async function loadStartLabels(db: DbOrTx, jobIds: string[]) {
  if (jobIds.length === 0) return []
  return db
    .select({
      jobId: jobs.id,
      teamId: jobs.teamId,
      backend: jobs.backend,
      mode: jobs.mode,
      atProvider: sql<boolean>`${backends.slug} is not null and ${backends.engine} is null`,
      shots: jobs.shots,
      team: teams.name,
      traceParent: jobs.traceParent
    })
    .from(jobs)
    .leftJoin(backends, eq(backends.slug, jobs.backend))
    .leftJoin(teams, eq(teams.id, jobs.teamId))
    .where(anyOf(jobs.id, jobIds))
}
