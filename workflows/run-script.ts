// Runs a script to its result: run it until it makes a request, answer the request, resume it. On a local engine, the step
// that runs the script runs its graphs as well (activities/job/run-graph.ts); at a provider each task is a step. Tasks start
// as soon as their own inputs exist. The database stores the progress of a graph, so that a new execution of the
// workflow (after a loss, or to begin a new history) continues with what is left.
import {
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo
} from '@temporalio/workflow'
import type { ExecuteOutcome, JobActivities } from '../activities/job/job-activities.js'
import type { TaskActivities } from '../activities/job/task-activities.js'
import type { JobHandOver } from '../domain/jobs/dispatch.js'
import { TASKS_UNDER_WAY, taskOrder } from '../domain/jobs/task-order.js'
import { databaseStep, executorStep } from './job-steps.js'
import { runCircuit } from './provider-task.js'

/** A new history begins well before the server's limit of 51,200 events. */
const HISTORY_EVENTS = 8_000

const { execute } = proxyActivities<JobActivities>(executorStep)
const { runTask } = proxyActivities<TaskActivities>(executorStep)
const { openTasks } = proxyLocalActivities<TaskActivities>(databaseStep)

export type ScriptOutcome = Exclude<ExecuteOutcome, { ask: number }>

/** Runs a job's program to its end, including all its requests. */
export async function runScript(job: JobHandOver): Promise<ScriptOutcome> {
  while (true) {
    setCurrentDetails('running the program')
    const answer = await execute(job)
    if (!('ask' in answer)) return answer
    setCurrentDetails(`running what the program requested: request ${answer.ask}`)
    const done = answer.next === 'tasks' ? await runTasks(job, answer.ask) : await circuit(job, '', answer.ask)
    if (done.next !== 'done') return done
    if (historyIsLong()) await continueAsNew(job)
  }
}

type Done = { next: 'done' } | { next: 'cancel' } | { next: 'stop' }

const historyIsLong = () => workflowInfo().historyLength > HISTORY_EVENTS

/** @throws the failure of a task that failed for good, once no other task is running. */
async function runTasks(job: JobHandOver, ask: number): Promise<Done> {
  const { tasks, waitsFor } = await openTasks({ ...job, ask })
  const order = taskOrder(tasks, waitsFor)
  const underWay = new Set<Promise<void>>()
  const scope = new CancellationScope()
  let left = tasks.length
  let ending: { end: Done } | { failure: unknown } | null = null
  const end = (reason: { end: Done } | { failure: unknown }) => {
    ending ??= reason
    scope.cancel()
  }

  const start = (key: string) => {
    const running = scope
      .run(() => taskToItsEnd(job, key))
      .then((done) => {
        if (done.next === 'later') return
        if (done.next !== 'done') return end({ end: done })
        left--
        order.done(key)
      })
      .catch((failure) => end({ failure }))
      .finally(() => underWay.delete(running))
    underWay.add(running)
  }

  while (!ending) {
    while (!ending && order.ready.length > 0 && underWay.size < TASKS_UNDER_WAY && !historyIsLong())
      start(order.ready.shift()!)
    if (underWay.size === 0) break
    await Promise.race(underWay)
  }
  await Promise.allSettled(underWay)
  const reason = ending as { end: Done } | { failure: unknown } | null
  if (reason && 'failure' in reason) throw reason.failure
  if (reason) return reason.end
  if (left === 0) return { next: 'done' }
  if (!historyIsLong()) throw ApplicationFailure.nonRetryable('tasks wait for each other', 'internal_error')
  // All running tasks have finished; the remaining ones start in the new history.
  return continueAsNew(job)
}

/** `later`: the task continues in the new history. */
async function taskToItsEnd(job: JobHandOver, task: string): Promise<Done | { next: 'later' }> {
  while (true) {
    const answer = await runTask({ ...job, task })
    if (!('ask' in answer)) return answer
    const done = await circuit(job, task, answer.ask)
    if (done.next !== 'done') return done
    if (historyIsLong()) return { next: 'later' }
  }
}

async function circuit(job: JobHandOver, task: string, ask: number): Promise<Done> {
  const next = await runCircuit(job, { task, ask })
  return { next: next === 'answered' ? 'done' : next }
}
