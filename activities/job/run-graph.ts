// Runs the tasks of a graph within the step of its job, each as soon as its inputs exist: no way through Temporal lies between
// two of them. The rows hold the progress, so the next try of the step runs what is left. Tasks at a provider can wait for days
// and have steps of their own (workflows/run-script.ts).
import { setTimeout as sleep } from 'node:timers/promises'
import { ApplicationFailure } from '@temporalio/activity'
import type { Fence } from '../../db/jobs/fence.js'
import { loadTaskRuns, type TaskRun } from '../../db/jobs/job-tasks.js'
import type { JobRun } from '../../db/jobs/jobs.js'
import type { OpenTasks } from '../../db/jobs/script-requests.js'
import type { JobError } from '../../domain/errors.js'
import { TASKS_UNDER_WAY, taskOrder } from '../../domain/jobs/task-order.js'
import { errorKind, pauseMs } from '../../domain/operations/error-kind.js'
import { ComeBackLater } from '../../services/executor/wait.js'
import { notYet, retryAfter } from './failure.js'
import type { ExecuteDeps } from './job-attempt.js'
import { runTask, type TaskEnd } from './run-task.js'
import { withTries } from './step.js'

/** The step has to end before its own time limit. The next try continues. */
const STEP_MS_MAX = 12 * 3_600_000

/** How long a task rests that found no room at the executors, or no database. */
const REST_MS_MAX = 8_000

/** How a task ends within the step: it neither rests nor waits for a provider. */
export type GraphEnd = Extract<TaskEnd, { outcome: 'completed' | 'failed' | 'cancelling' | 'stopped' }>

export interface GraphOfJob {
  jobId: string
  job: JobRun
  /** The number of the request that contains the graph. */
  ask: number
  /** Its tasks that are not completed, and what they wait for. */
  graph: Pick<OpenTasks, 'tasks' | 'waitsFor'>
  fence: Fence
  signal: AbortSignal
  onProgress: OnProgress
}

/** Is told how many tasks are completed, of those that were open when the step began. */
export type OnProgress = (done: number, of: number) => void

/** Why a task that has not ended does not run now. */
interface Rest {
  /** By the clock of `performance`, in milliseconds. */
  until: number
  /** What the step throws when no task of the graph runs. @param ms until the last of them would run again. */
  pause(ms: number): Error
  /** The task failed, and must not be tried again before. */
  isDue: boolean
}

/**
 * @returns `completed` once all tasks are. Any other end is that of the first task that has it; no task runs any more.
 * @throws what lets the step be tried again later, so that no slot waits: nothing is running then.
 */
export async function runGraph(deps: ExecuteDeps, graph: GraphOfJob): Promise<GraphEnd> {
  const ofTasks = { ...deps, announce: deps.announceTasks ?? deps.announce }
  const { signal, onProgress } = graph
  const { tasks, waitsFor } = graph.graph
  const order = taskOrder(tasks, waitsFor)
  const runs = await loadTaskRuns(deps.db, graph.jobId, graph.ask)
  const ending = new AbortController()
  const either = AbortSignal.any([signal, ending.signal])
  const began = performance.now()
  const underWay = new Map<string, Promise<void>>()
  const rests = new Map<string, Rest>()
  let done = 0
  let reason: { end: GraphEnd } | { error: unknown } | null = null
  const stop = (why: NonNullable<typeof reason>) => {
    reason ??= why
    ending.abort()
  }
  const stopIfNoneRuns = () => {
    if (underWay.size > 0 && rests.size === underWay.size) stop({ error: pauseOf([...rests.values()]) })
  }

  async function toItsEnd(key: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      const tried = await tryTask(ofTasks, { ...graph, signal: either }, { key, task: runs.get(key)! }, tries)
      if ('end' in tried) {
        if (tried.end.outcome !== 'completed') return stop(tried)
        order.done(key)
        return onProgress(++done, tasks.length)
      }
      rests.set(key, tried)
      stopIfNoneRuns()
      await sleep(tried.until - performance.now(), undefined, { signal: either })
      rests.delete(key)
    }
  }
  const start = (key: string) => {
    const task = toItsEnd(key)
      .catch((error: unknown) => stop({ error }))
      .finally(() => {
        underWay.delete(key)
        rests.delete(key)
      })
    underWay.set(key, task)
  }

  while (!reason) {
    const mayStart = performance.now() - began < STEP_MS_MAX
    while (mayStart && order.ready.length > 0 && underWay.size < TASKS_UNDER_WAY) start(order.ready.shift()!)
    stopIfNoneRuns()
    if (underWay.size === 0) break
    await Promise.race(underWay.values())
  }
  await Promise.all(underWay.values())
  const why = reason as { end: GraphEnd } | { error: unknown } | null
  if (why && 'error' in why) throw why.error
  if (why) return why.end
  if (done === tasks.length) return { outcome: 'completed' }
  if (order.ready.length > 0) throw notYet('the graph continues in the next try of the step', 1)
  return { outcome: 'failed', error: waitForEachOther }
}

const waitForEachOther: JobError = { code: 'internal_error', message: 'tasks wait for each other' }

/** One try of a task: how it ended, or why it is tried again later. */
async function tryTask(
  deps: ExecuteDeps,
  { jobId, job, fence, signal }: GraphOfJob,
  { key, task }: { key: string; task: TaskRun },
  tries: number
): Promise<{ end: GraphEnd } | Rest> {
  const later = (error: Error): Rest => ({
    until: performance.now() + pauseMs(tries, Math.random(), REST_MS_MAX),
    pause: () => error,
    isDue: false
  })
  const act = async (): Promise<TaskEnd | Rest> => {
    try {
      return await runTask(deps, jobId, key, fence, signal, { job, task })
    } catch (error) {
      if (error instanceof ComeBackLater) return later(error)
      throw error
    }
  }
  try {
    const end = await withTries(deps, 'runTask', { jobId, task: key }, signal, act)
    if ('until' in end) return end
    if (end.outcome === 'retry') {
      const { error, afterMs } = end
      return { until: performance.now() + afterMs, pause: (ms) => retryAfter(error, ms), isDue: true }
    }
    if (end.outcome === 'circuit') throw new Error(`task ${key} of job ${jobId} requests a circuit`)
    return { end }
  } catch (error) {
    if (signal.aborted || !isPassing(error)) throw error
    return later(error as Error)
  }
}

/** The database is away, or another statement was in the way. */
const isPassing = (error: unknown): boolean =>
  !(error instanceof ApplicationFailure) && ['away', 'conflict'].includes(errorKind(error))

/** Ends a step whose tasks all rest: it is tried again when each of them may run. */
function pauseOf(rests: readonly Rest[]): Error {
  const ms = Math.max(0, ...rests.map(({ until }) => until)) - performance.now()
  return (rests.find(({ isDue }) => isDue) ?? rests[0]!).pause(Math.max(1, ms))
}
