// The step that executes one task of a graph, in a child of its own. AT-LEAST-ONCE, like execute-job.ts: a completed task is
// not executed again, a result is stored with the end of its attempt, and only accepted executions count as attempts.
import { attemptUnderWay, closeAttempt, loadAttemptEnds } from '../../db/jobs/attempts.js'
import type { Fence } from '../../db/jobs/fence.js'
import {
  completeTask,
  failTask,
  loadTaskInput,
  loadTaskRun,
  loadTaskState,
  openTaskAttempt,
  type TaskRun
} from '../../db/jobs/job-tasks.js'
import { type JobRun, loadJobRun } from '../../db/jobs/jobs.js'
import { circuitAnswer, circuitAnswerBytes, resultBytes } from '../../db/jobs/script-answers.js'
import {
  listScriptRequests,
  loadScriptRequest,
  recordScriptRequest,
  type ScriptRequest
} from '../../db/jobs/script-requests.js'
import { assertNever, type JobError } from '../../domain/errors.js'
import { nodeIdOf } from '../../domain/jobs/script-requests.js'
import { attemptEnd, lastFailure, type TaskRetry, taskRetry } from '../../domain/jobs/task-retry.js'
import { answersProblem, jobIsFull, valuesProblem } from '../../domain/jobs/value-limits.js'
import type { RunRequest } from '../../services/executor/requests.js'
import type { ScriptEnd } from '../../services/executor/stream.js'
import { whenExecutorCan } from '../../services/executor/wait.js'
import { circuitResponse } from './circuit-answers.js'
import { type CountedExecution, countedExecution } from './counted-execution.js'
import { type ExecuteDeps, lossOf, refusedAs } from './job-attempt.js'
import { liveOutput } from './live-output.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'
import {
  callOf,
  newRunId,
  type Parked,
  type Prepared,
  parkedOf,
  repeatable,
  requestOf,
  resumeOrReplay
} from './run-request.js'

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

/**
 * @param known the job and the task, where the caller has read them. Whether both are still to be run, each write finds out by
 * its fence.
 */
export async function runTask(
  deps: ExecuteDeps,
  jobId: string,
  key: string,
  fence: Fence,
  signal: AbortSignal,
  known?: { job: JobRun; task: TaskRun }
): Promise<TaskEnd> {
  const [job, task] = known
    ? [known.job, known.task]
    : await Promise.all([loadJobRun(deps.db, jobId), loadTaskRun(deps.db, jobId, key)])
  if (!job || !task || job.generation !== fence.generation) return { outcome: 'stopped' }
  const ended = endOf(task)
  if (ended) return ended
  if (job.status === 'cancelling') return { outcome: 'cancelling' }
  if (job.status !== 'running') return { outcome: 'stopped' }
  const work = { deps, jobId, key, fence, signal, job, task }
  // On a local simulator, a task runs its circuits itself.
  const [asks, states] = job.atProvider
    ? await Promise.all([listScriptRequests(deps.db, jobId, key), loadAttemptEnds(deps.db, jobId, key)])
    : [[], []]
  const waiting = asks.find(({ state }) => state === 'open')
  if (waiting) return { outcome: 'circuit', ask: waiting.number }
  const series = lastFailure(states)
  const answered = asks.filter((ask) => ask.series === series)
  const values = await resultBytes(deps.db, jobId, task.dependsOn)
  const problem = valuesProblem(values) ?? (await answersProblemOf(work, answered))
  if (problem) return failedForGood(work, problem)
  const execution = countedExecution(deps, { jobId, task: key, fence, signal })
  return execution.run(
    () => execute(work, { asks, answered, series, execution }),
    ({ outcome }) => outcome === 'completed' || outcome === 'failed'
  )
}

/** Why the task cannot take the answers to the circuits that it has requested. */
async function answersProblemOf({ deps, jobId, key }: Work, answered: ScriptRequest[]): Promise<JobError | null> {
  return answered.length === 0 ? null : answersProblem(await circuitAnswerBytes(deps.db, jobId, key))
}

interface Progress {
  asks: ScriptRequest[]
  /** Those of `asks` whose answers serve this execution. */
  answered: ScriptRequest[]
  series: number
  execution: CountedExecution
}

async function execute(work: Work, { asks, answered, series, execution }: Progress): Promise<TaskEnd> {
  const { deps, jobId, key, fence, signal } = work
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
  const output = liveOutput(deps, { jobId, task: key, signal }, () => attempt)
  const either = AbortSignal.any([signal, taken.signal])
  let unfit: JobError | null = null
  const run = (build: () => Promise<RunRequest>, parked?: Parked) => {
    let request: RunRequest | null = null
    const call = { ...callOf(work.job, jobId), ...parked, ...(hasHost(work.task) && { near: jobId }) }
    return whenExecutorCan<ScriptEnd>(deps, call, either, async (executor) => {
      unfit = await execution.begin()
      if (unfit) return { kind: 'refused', message: unfit.message }
      request ??= await build()
      return executor.runScript(request, either, accepted, output.printed)
    })
  }
  const answerOf = async (ask: ScriptRequest) =>
    circuitResponse(ask, await circuitAnswer(deps.db, jobId, key, ask.number))
  const executed = output.during(resumeOrReplay(taskRequest(work, series), answered, answerOf, run))
  const ended = await executed.catch(async (error: unknown) => {
    // Opened after the end of this try, an attempt would close that of the next try.
    await attempt.catch(() => {})
    if (signal.aborted || !taken.signal.aborted) throw error
    return null
  })
  if (unfit) return failedForGood(work, unfit)
  if (ended?.end.kind === 'refused') return failedForGood(work, refusedAs(ended.end))
  const number = await attempt
  if (!ended || number === null) return endByAnother(work)
  const { end, runId } = ended
  deps.log.info({ jobId, task: key, attempt: number, end: end.kind }, 'task attempt ended')
  switch (end.kind) {
    case 'completed': {
      const stored = await retryWhileDatabaseAway(retrying, () => completeTask(deps.db, jobId, key, number, end))
      deps.announce(jobId)
      if (stored === 'full') return attemptEnded(work, number, 'failed', jobIsFull, { final: true })
      return stored === 'stored' ? { outcome: 'completed' } : endByAnother(work)
    }
    case 'asked': {
      if (end.ask.kind === 'graph')
        return attemptEnded(work, number, 'failed', {
          code: 'execution_error',
          message: 'a task cannot dispatch a workflow; call the tasks from main(client, params)'
        })
      const by = { task: key, number: asks.length + 1, series, ...parkedOf(end, runId) }
      const { ask } = end
      const recorded = await retryWhileDatabaseAway(retrying, () => recordScriptRequest(deps.db, jobId, fence, by, ask))
      if (recorded === 'full') return attemptEnded(work, number, 'failed', jobIsFull, { final: true })
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

/** The end of a task, if it has finished. */
function endOf({ state, error }: Pick<TaskRun, 'state' | 'error'>): TaskEnd | null {
  if (state === 'completed') return { outcome: 'completed' }
  return state === 'failed' && error ? { outcome: 'failed', error } : null
}

/** A write that changed nothing was made by another worker, or by an earlier try of this one: the row shows which. */
async function endByAnother({ deps, jobId, key, signal }: Work): Promise<TaskEnd> {
  const retrying = { log: deps.log, jobId, signal }
  const task = await retryWhileDatabaseAway(retrying, () => loadTaskState(deps.db, jobId, key))
  return (task && endOf(task)) ?? { outcome: 'stopped' }
}

/** A graph of one task ends with it: a confinement is kept only from the second task on. */
const hasHost = ({ position }: TaskRun): boolean => position > 0

function taskRequest({ deps, jobId, key, job, task }: Work, series: number): Prepared {
  const runId = newRunId(jobId)
  return {
    runId,
    async build() {
      const input = await loadTaskInput(deps.db, jobId, key, task)
      return {
        ...requestOf(job, runId, task.timeoutSeconds),
        // Only an execution that may be repeated up to its last request needs a randomness and a clock of its own.
        ...(job.atProvider && {
          circuits: 'ask' as const,
          script: repeatable(job, jobId, key, String(series))
        }),
        ...(hasHost(task) && { task_of: jobId }),
        task: {
          name: task.funcName,
          function: input.function,
          arguments: input.arguments,
          values: Object.fromEntries([...input.values].map(([of, text]) => [nodeIdOf(of), text]))
        }
      }
    }
  }
}

/**
 * Closes an attempt that did not complete: the next one follows after a pause, or the task has failed.
 * @param final no further attempt can end otherwise.
 */
async function attemptEnded(
  work: Work,
  number: number,
  state: 'failed' | 'lost',
  error: JobError,
  { final }: { final: boolean } = { final: false }
): Promise<TaskEnd> {
  const { deps, jobId, key, signal, task } = work
  const retrying = { log: deps.log, jobId, signal }
  const before = await retryWhileDatabaseAway(retrying, () => loadAttemptEnds(deps.db, jobId, key))
  const retry: TaskRetry = final
    ? { again: false }
    : taskRetry([...before.slice(0, number - 1), attemptEnd(state, error.code)], task.retries)
  const backoffMs = retry.again ? retry.afterMs : null
  const closed = await retryWhileDatabaseAway(retrying, () =>
    closeAttempt(deps.db, jobId, number, state, error, backoffMs, key)
  )
  if (!closed) {
    // Either an earlier try of this write was committed and its response lost, or another worker has taken the task over:
    // then its own attempt follows, and it alone decides how the task ends.
    const after = await retryWhileDatabaseAway(retrying, () => loadAttemptEnds(deps.db, jobId, key))
    if (after.length > number || after[number - 1] !== attemptEnd(state, error.code)) return endByAnother(work)
  }
  deps.announce(jobId)
  return retry.again ? { outcome: 'retry', error, afterMs: retry.afterMs } : failedForGood(work, error)
}

async function failedForGood(work: Work, error: JobError): Promise<TaskEnd> {
  const { deps, jobId, key, fence, signal, task } = work
  const named = { code: error.code, message: `task '${task.funcName}' (${key}): ${error.message}` }
  const failed = await retryWhileDatabaseAway({ log: deps.log, jobId, signal }, () =>
    failTask(deps.db, jobId, key, fence, named)
  )
  deps.announce(jobId)
  return failed ? { outcome: 'failed', error: named } : endByAnother(work)
}
