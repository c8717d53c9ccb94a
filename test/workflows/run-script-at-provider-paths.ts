// Paths of runJobAtProvider in which the program is a script that requests circuits while it runs, itself or in a task.
import { ApplicationFailure } from '@temporalio/activity'
import type { JobActivities } from '../../activities/job/job-activities.js'
import type { TaskActivities } from '../../activities/job/task-activities.js'
import type { ProviderActivities } from '../../activities/provider/provider-activities.js'
import { RUN_JOB_AT_PROVIDER_WORKFLOW } from '../../domain/jobs/dispatch.js'
import { cancelWhenCalled, noted, type Path, untilCancelled } from './path.js'

type Activities = JobActivities &
  TaskActivities &
  Omit<ProviderActivities, 'submitToProvider' | 'followTask' | 'collectResult'>

const digest = 'a'.repeat(64)

/** Returns one response after the other, and then repeats the last one. */
function inTurn<T>(...answers: T[]): () => Promise<T> {
  const left = [...answers]
  return async () => (left.length > 1 ? left.shift()! : left[0]!)
}

const path = (
  name: string,
  changed: () => Partial<Activities>,
  expected: Path['expected'],
  meanwhile?: Path['meanwhile']
): Path => ({
  name: `provider-script-${name}`,
  workflow: RUN_JOB_AT_PROVIDER_WORKFLOW,
  activities: (calls) =>
    noted(calls, {
      beginJob: async () => 'begin',
      prepareProgram: async () => ({ next: 'script' }),
      execute: inTurn<Awaited<ReturnType<JobActivities['execute']>>>(
        { next: 'circuit', ask: 1 },
        { next: 'complete', resultSha256: digest }
      ),
      openTasks: async () => ({ tasks: ['task_0001'], waitsFor: [[]], failed: null }),
      runTask: inTurn<Awaited<ReturnType<TaskActivities['runTask']>>>({ next: 'circuit', ask: 1 }, { next: 'done' }),
      prepareCircuit: async () => ({ next: 'submit' }),
      submitCircuit: async () => ({ next: 'follow' }),
      followCircuit: async () => ({ next: 'collect' }),
      collectCircuit: async () => ({ next: 'answered' }),
      cancelAtProvider: async () => ({ next: 'cancelled', outcome: 'provider_confirmed' }),
      completeJob: async () => 'completed',
      failJob: async () => 'failed',
      recordCancelled: async () => 'cancelled',
      ...changed()
    } satisfies Activities),
  expected,
  ...(meanwhile && { meanwhile })
})

const asked = ['beginJob', 'prepareProgram', 'execute', 'prepareCircuit']
const circuit = ['prepareCircuit', 'submitCircuit', 'followCircuit', 'collectCircuit']
const refused = async () => {
  throw ApplicationFailure.nonRetryable('no room for it', 'budget_exceeded')
}

export const scriptPaths: Path[] = [
  path('completed', () => ({}), {
    answer: 'completed',
    calls: ['beginJob', 'prepareProgram', 'execute', ...circuit, 'execute', 'completeJob']
  }),
  path('not-compiled', () => ({ prepareCircuit: async () => ({ next: 'answered' }) }), {
    answer: 'completed',
    calls: [...asked, 'execute', 'completeJob']
  }),
  path(
    'with-a-task',
    () => ({
      execute: inTurn<Awaited<ReturnType<JobActivities['execute']>>>(
        { next: 'tasks', ask: 1 },
        { next: 'complete', resultSha256: digest }
      )
    }),
    {
      answer: 'completed',
      calls: [
        ...['beginJob', 'prepareProgram', 'execute', 'openTasks', 'runTask', ...circuit],
        ...['runTask', 'execute', 'completeJob']
      ]
    }
  ),
  path('refused', () => ({ submitCircuit: refused }), {
    answer: 'failed: budget_exceeded',
    calls: [...asked, 'submitCircuit', 'cancelAtProvider', 'failJob']
  }),
  path('taken-while-failing', () => ({ submitCircuit: refused, cancelAtProvider: async () => ({ next: 'stop' }) }), {
    answer: 'stopped',
    calls: [...asked, 'submitCircuit', 'cancelAtProvider']
  }),
  path('taken-while-followed', () => ({ followCircuit: async () => ({ next: 'stop' }) }), {
    answer: 'stopped',
    calls: [...asked, 'submitCircuit', 'followCircuit']
  }),
  path(
    'cancelling-at-submission',
    () => ({ submitCircuit: async () => ({ next: 'cancel' }) }),
    { answer: 'cancelled', calls: [...asked, 'submitCircuit', 'cancelAtProvider', 'recordCancelled'] },
    cancelWhenCalled('recordCancelled')
  ),
  path(
    'cancelled-while-followed',
    () => ({ followCircuit: untilCancelled }),
    {
      answer: 'cancelled',
      calls: [...asked, 'submitCircuit', 'followCircuit', 'cancelAtProvider', 'recordCancelled']
    },
    cancelWhenCalled('followCircuit')
  )
]
