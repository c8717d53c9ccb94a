// The tasks of a job's graphs: their inputs and their outcomes. Every write is fenced like those of the job itself.
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { JobError } from '../../domain/errors.js'
import type { TaskState } from '../../domain/jobs/job-status.js'
import { storableText } from '../../domain/json/json-guard.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { now } from '../clock.js'
import { attempts, jobTasks, taskValues } from '../tables/jobs.js'
import { sha256Of } from './artifacts.js'
import { closing, errorColumns, openAttempt } from './attempts.js'
import type { Fence } from './fence.js'
import { taskResults } from './script-requests.js'

export interface TaskRun {
  state: TaskState
  /** The position in its graph, from 0. */
  position: number
  name: string
  funcName: string
  retries: number
  timeoutSeconds: number
  startedAt: Date | null
  /** A pickled function, in base64. */
  function: string
  /** JSON of { args, kwargs }. */
  arguments: string
  /** Results of the tasks that it depends on, by key. A task without a result is missing. */
  values: Map<string, string>
  dependsOn: string[]
}

/** Everything that the executor needs to run a task. */
export async function loadTaskRun(db: DbOrTx, jobId: string, key: string): Promise<TaskRun | null> {
  const called = alias(taskValues, 'called')
  const taken = alias(taskValues, 'taken')
  const [row] = await db
    .select({
      state: jobTasks.state,
      position: jobTasks.position,
      name: jobTasks.name,
      funcName: jobTasks.funcName,
      retries: jobTasks.retries,
      timeoutSeconds: jobTasks.timeoutSeconds,
      startedAt: jobTasks.startedAt,
      dependsOn: jobTasks.dependsOn,
      function: called.content,
      arguments: taken.content
    })
    .from(jobTasks)
    .innerJoin(called, and(eq(called.jobId, jobId), eq(called.sha256, jobTasks.functionSha256)))
    .innerJoin(taken, and(eq(taken.jobId, jobId), eq(taken.sha256, jobTasks.argumentsSha256)))
    .where(and(eq(jobTasks.jobId, jobId), eq(jobTasks.key, key)))
  if (!row) return null
  const values = await taskResults(db, jobId, row.dependsOn)
  return { ...row, function: row.function.toString('utf8'), arguments: row.arguments.toString('utf8'), values }
}

export async function taskState(db: DbOrTx, jobId: string, key: string): Promise<TaskState | null> {
  const [row] = await db
    .select({ state: jobTasks.state })
    .from(jobTasks)
    .where(and(eq(jobTasks.jobId, jobId), eq(jobTasks.key, key)))
  return row?.state ?? null
}

/**
 * `openAttempt` for a task, which is running from its first attempt on. Returns `null` also when the task has finished.
 */
export const openTaskAttempt = (db: Db, jobId: string, fence: Fence, key: string): Promise<number | null> =>
  openAttempt(db, jobId, fence, {
    task: key,
    begins: sql`update ${jobTasks} set state = 'running', started_at = coalesce(started_at, ${now})
      where job_id in (select id from held) and key = ${key} and state in ('pending', 'running')
      returning job_id`
  })

export interface TaskResult {
  /** JSON text, with pickled values where JSON cannot represent them. */
  result: string
  /** Plain JSON text; `null` when there is none, with the reason. */
  display: string | null
  displayProblem: string | null
  stdout: string
}

/** A page of output is enough to find a mistake. */
const STDOUT_MAX = 16 * 1024

/**
 * Stores the return value of a task, and closes its attempt and the task as completed, all or nothing.
 * @returns `false` when the attempt is no longer open, or not of the job's current generation.
 */
export async function completeTask(
  db: DbOrTx,
  jobId: string,
  key: string,
  number: number,
  { result, display, displayProblem, stdout }: TaskResult
): Promise<boolean> {
  const resultContent = Buffer.from(result, 'utf8')
  const resultSha256 = sha256Of(resultContent)
  const shown = display === null || display === result ? null : Buffer.from(display, 'utf8')
  const displaySha256 = display === null ? null : shown ? sha256Of(shown) : resultSha256
  const contents = [resultContent, ...(shown ? [shown] : [])].map(
    (content) => sql`(${sha256Of(content)}::text, ${content.length}::int, ${content}::bytea)`
  )
  const closed = await db.execute(sql`
    with ${closing(
      db,
      { jobId, task: key, number },
      sql`state = 'completed', ended_at = ${now}, result_sha256 = ${resultSha256}`
    )},
      stored as (insert into ${taskValues} (job_id, sha256, size_bytes, content)
        select closed.job_id, value.* from closed
          cross join (values ${sql.join(contents, sql`, `)}) as value (sha256, size_bytes, content)
        on conflict do nothing)
    update ${jobTasks} set state = 'completed', completed_at = ${now}, result_sha256 = ${resultSha256},
        display_sha256 = ${displaySha256}, display_problem = ${displayProblem}, stdout = ${storableText(stdout.slice(0, STDOUT_MAX))}
      from closed where ${jobTasks.jobId} = closed.job_id and ${jobTasks.key} = ${key}
      returning key`)
  return closed.length > 0
}

/** Fails a task for good. Returns `false` when it had finished already. */
export async function failTask(db: DbOrTx, jobId: string, key: string, error: JobError): Promise<boolean> {
  const failed = await db
    .update(jobTasks)
    .set({
      state: 'failed',
      completedAt: now,
      startedAt: sql`coalesce(${jobTasks.startedAt}, ${now})`,
      ...errorColumns(error)
    })
    .where(and(eq(jobTasks.jobId, jobId), eq(jobTasks.key, key), inArray(jobTasks.state, ['pending', 'running'])))
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
