// Attempts: a row is opened when the executor has accepted a run, and closed once. Only the job's current generation
// writes to its attempts: a worker that has lost its claim can neither open nor close one. The closing transaction also
// stores the result.
import { and, asc, eq, inArray, is, isNotNull, ne, type SQL, sql } from 'drizzle-orm'
import { PgTransaction } from 'drizzle-orm/pg-core'
import type { JobError } from '../../domain/errors.js'
import type { AttemptState, JobStatus } from '../../domain/jobs/job-status.js'
import { resultSummary } from '../../domain/jobs/result-summary.js'
import { executionRetry } from '../../domain/jobs/retry.js'
import { type AttemptEnd, attemptEnd } from '../../domain/jobs/task-retry.js'
import { storableText } from '../../domain/json/json-guard.js'
import type { MicroUsd } from '../../domain/money/money.js'
import { type Db, type DbOrTx, postgresCode } from '../client.js'
import { now } from '../clock.js'
import { type GivenAll, perShape, statement } from '../statement.js'
import { type StoredContent, smallContent, wholeOf, withContents } from '../stored-content.js'
import { artifacts, attempts, jobEvents, jobs, jobTasks, scriptRequests } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'
import { type Artifact, RESULT_ARTIFACT, storedFiles, storing } from './artifacts.js'
import { type Fence, fenceHolds } from './fence.js'

export interface Attempt {
  task: string
  number: number
  state: AttemptState
  startedAt: Date
  endedAt: Date | null
  errorCode: string | null
  errorMessage: string | null
  resultSha256: string | null
  /** How long the next attempt waits; `null` when there is none. */
  backoffMs: number | null
}

const lostWithItsSide: JobError = {
  code: 'execution_service_lost',
  message: 'the execution was interrupted and its end is unknown'
}

const { firstWaitMs, factor, longestWaitMs } = executionRetry
/** The SQL form of `waitAfterAttempt`, for an attempt that another followed. */
const waited = sql`least(${longestWaitMs}::int, ${firstWaitMs}::int * ${factor}::int ^ (${attempts.number} - 1))::int`

/**
 * Which task an attempt belongs to (`''` for the job's own), and in which statuses of the job it can begin. `beginsTask`: the task
 * is running from then on; one that has finished begins no attempt. `ranMs` is how many milliseconds ago it began.
 */
export interface AttemptOf {
  task?: string
  statuses?: JobStatus[]
  beginsTask?: boolean
  ranMs?: number
}

/**
 * Opens the next attempt of a job that is running, or that is being cancelled (for a task found at its provider). An
 * attempt that is still open is closed as lost, since no worker saw how it ended.
 * @returns its number from 1, or `null` when this worker has lost the job.
 */
export async function openAttempt(
  db: DbOrTx,
  jobId: string,
  fence: Fence,
  { task = '', statuses = ['running'], beginsTask = false, ranMs = 0 }: AttemptOf = {}
): Promise<number | null> {
  const shape = { statuses, isLeased: fence.lease !== undefined, beginsTask }
  const { generation, lease = '' } = fence
  const openFirst = async (handle: DbOrTx): Promise<number | null> => {
    const [first] = await opening(shape)(handle, { jobId, task, generation, lease, ranSeconds: ranMs / 1_000 })
    return first?.number ?? null
  }
  const opened = await openFirst(db).catch((error: unknown) => {
    // Another worker opened it while this statement waited for the lock, with attempts that it had read before. Inside a
    // transaction the caller has the lock already, and the error has aborted the transaction.
    if (is(db, PgTransaction) || postgresCode(error) !== '23505') throw error
    return 'taken' as const
  })
  if (opened === 'taken') return null
  if (opened !== null) return opened
  return db.transaction(async (tx) => {
    // Locked by a separate statement, so that the next ones see what the previous lock holder wrote.
    const mine = and(eq(jobs.id, jobId), inArray(jobs.status, statuses), fenceHolds(fence))
    const [held] = await tx.select({ id: jobs.id }).from(jobs).where(mine).for('no key update')
    if (!held) return null
    const lost = await closeOpen(tx, and(openOf(jobId), eq(attempts.task, task)), 'lost', lostWithItsSide, waited)
    if (lost.length > 0) {
      const { seq, status } = await raiseEvents(tx, jobId, lost.length)
      await appendClosedEvents(tx, jobId, lost, seq - lost.length + 1, status)
    }
    return openFirst(tx)
  })
}

/** The number of the task's open attempt in this generation. A resumed script continues in it. */
export async function attemptUnderWay(
  db: DbOrTx,
  jobId: string,
  { generation }: Fence,
  task = ''
): Promise<number | null> {
  const [row] = await db
    .select({ number: attempts.number })
    .from(attempts)
    .where(and(openOf(jobId), eq(attempts.task, task), eq(attempts.generation, generation)))
  return row?.number ?? null
}

/** How a task's attempts ended, in order. */
export async function loadAttemptEnds(db: DbOrTx, jobId: string, task: string): Promise<AttemptEnd[]> {
  const rows = await db
    .select({ state: attempts.state, errorCode: attempts.errorCode })
    .from(attempts)
    .where(and(eq(attempts.jobId, jobId), eq(attempts.task, task)))
    .orderBy(asc(attempts.number))
  return rows.map(({ state, errorCode }) => attemptEnd(state, errorCode))
}

interface Opening {
  jobId: string
  task: string
  generation: number
  /** For a shape that is leased. */
  lease: string
  ranSeconds: number
}

type OpeningShape = Required<Pick<AttemptOf, 'statuses' | 'beginsTask'>> & { isLeased: boolean }

/** Opens an attempt unless one is open. The lock on the job excludes a concurrent cancel or sweep. */
const opening = perShape(({ statuses, isLeased, beginsTask }: OpeningShape) =>
  statement<Opening, { number: number }>(({ jobId, task, generation, lease, ranSeconds }, on) => {
    const held = on
      .select({ id: jobs.id })
      .from(jobs)
      .where(
        and(
          eq(jobs.id, jobId),
          inArray(jobs.status, statuses),
          fenceHolds({ generation, ...(isLeased && { lease }) }),
          sql`not exists (select 1 from ${attempts}
          where ${attempts.jobId} = ${jobId} and task = ${task} and state = 'running')`
        )
      )
      .for('no key update')
    const begun = beginsTask
      ? sql`update ${jobTasks} set state = 'running', started_at = coalesce(started_at, ${now})
          where job_id in (select id from held) and key = ${task} and state in ('pending', 'running')
          returning job_id`
      : sql`select id as job_id from held`
    // After the event before it, also where the worker has measured more.
    const begunAt = sql`greatest(${now} - make_interval(secs => ${ranSeconds}::float8),
      (select at from ${jobEvents} where job_id = raised.id and seq = raised.event_seq - 1))`
    return sql`
      with held as ${held},
        begun as (${begun}),
        raised as (update ${jobs} set event_seq = event_seq + 1 where id in (select job_id from begun)
          returning id, event_seq, status),
        next as (select coalesce(max(number), 0) + 1 as number from ${attempts}
          where job_id = ${jobId} and task = ${task}),
        appended as (insert into ${jobEvents} (job_id, seq, type, status, task, attempt, attempt_state, at)
          select id, event_seq, 'attempt', status, ${task}, number, 'running', ${begunAt} from raised, next)
      insert into ${attempts} (job_id, task, number, generation, state, started_at)
        select id, ${task}, number, ${generation}, 'running', ${begunAt} from raised, next
      returning number`
  })
)

/**
 * Closes an open attempt that did not complete. Returns `false` when it was closed already, or another worker has the
 * job.
 * @param backoffMs how long the next attempt waits.
 */
export async function closeAttempt(
  db: DbOrTx,
  jobId: string,
  number: number,
  state: 'failed' | 'cancelled' | 'lost',
  error: JobError | null,
  backoffMs: number | null = null,
  task = ''
): Promise<boolean> {
  const { errorCode, errorMessage } = errorColumns(error)
  const closed = await db.execute(sql`
    with ${closing(
      db,
      { jobId, task, number },
      {
        set: sql`state = ${state}, ended_at = ${now}, error_code = ${errorCode},
          error_message = ${errorMessage}, backoff_ms = ${backoffMs}`
      }
    )}
    select number from closed`)
  return closed.length > 0
}

export interface AttemptRef {
  jobId: string
  task: string
  number: number
}

/**
 * How `closing` changes an attempt. `where` is a further condition on the job, under its lock. `stores` inserts values
 * for the row in `closed`, and returns the `size_bytes` of each; the job counts them.
 */
export interface Closing {
  set: SQL
  where?: SQL
  stores?: SQL
}

/**
 * The parts of a statement that closes an open attempt of the job's current generation and appends its event: `closed`
 * has its row, or nothing. Like everywhere, the job is locked before the attempt.
 */
export function closing(
  db: DbOrTx,
  { jobId, task, number }: GivenAll<AttemptRef>,
  { set, where, stores }: Closing
): SQL {
  const held = db
    .select({ id: jobs.id, generation: jobs.generation })
    .from(jobs)
    .where(and(eq(jobs.id, jobId), where))
    .for('no key update')
  const [storing, counted] = stores
    ? [
        sql`stored as (${stores}),`,
        sql`, values_bytes = values_bytes + (select coalesce(sum(size_bytes), 0) from stored)`
      ]
    : [sql``, sql``]
  return sql`held as ${held},
      closed as (update ${attempts} set ${set}
        where job_id in (select id from held) and task = ${task} and number = ${number} and state = 'running'
          and generation = (select generation from held)
        returning job_id, task, number, state, ended_at),
      ${storing}
      raised as (update ${jobs} set event_seq = event_seq + 1${counted} where id in (select job_id from closed)
        returning event_seq, status),
      appended as (insert into ${jobEvents} (job_id, seq, type, status, task, attempt, attempt_state, at)
        select job_id, event_seq, 'attempt', raised.status, task, number, state, ended_at from closed, raised)`
}

/** Whether an attempt is open and of the job's current generation. */
export async function isOpen(db: DbOrTx, { jobId, task, number }: AttemptRef): Promise<boolean> {
  const rows = await db
    .select({ number: attempts.number })
    .from(attempts)
    .innerJoin(jobs, and(eq(jobs.id, attempts.jobId), eq(jobs.generation, attempts.generation)))
    .where(and(openOf(jobId), eq(attempts.task, task), eq(attempts.number, number)))
  return rows.length > 0
}

export const errorColumns = (error: JobError | null) => ({
  errorCode: error?.code ?? null,
  errorMessage: error ? storableText(error.message) : null
})

/**
 * Closes every open attempt of a job whose end was written in the same transaction. The events of the attempts are
 * numbered before the event of the end, so readers see them in that order.
 */
export async function closeOpenAttempts(
  tx: DbOrTx,
  jobId: string,
  state: 'cancelled' | 'lost',
  error: JobError | null
): Promise<void> {
  const closed = await closeOpen(tx, openOf(jobId), state, error)
  if (closed.length === 0) return
  const { seq } = await raiseEvents(tx, jobId, closed.length)
  const first = seq - closed.length
  await tx
    .update(jobEvents)
    .set({ seq, at: now })
    .where(and(eq(jobEvents.jobId, jobId), eq(jobEvents.seq, first)))
  const [before] = await tx
    .select({ status: jobEvents.status })
    .from(jobEvents)
    .where(and(eq(jobEvents.jobId, jobId), eq(jobEvents.seq, first - 1)))
  await appendClosedEvents(tx, jobId, closed, first, before!.status)
}

const openOf = (jobId: string) => and(eq(attempts.jobId, jobId), eq(attempts.state, 'running'))

/** The caller holds the lock on the job, and appends the events. */
async function closeOpen(
  tx: DbOrTx,
  which: SQL | undefined,
  state: 'cancelled' | 'lost',
  error: JobError | null,
  backoffMs: SQL | null = null
) {
  const closed = await tx
    .update(attempts)
    .set({ state, endedAt: now, ...errorColumns(error), backoffMs })
    .where(which)
    .returning({ task: attempts.task, number: attempts.number, state: attempts.state, at: attempts.endedAt })
  return closed.sort((a, b) => (a.task < b.task ? -1 : a.task > b.task ? 1 : a.number - b.number))
}

async function raiseEvents(tx: DbOrTx, jobId: string, by: number) {
  const [raised] = await tx
    .update(jobs)
    .set({ eventSeq: sql`${jobs.eventSeq} + ${by}` })
    .where(eq(jobs.id, jobId))
    .returning({ seq: jobs.eventSeq, status: jobs.status })
  return raised!
}

async function appendClosedEvents(
  tx: DbOrTx,
  jobId: string,
  closed: Awaited<ReturnType<typeof closeOpen>>,
  firstSeq: number,
  status: JobStatus
): Promise<void> {
  await tx.insert(jobEvents).values(
    closed.map(({ task, number, state, at }, index) => ({
      jobId,
      seq: firstSeq + index,
      type: 'attempt' as const,
      status,
      task,
      attempt: number,
      attemptState: state,
      at: at!
    }))
  )
}

/**
 * Stores a result (JSON text, byte for byte) with its files and closes its attempt as completed, all or nothing.
 * @returns the hex SHA-256 of the stored result, or `null` when the attempt is no longer open, or not of the job's
 * current generation.
 */
export async function completeAttempt(
  db: Db,
  jobId: string,
  number: number,
  result: string,
  files: readonly Artifact[] = []
): Promise<string | null> {
  const stored = storedFiles({ result, files })
  const resultSha256 = stored[0]!.sha256
  const set = sql`state = 'completed', ended_at = ${now}, result_sha256 = ${resultSha256}, summary = ${summaryText(result)}`
  // The lock that `closing` takes keeps a sweep from reassigning the job between the check and the commit.
  const closed = await withContents(
    db,
    stored.map(({ content }) => content),
    (within, bytes) =>
      within.execute(sql`
    with ${closing(within, { jobId, task: '', number }, { set })},
      stored as (${storing(stored, bytes)})
    select job_id from closed`)
  )
  return closed.length > 0 ? resultSha256 : null
}

/** What a result shows in lists, as JSON text. */
export function summaryText(result: string): string | null {
  const summary = resultSummary(result)
  return summary && JSON.stringify(summary)
}

/** An attempt with the facts that its provider reported. */
export interface AttemptRow extends Attempt {
  /** Set when the attempt has one provider job; `null` also when it has requested several circuits. */
  providerJobId: string | null
  /** `null` while the provider has not reported the cost. */
  cost: MicroUsd | null
}

export async function listAttempts(db: DbOrTx, jobId: string): Promise<AttemptRow[]> {
  const there = atProviders(db, jobId)
  const rows = await db
    .select({ attempt: attempts, tasks: there.tasks, known: there.known, id: there.id, cost: there.cost })
    .from(attempts)
    .leftJoin(there, and(eq(there.task, attempts.task), eq(there.attempt, attempts.number)))
    .where(eq(attempts.jobId, jobId))
    .orderBy(asc(attempts.task), asc(attempts.number))
  return rows.map(({ attempt, tasks, known, id, cost }) => ({
    ...attempt,
    providerJobId: tasks === 1 ? id : null,
    cost: tasks === null ? 0n : known ? BigInt(cost!) : null
  }))
}

/**
 * Provider jobs by the attempt that they belong to. A plain job's belongs to its own attempt; a requested circuit
 * belongs to the first attempt after the failure before the request.
 */
const atProviders = (db: DbOrTx, jobId: string) =>
  db
    .select({
      task: providerJobs.task,
      attempt: sql<number>`coalesce(${scriptRequests.series} + 1, ${providerJobs.attempt})`.as('of_attempt'),
      tasks: sql<number>`count(*)::int`.as('tasks'),
      id: sql<string | null>`min(${providerJobs.providerJobId})`.as('id'),
      cost: sql<string | null>`sum(${providerJobs.cost})`.as('cost'),
      known: sql<boolean>`bool_and(${providerJobs.cost} is not null)`.as('known')
    })
    .from(providerJobs)
    .leftJoin(
      scriptRequests,
      and(
        isNotNull(providerJobs.estimate),
        eq(scriptRequests.jobId, providerJobs.jobId),
        eq(scriptRequests.task, providerJobs.task),
        eq(scriptRequests.number, providerJobs.attempt)
      )
    )
    .where(and(eq(providerJobs.jobId, jobId), ne(providerJobs.state, 'withdrawn')))
    .groupBy(providerJobs.task, sql`2`)
    .as('there')

/** Where a job's result is stored, and how large it is; `null` when it is not. */
export async function resultContent(db: DbOrTx, jobId: string, sha256: string): Promise<StoredContent | null> {
  const where = isResult(jobId, sha256)
  const small = smallContent(artifacts.content, artifacts.sizeBytes)
  const [row] = await db.select({ sizeBytes: artifacts.sizeBytes, small }).from(artifacts).where(where)
  return row ? { table: 'artifacts', where, ...row } : null
}

/** The stored result, as the exact text that arrived. */
export async function resultText(db: DbOrTx, jobId: string, sha256: string): Promise<string | null> {
  const content = await resultContent(db, jobId, sha256)
  return content && ((await wholeOf(db, content))?.toString('utf8') ?? null)
}

/** The size of the stored result; `null` when it is gone. */
export async function resultBytes(db: DbOrTx, jobId: string, sha256: string): Promise<number | null> {
  const [row] = await db.select({ bytes: artifacts.sizeBytes }).from(artifacts).where(isResult(jobId, sha256))
  return row?.bytes ?? null
}

const isResult = (jobId: string, sha256: string): SQL =>
  and(eq(artifacts.jobId, jobId), eq(artifacts.name, RESULT_ARTIFACT), eq(artifacts.sha256, sha256))!
