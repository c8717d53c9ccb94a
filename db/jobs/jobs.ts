// Finds jobs. Reads always name the caller: non-members get the same result as for a job that does not exist.
import { and, eq, sql } from 'drizzle-orm'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import type { StoredSource } from '../../domain/jobs/submission.js'
import { anyOf, type DbOrTx } from '../client.js'
import { type Places, query } from '../statement.js'
import { members, teams } from '../tables/accounts.js'
import { backends } from '../tables/backends.js'
import { attempts, jobs } from '../tables/jobs.js'
import { type Caller, membershipsOf } from '../teams/memberships.js'
import { type Fence, fenceHolds } from './fence.js'
import { hasPlainEnd } from './has-plain-end.js'
import { providerJobsOfJob, waitingOfJob } from './job-waiting.js'

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
