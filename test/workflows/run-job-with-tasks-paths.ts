// Paths of runJob in which the script requests a graph of tasks. The activities return what the real ones would, and
// hold the state that the database would.
import { ApplicationFailure } from '@temporalio/activity'
import type { JobActivities } from '../../activities/job/job-activities.js'
import type { TaskActivities } from '../../activities/job/task-activities.js'
import { RUN_JOB_WORKFLOW } from '../../domain/jobs/dispatch.js'
import { cancelWhenCalled, noted, type Path, untilCancelled } from './path.js'

const digest = 'a'.repeat(64)

/** The tasks that each task waits for. */
type Graph = Record<string, string[]>

const MANY = Array.from({ length: 2_800 }, (_, at) => `task_${at}`)

const diamond: Graph = { top: [], left: ['top'], right: ['top'], bottom: ['left', 'right'] }

interface Scene {
  graph: Graph
  runTask?: (task: string, done: Set<string>) => Promise<Awaited<ReturnType<TaskActivities['runTask']>>>
}

/** A job whose script requests one graph and returns its output. */
function activitiesOf(calls: string[], { graph, runTask }: Scene): object {
  const done = new Set<string>()
  const plain = noted(calls, {
    beginJob: async () => 'begin',
    execute: async () =>
      done.size < Object.keys(graph).length ? { next: 'tasks', ask: 1 } : { next: 'complete', resultSha256: digest },
    completeJob: async () => 'completed',
    failJob: async () => 'failed',
    recordCancelled: async () => 'cancelled',
    openTasks: async () => {
      const tasks = Object.keys(graph).filter((key) => !done.has(key))
      const waitsFor = tasks.map((key) => graph[key]!.flatMap((of) => (done.has(of) ? [] : tasks.indexOf(of))))
      return { tasks, waitsFor, failed: null }
    }
  } satisfies JobActivities & Omit<TaskActivities, 'runTask'>)
  return {
    ...plain,
    async runTask({ task }: { task: string }) {
      calls.push(`runTask ${task}`)
      const missing = graph[task]!.filter((of) => !done.has(of))
      if (missing.length > 0) throw ApplicationFailure.nonRetryable(`${task} before ${missing}`, 'internal_error')
      const answer = (await runTask?.(task, done)) ?? { next: 'done' }
      if (answer.next === 'done') done.add(task)
      return answer
    }
  }
}

const withTasks: Omit<Path, 'workflow'>[] = [
  {
    name: 'tasks-in-order',
    activities: (calls) => activitiesOf(calls, { graph: { one: [], two: ['one'], three: ['two'] } }),
    expected: {
      answer: 'completed',
      calls: [
        'beginJob',
        'execute',
        'openTasks',
        'runTask one',
        'runTask two',
        'runTask three',
        'execute',
        'completeJob'
      ]
    }
  },
  {
    name: 'tasks-of-a-diamond',
    // The left task waits until the right one begins: either they run concurrently, or the job never ends.
    activities: (calls) => {
      let rightHasBegun = () => {}
      const right = new Promise<void>((resolve) => {
        rightHasBegun = resolve
      })
      return activitiesOf(calls, {
        graph: diamond,
        runTask: async (task) => {
          if (task === 'right') rightHasBegun()
          if (task === 'left') await right
          return { next: 'done' }
        }
      })
    },
    expected: {
      answer: 'completed',
      calls: [
        'beginJob',
        'execute',
        'openTasks',
        'runTask top',
        'runTask left',
        'runTask right',
        'runTask bottom',
        'execute',
        'completeJob'
      ]
    }
  },
  {
    name: 'task-that-fails',
    // Tasks that run at the same time are cancelled, and tasks that wait for the failed one never start.
    activities: (calls) => {
      let leftRuns = () => {}
      const left = new Promise<void>((resolve) => {
        leftRuns = resolve
      })
      return activitiesOf(calls, {
        graph: diamond,
        runTask: async (task) => {
          if (task === 'left') {
            leftRuns()
            return untilCancelled()
          }
          if (task !== 'right') return { next: 'done' }
          await left
          throw ApplicationFailure.nonRetryable("task 'right': ValueError: no", 'execution_error')
        }
      })
    },
    expected: {
      answer: 'failed: execution_error',
      calls: ['beginJob', 'execute', 'openTasks', 'runTask top', 'runTask left', 'runTask right', 'failJob']
    }
  },
  {
    name: 'task-tried-again',
    activities: (calls) => {
      let tries = 0
      return activitiesOf(calls, {
        graph: { one: [] },
        runTask: async () => {
          if (tries++ < 2)
            throw ApplicationFailure.create({ type: 'execution_error', message: 'not yet', nextRetryDelay: 50 })
          return { next: 'done' }
        }
      })
    },
    expected: {
      answer: 'completed',
      calls: ['beginJob', 'execute', 'openTasks', 'runTask one', 'runTask one', 'runTask one', 'execute', 'completeJob']
    }
  },
  {
    name: 'cancelled-with-tasks-under-way',
    activities: (calls) => activitiesOf(calls, { graph: diamond, runTask: untilCancelled }),
    meanwhile: cancelWhenCalled('runTask top'),
    expected: { answer: 'cancelled', calls: ['beginJob', 'execute', 'openTasks', 'runTask top', 'recordCancelled'] }
  },
  {
    name: 'cancelling-found-by-a-task',
    activities: (calls) => activitiesOf(calls, { graph: diamond, runTask: async () => ({ next: 'cancel' }) }),
    meanwhile: cancelWhenCalled('recordCancelled'),
    expected: { answer: 'cancelled', calls: ['beginJob', 'execute', 'openTasks', 'runTask top', 'recordCancelled'] }
  },
  {
    name: 'taken-while-a-task-runs',
    activities: (calls) => activitiesOf(calls, { graph: diamond, runTask: async () => ({ next: 'stop' }) }),
    expected: { answer: 'stopped', calls: ['beginJob', 'execute', 'openTasks', 'runTask top'] }
  }
]

export const taskPaths: Path[] = withTasks.map((path) => ({ ...path, workflow: RUN_JOB_WORKFLOW }))

/** More events than one history should have. These histories are too long to store. */
export const longPath: Path = {
  name: 'new-history-when-long',
  workflow: RUN_JOB_WORKFLOW,
  activities: (calls) => {
    const counted: string[] = []
    const activities = activitiesOf(counted, { graph: Object.fromEntries(MANY.map((key) => [key, []])) })
    return noted(calls, activities, ['runTask'])
  },
  expected: {
    answer: 'completed',
    calls: ['beginJob', 'execute', 'openTasks', 'beginJob', 'execute', 'openTasks', 'execute', 'completeJob']
  }
}
