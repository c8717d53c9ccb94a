// Every path through the runJob workflow. The activities return what the real ones would. The same paths are run,
// recorded as golden histories (RECORD_HISTORIES=1 npm test -- run-job) and replayed.
import { ApplicationFailure } from '@temporalio/activity'
import type { JobActivities } from '../../activities/job/job-activities.js'
import { RUN_JOB_WORKFLOW } from '../../domain/jobs/dispatch.js'
import { cancelWhenCalled, lostUnderCancel, noted, type Path, untilCancelled } from './path.js'

const digest = 'a'.repeat(64)

const activitiesOf = (calls: string[], changed: Partial<JobActivities> = {}): object =>
  noted(calls, {
    beginJob: async () => 'begin',
    execute: async () => ({ next: 'complete', resultSha256: digest }),
    completeJob: async () => 'completed',
    failJob: async () => 'failed',
    recordCancelled: async () => 'cancelled',
    ...changed
  } satisfies JobActivities)

const databaseAway: Omit<Path, 'name' | 'workflow'> = {
  activities: (calls) => {
    const away = new Set<string>()
    const onceAway =
      <T>(name: string, answer: T) =>
      async (): Promise<T> => {
        if (away.has(name)) return answer
        away.add(name)
        throw new Error('connect ECONNREFUSED')
      }
    return activitiesOf(calls, {
      beginJob: onceAway('beginJob', 'begin' as const),
      execute: onceAway('execute', { next: 'complete' as const, resultSha256: digest }),
      completeJob: onceAway('completeJob', 'completed' as const)
    })
  },
  expected: {
    answer: 'completed',
    calls: ['beginJob', 'beginJob', 'execute', 'execute', 'completeJob', 'completeJob']
  }
}

const onEngine: Omit<Path, 'workflow'>[] = [
  {
    name: 'completed',
    activities: (calls) => activitiesOf(calls),
    expected: { answer: 'completed', calls: ['beginJob', 'execute', 'completeJob'] }
  },
  {
    name: 'completed-by-its-execution',
    activities: (calls) =>
      activitiesOf(calls, { execute: async () => ({ next: 'complete', resultSha256: digest, ended: true }) }),
    expected: { answer: 'completed', calls: ['beginJob', 'execute'] }
  },
  {
    name: 'resumed',
    activities: (calls) => activitiesOf(calls, { beginJob: async () => 'resume' }),
    expected: { answer: 'completed', calls: ['beginJob', 'execute', 'completeJob'] }
  },
  {
    name: 'stopped-at-begin',
    activities: (calls) => activitiesOf(calls, { beginJob: async () => 'stop' }),
    expected: { answer: 'stopped', calls: ['beginJob'] }
  },
  {
    name: 'cancelling-at-begin',
    activities: (calls) => activitiesOf(calls, { beginJob: async () => 'cancel' }),
    meanwhile: cancelWhenCalled('recordCancelled'),
    expected: { answer: 'cancelled', calls: ['beginJob', 'recordCancelled'] }
  },
  {
    name: 'cancelling-without-a-request',
    activities: (calls) => activitiesOf(calls, { beginJob: async () => 'cancel' }),
    expected: { answer: 'completed: cancelled', calls: ['beginJob', 'recordCancelled'] }
  },
  {
    name: 'failed',
    activities: (calls) =>
      activitiesOf(calls, {
        execute: async () => {
          throw ApplicationFailure.nonRetryable('the circuit is not valid', 'execution_error')
        }
      }),
    expected: { answer: 'failed: execution_error', calls: ['beginJob', 'execute', 'failJob'] }
  },
  {
    name: 'lost-then-completed',
    activities: (calls) => {
      let runs = 0
      return activitiesOf(calls, {
        execute: async () => {
          if (runs++ === 0)
            throw ApplicationFailure.retryable('the execution service went away', 'execution_service_lost')
          return { next: 'complete', resultSha256: digest }
        }
      })
    },
    expected: { answer: 'completed', calls: ['beginJob', 'execute', 'execute', 'completeJob'] }
  },
  {
    name: 'taken-while-executing',
    activities: (calls) => activitiesOf(calls, { execute: async () => ({ next: 'stop' }) }),
    expected: { answer: 'stopped', calls: ['beginJob', 'execute'] }
  },
  {
    name: 'cancelling-found-by-execute',
    activities: (calls) => activitiesOf(calls, { execute: async () => ({ next: 'cancel' }) }),
    meanwhile: cancelWhenCalled('recordCancelled'),
    expected: { answer: 'cancelled', calls: ['beginJob', 'execute', 'recordCancelled'] }
  },
  {
    name: 'cancelled-while-executing',
    activities: (calls) => activitiesOf(calls, { execute: untilCancelled }),
    meanwhile: cancelWhenCalled('execute'),
    expected: { answer: 'cancelled', calls: ['beginJob', 'execute', 'recordCancelled'] }
  },
  {
    name: 'lost-while-cancelled',
    activities: (calls) => activitiesOf(calls, { execute: lostUnderCancel }),
    meanwhile: cancelWhenCalled('execute'),
    expected: { answer: 'cancelled', calls: ['beginJob', 'execute', 'recordCancelled'] }
  },
  {
    name: 'begin-fails-for-good',
    activities: (calls) =>
      activitiesOf(calls, {
        beginJob: async () => {
          throw ApplicationFailure.nonRetryable('a fault', 'internal_error')
        }
      }),
    expected: { answer: 'failed: internal_error', calls: ['beginJob', 'failJob'] }
  },
  {
    name: 'completion-fails-for-good',
    activities: (calls) =>
      activitiesOf(calls, {
        completeJob: async () => {
          throw ApplicationFailure.nonRetryable('a fault', 'internal_error')
        }
      }),
    expected: { answer: 'failed: internal_error', calls: ['beginJob', 'execute', 'completeJob', 'failJob'] }
  },
  // Recorded when local activities waited in their slot.
  { name: 'database-away-at-every-step', ...databaseAway },
  // Recorded since their pauses are timers.
  { name: 'database-away-with-pauses', ...databaseAway }
]

export const paths: Path[] = onEngine.map((path) => ({ ...path, workflow: RUN_JOB_WORKFLOW }))
