// The tasks of a job's graphs: their inputs and their outcomes. Every write is fenced like those of the job itself.
import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { isErrorCode, type JobError } from '../../domain/errors.js'
import type { TaskState } from '../../domain/jobs/job-status.js'
import { JOB_VALUES_BYTES_MAX } from '../../domain/jobs/value-limits.js'
import type { TaskFacts } from '../../domain/jobs/workflow-metadata.js'
import { storableText } from '../../domain/json/json-guard.js'
import { type Db, type DbOrTx, listText, type Tx } from '../client.js'
import { now } from '../clock.js'
import { type GivenAll, numbered, numberedPlaces, type Places, perShape, statement } from '../statement.js'
import { inTurn, WHOLE_BYTES_MAX, writeContents } from '../stored-content.js'
import { attempts, jobs, jobTasks, taskValues } from '../tables/jobs.js'
import { sha256Of } from './artifacts.js'
import { type AttemptRef, closing, errorColumns, isOpen, openAttempt } from './attempts.js'
import { type Fence, fenceHolds } from './fence.js'
import { taskResults } from './script-answers.js'
import type { Stored } from './script-requests.js'
import { storedDigests, valueTexts } from './task-values.js'

/** What a worker reads of a task before it loads anything large. */
export interface TaskRun {
  state: TaskState
  /** Why it failed for good. */
  error: JobError | null
  /** The position in its graph, from 0. */
  position: number
  name: string
  funcName: string
  retries: number
  timeoutSeconds: number
  startedAt: Date | null
  /** Keys of the tasks whose results it takes. */
  dependsOn: string[]
  /** Digests of its function and its arguments. */
  functionSha256: string
  argumentsSha256: string
}

const runColumns = {
  state: jobTasks.state,
  errorCode: jobTasks.errorCode,
  errorMessage: jobTasks.errorMessage,
  position: jobTasks.position,
  name: jobTasks.name,
  funcName: jobTasks.funcName,
  retries: jobTasks.retries,
  timeoutSeconds: jobTasks.timeoutSeconds,
  startedAt: jobTasks.startedAt,
  dependsOn: jobTasks.dependsOn,
  functionSha256: jobTasks.functionSha256,
  argumentsSha256: jobTasks.argumentsSha256
}

export async function loadTaskRun(db: DbOrTx, jobId: string, key: string): Promise<TaskRun | null> {
  const [row] = await db
    .select(runColumns)
    .from(jobTasks)
    .where(and(eq(jobTasks.jobId, jobId), eq(jobTasks.key, key)))
  return row ? { ...row, ...stateOf(row) } : null
}

/** All tasks of a graph, by key. @param ask the number of the request that contains it. */
export async function loadTaskRuns(db: DbOrTx, jobId: string, ask: number): Promise<Map<string, TaskRun>> {
  const rows = await db
    .select({ key: jobTasks.key, ...runColumns })
    .from(jobTasks)
    .where(and(eq(jobTasks.jobId, jobId), eq(jobTasks.ask, ask)))
  return new Map(rows.map(({ key, ...row }) => [key, { ...row, ...stateOf(row) }]))
}

const stateColumns = { state: jobTasks.state, errorCode: jobTasks.errorCode, errorMessage: jobTasks.errorMessage }

const stateOf = (row: { state: TaskState; errorCode: string | null; errorMessage: string | null }) => ({
  state: row.state,
  error: isErrorCode(row.errorCode) ? { code: row.errorCode, message: row.errorMessage ?? '' } : null
})

/** Everything that the executor needs to run a task. The caller has compared its size. */
export interface TaskInput {
  /** A pickled function, in base64. */
  function: string
  /** JSON of { args, kwargs }. */
  arguments: string
  /** Results of the tasks that it depends on, by key. A task without a result is missing. */
  values: Map<string, string>
}

export async function loadTaskInput(
  db: DbOrTx,
  jobId: string,
  key: string,
  { dependsOn, functionSha256, argumentsSha256 }: Pick<TaskRun, 'dependsOn' | 'functionSha256' | 'argumentsSha256'>
): Promise<TaskInput> {
  const [texts, values] = await Promise.all([
    valueTexts(db, jobId, [functionSha256, argumentsSha256]),
    taskResults(db, jobId, dependsOn)
  ])
  const called = texts.get(functionSha256)
  const taken = texts.get(argumentsSha256)
  if (called === undefined || taken === undefined) throw new Error(`task ${key} of job ${jobId} has no function`)
  return { function: called, arguments: taken, values }
}

export async function loadTaskState(
  db: DbOrTx,
  jobId: string,
  key: string
): Promise<Pick<TaskRun, 'state' | 'error'> | null> {
  const [row] = await db
    .select(stateColumns)
    .from(jobTasks)
    .where(and(eq(jobTasks.jobId, jobId), eq(jobTasks.key, key)))
  return row ? stateOf(row) : null
}

/**
 * `openAttempt` for a task, which is running from its first attempt on. Returns `null` also when the task has finished.
 */
export const openTaskAttempt = (db: Db, jobId: string, fence: Fence, key: string): Promise<number | null> =>
  openAttempt(db, jobId, fence, { task: key, beginsTask: true })

export interface TaskResult {
  /** JSON text, with pickled values where JSON cannot represent them. */
  result: string
  /** Plain JSON text; `null` when there is none, with the reason. */
  display: string | null
  displayProblem: string | null
  stdout: string
  /** Up to two different numbers of shots with which it ran circuits; `null` when that is not known. */
  deviceShots: number[] | null
}

/** A page of output is enough to find a mistake. */
const STDOUT_MAX = 16 * 1024

interface Value {
  sha256: string
  sizeBytes: number
  content: Buffer
}

function storedValue(text: string): Value {
  const content = Buffer.from(text, 'utf8')
  return { content, sha256: sha256Of(content), sizeBytes: content.length }
}

/** Stores the return value of a task, and closes its attempt and the task as completed, all or nothing. */
export async function completeTask(
  db: Db,
  jobId: string,
  key: string,
  number: number,
  { result, display, displayProblem, stdout, deviceShots }: TaskResult
): Promise<Stored> {
  const value = storedValue(result)
  const shown = display === null ? null : display === result ? value : storedValue(display)
  const values = shown === null || shown === value ? [value] : [value, shown]
  const size = values.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const digests = values.map(({ sha256 }) => sha256)
  const attempt = { jobId, task: key, number }
  const completion = {
    ...attempt,
    resultSha256: value.sha256,
    size,
    digests: listText(digests),
    displaySha256: shown?.sha256 ?? null,
    displayProblem,
    stdout: storableText(stdout.slice(0, STDOUT_MAX)),
    deviceShots: deviceShots?.join(',') ?? null
  }
  const closed = await inTurn(size, async () => {
    if (size <= WHOLE_BYTES_MAX) return smallCompletion(values.length)(db, { ...completion, ...numbered(values) })
    // Many tasks can return the same large value, also at once. It is sent and stored once.
    const known = await storedDigests(db, jobId, digests)
    const fresh = values.filter(({ sha256 }) => !known.has(sha256))
    const contents = fresh.map(({ content }) => content)
    return writeContents(db, contents, (within, bytes) =>
      within.execute(
        completionText(
          within,
          completion,
          fresh.map((one, at) => ({ ...one, bytes: bytes[at]! }))
        )
      )
    )
  })
  if (closed.length > 0) return 'stored'
  return (await isOpen(db, attempt)) ? 'full' : 'lost'
}

interface Completion extends AttemptRef {
  resultSha256: string
  /** Bytes of the values. */
  size: number
  /** Of the values, as one text. */
  digests: string
  displaySha256: string | null
  displayProblem: string | null
  stdout: string | null
  /** Numbers in one text. */
  deviceShots: string | null
}

type FreshValue = GivenAll<Pick<Value, 'sha256' | 'sizeBytes'>> & { bytes: SQL }

function completionText(on: DbOrTx, given: GivenAll<Completion>, fresh: readonly FreshValue[]): SQL {
  const { jobId, task, resultSha256, size, digests } = given
  const rows = fresh.map(({ sha256, sizeBytes, bytes }) => sql`(${sha256}::text, ${sizeBytes}::int, ${bytes})`)
  return sql`
    with ${closing(on, given, {
      set: sql`state = 'completed', ended_at = ${now}, result_sha256 = ${resultSha256}`,
      // Compared again under the lock. What is stored already takes no room.
      where: sql`${jobs.valuesBytes} + ${size} <= ${JOB_VALUES_BYTES_MAX}::bigint
        + (select coalesce(sum(size_bytes), 0) from ${taskValues}
            where job_id = ${jobId} and sha256 = any(string_to_array(${digests}, ',')))`,
      ...(rows.length > 0 && {
        stores: sql`insert into ${taskValues} (job_id, sha256, size_bytes, content)
          select closed.job_id, value.* from closed
            cross join (values ${sql.join(rows, sql`, `)}) as value (sha256, size_bytes, content)
          on conflict do nothing returning size_bytes`
      })
    })}
    update ${jobTasks} set state = 'completed', completed_at = ${now}, result_sha256 = ${resultSha256},
        display_sha256 = ${given.displaySha256}, display_problem = ${given.displayProblem}, stdout = ${given.stdout},
        device_shots = string_to_array(${given.deviceShots}, ',')::int[]
      from closed where ${jobTasks.jobId} = closed.job_id and ${jobTasks.key} = ${task}
      returning key`
}

/** For values that are sent in one piece. */
const smallCompletion = perShape((values: number) =>
  statement<Record<string, unknown>, { key: string }>((given, on) => {
    const placed = numberedPlaces<Value>(given, ['sha256', 'sizeBytes', 'content'], values)
    const fresh = placed.map(({ content, ...value }) => ({ ...value, bytes: sql`${content}::bytea` }))
    return completionText(on, given as Places<Completion>, fresh)
  })
)

/**
 * Fails a task for good. Returns `false` when it had finished already, or another worker has the job.
 */
export async function failTask(
  db: DbOrTx,
  jobId: string,
  key: string,
  fence: Fence,
  error: JobError
): Promise<boolean> {
  const mine = and(eq(jobs.id, jobId), fenceHolds(fence))
  const failed = await db
    .update(jobTasks)
    .set({
      state: 'failed',
      completedAt: now,
      startedAt: sql`coalesce(${jobTasks.startedAt}, ${now})`,
      ...errorColumns(error)
    })
    .where(
      and(
        eq(jobTasks.jobId, jobId),
        eq(jobTasks.key, key),
        inArray(jobTasks.state, ['pending', 'running']),
        sql`exists (select 1 from ${jobs} where ${mine})`
      )
    )
    .returning({ key: jobTasks.key })
  return failed.length > 0
}

/** When a job ends, its pending tasks are skipped and its running ones are cancelled. */
export async function closeTasks(tx: Tx, jobId: string): Promise<void> {
  await tx
    .update(jobTasks)
    .set({
      state: sql`case when ${jobTasks.state} = 'pending' then 'skipped' else 'cancelled' end`,
      completedAt: now
    })
    .where(and(eq(jobTasks.jobId, jobId), inArray(jobTasks.state, ['pending', 'running'])))
}

export interface TaskRow {
  key: string
  ask: number
  name: string
  funcName: string
  dependsOn: string[]
  level: number
  state: TaskState
  attempts: number
  startedAt: Date | null
  completedAt: Date | null
  errorCode: string | null
  errorMessage: string | null
  stdout: string | null
  displaySha256: string | null
}

/** All tasks of a job's graphs, in the order of the script. Empty for a plain job. */
export async function listTasks(db: DbOrTx, jobId: string): Promise<TaskRow[]> {
  const counted = db
    .select({ task: attempts.task, count: sql<number>`count(*)::int`.as('count') })
    .from(attempts)
    .where(eq(attempts.jobId, jobId))
    .groupBy(attempts.task)
    .as('counted')
  return db
    .select({
      key: jobTasks.key,
      ask: jobTasks.ask,
      name: jobTasks.name,
      funcName: jobTasks.funcName,
      dependsOn: jobTasks.dependsOn,
      level: jobTasks.level,
      state: jobTasks.state,
      attempts: sql<number>`coalesce(${counted.count}, 0)`,
      startedAt: jobTasks.startedAt,
      completedAt: jobTasks.completedAt,
      errorCode: jobTasks.errorCode,
      errorMessage: jobTasks.errorMessage,
      stdout: jobTasks.stdout,
      displaySha256: jobTasks.displaySha256
    })
    .from(jobTasks)
    .leftJoin(counted, eq(counted.task, jobTasks.key))
    .where(eq(jobTasks.jobId, jobId))
    .orderBy(asc(jobTasks.ask), asc(jobTasks.position))
}

/** What a result says about the tasks of its graphs, in the order of the script: without their output. */
export const listTaskFacts = (
  db: DbOrTx,
  jobId: string
): Promise<(TaskFacts & { ask: number; deviceShots: number[] | null })[]> =>
  db
    .select({
      key: jobTasks.key,
      ask: jobTasks.ask,
      funcName: jobTasks.funcName,
      dependsOn: jobTasks.dependsOn,
      level: jobTasks.level,
      state: jobTasks.state,
      startedAt: jobTasks.startedAt,
      completedAt: jobTasks.completedAt,
      errorMessage: jobTasks.errorMessage,
      deviceShots: jobTasks.deviceShots
    })
    .from(jobTasks)
    .where(eq(jobTasks.jobId, jobId))
    .orderBy(asc(jobTasks.ask), asc(jobTasks.position))
