// The step that executes one task of a graph, in a child of its own. AT-LEAST-ONCE, like execute-job.ts: a completed task is
// not executed again, a result is stored with the end of its attempt, and only accepted executions count as attempts.
import { attemptUnderWay, closeAttempt, loadAttemptEnds } from '../../db/jobs/attempts.js'
import type { Fence } from '../../db/jobs/fence.js'
import {
  completeTask,
  failTask,
  loadTaskRun,
  openTaskAttempt,
  type TaskRun,
  taskState
} from '../../db/jobs/job-tasks.js'
import { type JobRun, loadJobRun } from '../../db/jobs/jobs.js'
import {
  listScriptRequests,
  loadScriptRequest,
  recordScriptRequest,
  type ScriptRequest
} from '../../db/jobs/script-requests.js'
import { assertNever, type JobError } from '../../domain/errors.js'
import { nodeIdOf } from '../../domain/jobs/script-requests.js'
import { attemptEnd, lastFailure, type TaskRetry, taskRetry } from '../../domain/jobs/task-retry.js'
import type { RunRequest } from '../../services/executor/requests.js'
import type { ScriptEnd } from '../../services/executor/stream.js'
import { whenExecutorCan } from '../../services/executor/wait.js'
import { type ExecuteDeps, lossOf } from './job-attempt.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'
import { circuitResponse } from './run-program.js'
import { newRunId, repeatable, requestOf, resumeOrReplay } from './run-request.js'

/** All results of other tasks that one task takes, together. */
const VALUES_BYTES_MAX = 32 * 1024 * 1024

/**
 * `circuit`: the task waits for the response to its request of this number. `retry`: it failed, and is tried again later.
 */
export type TaskEnd =
  | { outcome: 'completed' }
  | { outcome: 'circuit'; ask: number }
  | { outcome: 'retry'; error: JobError; afterMs: number }
  | { outcome: 'failed'; error: JobError }
  | { outcome: 'cancelling' }
  | { outcome: 'stopped' }

interface Work {
  deps: ExecuteDeps
  jobId: string
  key: string
  fence: Fence
  signal: AbortSignal
  job: JobRun
  task: TaskRun
}

export async function runTask(
  deps: ExecuteDeps,
  jobId: string,
  key: string,
  fence: Fence,
  signal: AbortSignal
): Promise<TaskEnd> {
  const [job, task] = await Promise.all([loadJobRun(deps.db, jobId), loadTaskRun(deps.db, jobId, key)])
  if (!job || !task || job.generation !== fence.generation) return { outcome: 'stopped' }
  if (task.state === 'completed') return { outcome: 'completed' }
  if (job.status === 'cancelling') return { outcome: 'cancelling' }
  if (job.status !== 'running') return { outcome: 'stopped' }
  const work = { deps, jobId, key, fence, signal, job, task }
  // On a local simulator, a task runs its circuits itself.
  const [asks, states] = job.atProvider
    ? await Promise.all([listScriptRequests(deps.db, jobId, key), loadAttemptEnds(deps.db, jobId, key)])
    : [[], []]
  const waiting = asks.find(({ state }) => state === 'open')
  if (waiting) return { outcome: 'circuit', ask: waiting.number }
  const bytes = [...task.values.values()].reduce((sum, text) => sum + text.length, 0)
  if (bytes > VALUES_BYTES_MAX)
    return failedForGood(work, {
      code: 'execution_error',
      message: `the results that it takes have ${(bytes / 1024 / 1024).toFixed(1)} MiB together; the limit is ${VALUES_BYTES_MAX / 1024 / 1024} MiB: pass less, or make large data inside the task`
    })
  const series = lastFailure(states)
  return execute(work, asks, series)
}

async function execute(work: Work, asks: ScriptRequest[], series: number): Promise<TaskEnd> {
  const { deps, jobId, key, fence, signal } = work
  const answered = asks.filter((ask) => ask.series === series)
  const retrying = { log: deps.log, jobId, signal }
  let attempt: Promise<number | null> = Promise.resolve(null)
  const taken = new AbortController()
  // A short task can finish before its attempt is recorded: the executor's slot does not wait for the commit.
  const accepted = async () => {
    attempt = retryWhileDatabaseAway(retrying, async () => {
      const underWay = answered.length > 0 ? await attemptUnderWay(deps.db, jobId, fence, key) : null
      return underWay ?? openTaskAttempt(deps.db, jobId, fence, key)
    })
    attempt.then(
      (number) => (number === null ? taken.abort() : deps.announce(jobId)),
      () => {}
    )
    return true
  }
  const either = AbortSignal.any([signal, taken.signal])
  const run = (request: RunRequest) =>
    whenExecutorCan<ScriptEnd>(deps, either, () => deps.executor.runScript(request, either, accepted))
  const ended = await resumeOrReplay(
    taskRequest(work, series),
    answered,
    async (ask) => circuitResponse(ask),
    run
  ).catch(async (error: unknown) => {
    // Opened after the end of this try, an attempt would close that of the next try.
    await attempt.catch(() => {})
    if (signal.aborted || !taken.signal.aborted) throw error
    return null
  })
  if (ended?.end.kind === 'refused') return failedForGood(work, { code: 'execution_error', message: ended.end.message })
  const number = await attempt
  if (!ended || number === null) return endOf(work)
  const { end, runId } = ended
  deps.log.info({ jobId, task: key, attempt: number, end: end.kind }, 'task attempt ended')
  switch (end.kind) {
    case 'completed': {
      const stored = await retryWhileDatabaseAway(retrying, () => completeTask(deps.db, jobId, key, number, end))
      deps.announce(jobId)
      return stored ? { outcome: 'completed' } : endOf(work)
    }
    case 'asked': {
      if (end.ask.kind === 'graph')
        return attemptEnded(work, number, 'failed', {
          code: 'execution_error',
          message: 'a task cannot dispatch a workflow; call the tasks from main(client, params)'
        })
      const by = { task: key, number: asks.length + 1, series, parkedAs: end.parked ? runId : null }
      const { ask } = end
      await retryWhileDatabaseAway(retrying, () => recordScriptRequest(deps.db, jobId, fence, by, ask))
      const open = await retryWhileDatabaseAway(retrying, () => loadScriptRequest(deps.db, jobId, key, by.number))
      return open?.digest === ask.digest && open.state === 'open'
        ? { outcome: 'circuit', ask: by.number }
        : { outcome: 'stopped' }
    }
    case 'failed':
      return attemptEnded(work, number, 'failed', end.error)
    case 'lost':
      return attemptEnded(work, number, 'lost', { code: lossOf(end), message: end.message })
    case 'not_parked':
      return attemptEnded(work, number, 'lost', { code: 'execution_service_lost', message: end.message })
    default:
      return assertNever(end)
  }
}

/** A write that changed nothing was made by another worker, or by an earlier try of this one: the row shows which. */
async function endOf({ deps, jobId, key, signal }: Work): Promise<TaskEnd> {
  const state = await retryWhileDatabaseAway({ log: deps.log, jobId, signal }, () => taskState(deps.db, jobId, key))
  return { outcome: state === 'completed' ? 'completed' : 'stopped' }
}

function taskRequest({ jobId, key, job, task }: Work, series: number): RunRequest {
  return {
    ...requestOf(job, newRunId(jobId), task.timeoutSeconds),
    // Only an execution that may be repeated up to its last request needs a randomness and a clock of its own.
    ...(job.atProvider && {
      circuits: 'ask' as const,
      script: repeatable(job, jobId, key, String(series))
    }),
    // A graph of one task ends with it: a confinement is kept only from the second task on.
    ...(task.position > 0 && { task_of: jobId }),
    task: {
      name: task.funcName,
      function: task.function,
      arguments: task.arguments,
      values: Object.fromEntries([...task.values].map(([of, text]) => [nodeIdOf(of), text]))
    }
  }
}

/** Closes an attempt that did not complete: the next one follows after a pause, or the task has failed. */
async function attemptEnded(work: Work, number: number, state: 'failed' | 'lost', error: JobError): Promise<TaskEnd> {
  const { deps, jobId, key, signal, task } = work
  const retrying = { log: deps.log, jobId, signal }
  const before = await retryWhileDatabaseAway(retrying, () => loadAttemptEnds(deps.db, jobId, key))
  const retry: TaskRetry = taskRetry([...before.slice(0, number - 1), attemptEnd(state, error.code)], task.retries)
  const backoffMs = retry.again ? retry.afterMs : null
  await retryWhileDatabaseAway(retrying, () => closeAttempt(deps.db, jobId, number, state, error, backoffMs, key))
  deps.announce(jobId)
  return retry.again ? { outcome: 'retry', error, afterMs: retry.afterMs } : failedForGood(work, error)
}

async function failedForGood({ deps, jobId, key, signal, task }: Work, error: JobError): Promise<TaskEnd> {
  const named = { code: error.code, message: `task '${task.funcName}' (${key}): ${error.message}` }
  await retryWhileDatabaseAway({ log: deps.log, jobId, signal }, () => failTask(deps.db, jobId, key, named))
  deps.announce(jobId)
  return { outcome: 'failed', error: named }
}
