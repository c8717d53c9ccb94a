// Every path through the runJobAtProvider workflow. The activities return what the real ones would.
import { ApplicationFailure } from '@temporalio/activity'
import type { JobActivities } from '../../activities/job/job-activities.js'
import type { ProviderActivities } from '../../activities/provider/provider-activities.js'
import { RUN_JOB_AT_PROVIDER_WORKFLOW } from '../../domain/jobs/dispatch.js'
import { cancelWhenCalled, lostUnderCancel, noted, type Path, untilCancelled } from './path.js'

type Activities = Pick<JobActivities, 'beginJob' | 'completeJob' | 'failJob' | 'recordCancelled'> &
  Pick<ProviderActivities, 'prepareProgram' | 'submitToProvider' | 'followTask' | 'collectResult' | 'cancelAtProvider'>

const digest = 'a'.repeat(64)

const path = (
  name: string,
  changed: Partial<Activities>,
  expected: Path['expected'],
  meanwhile?: Path['meanwhile']
): Path => ({
  name: `provider-${name}`,
  workflow: RUN_JOB_AT_PROVIDER_WORKFLOW,
  activities: (calls) =>
    noted(calls, {
      beginJob: async () => 'begin',
      prepareProgram: async () => ({ next: 'submit' }),
      submitToProvider: async () => ({ next: 'follow' }),
      followTask: async () => ({ next: 'collect' }),
      collectResult: async () => ({ next: 'complete', resultSha256: digest }),
      cancelAtProvider: async () => ({ next: 'cancelled', outcome: 'provider_confirmed' }),
      completeJob: async () => 'completed',
      failJob: async () => 'failed',
      recordCancelled: async () => 'cancelled',
      ...changed
    } satisfies Activities),
  expected,
  ...(meanwhile && { meanwhile })
})

const whole = ['beginJob', 'prepareProgram', 'submitToProvider', 'followTask', 'collectResult', 'completeJob']
const notYet = () => ApplicationFailure.create({ type: 'not_yet', message: 'queued', nextRetryDelay: 20 })

/** Fails with "not yet" the first `times` times. */
function after<T>(times: number, answer: T): () => Promise<T> {
  let left = times
  return async () => {
    if (left-- > 0) throw notYet()
    return answer
  }
}

export const providerPaths: Path[] = [
  path('completed', {}, { answer: 'completed', calls: whole }),
  // The others were recorded when all steps had one queue.
  path('on-a-queue-of-its-own', {}, { answer: 'completed', calls: whole }),
  path('resumed', { beginJob: async () => 'resume' }, { answer: 'completed', calls: whole }),
  path('stopped-at-begin', { beginJob: async () => 'stop' }, { answer: 'stopped', calls: ['beginJob'] }),
  path(
    'cancelling-at-begin',
    { beginJob: async () => 'cancel' },
    { answer: 'cancelled', calls: ['beginJob', 'cancelAtProvider', 'recordCancelled'] },
    cancelWhenCalled('recordCancelled')
  ),
  path(
    'begin-fails-for-good',
    {
      beginJob: async () => {
        throw ApplicationFailure.nonRetryable('a fault', 'internal_error')
      }
    },
    { answer: 'failed: internal_error', calls: ['beginJob', 'failJob'] }
  ),
  path(
    'not-compiled',
    {
      prepareProgram: async () => {
        throw ApplicationFailure.nonRetryable('reset is not there', 'unsupported_operation')
      }
    },
    { answer: 'failed: unsupported_operation', calls: ['beginJob', 'prepareProgram', 'failJob'] }
  ),
  path(
    'refused',
    {
      submitToProvider: async () => {
        throw ApplicationFailure.nonRetryable('no credit', 'provider_refused')
      }
    },
    { answer: 'failed: provider_refused', calls: ['beginJob', 'prepareProgram', 'submitToProvider', 'failJob'] }
  ),
  path(
    'cancelled-before-submission',
    { submitToProvider: async () => ({ next: 'cancel' }) },
    {
      answer: 'cancelled',
      calls: ['beginJob', 'prepareProgram', 'submitToProvider', 'cancelAtProvider', 'recordCancelled']
    },
    cancelWhenCalled('recordCancelled')
  ),
  path(
    'waited-for',
    { submitToProvider: after(2, { next: 'follow' }), followTask: after(4, { next: 'collect' }) },
    {
      answer: 'completed',
      calls: [
        ...['beginJob', 'prepareProgram', ...Array(3).fill('submitToProvider'), ...Array(5).fill('followTask')],
        ...['collectResult', 'completeJob']
      ]
    }
  ),
  path(
    'failed-there',
    {
      followTask: async () => {
        throw ApplicationFailure.nonRetryable('the ions have left', 'provider_failed')
      }
    },
    {
      answer: 'failed: provider_failed',
      calls: ['beginJob', 'prepareProgram', 'submitToProvider', 'followTask', 'failJob']
    }
  ),
  path(
    'taken-while-followed',
    { followTask: async () => ({ next: 'stop' }) },
    { answer: 'stopped', calls: ['beginJob', 'prepareProgram', 'submitToProvider', 'followTask'] }
  ),
  path(
    'cancelled-while-followed',
    { followTask: untilCancelled },
    {
      answer: 'cancelled',
      calls: ['beginJob', 'prepareProgram', 'submitToProvider', 'followTask', 'cancelAtProvider', 'recordCancelled']
    },
    cancelWhenCalled('followTask')
  ),
  path(
    'cancelled-between-looks',
    { followTask: lostUnderCancel },
    {
      answer: 'cancelled',
      calls: ['beginJob', 'prepareProgram', 'submitToProvider', 'followTask', 'cancelAtProvider', 'recordCancelled']
    },
    cancelWhenCalled('followTask')
  ),
  path(
    'cancelled-too-late',
    { followTask: untilCancelled, cancelAtProvider: async () => ({ next: 'collect' }) },
    {
      answer: 'completed',
      calls: [
        ...['beginJob', 'prepareProgram', 'submitToProvider', 'followTask', 'cancelAtProvider'],
        ...['collectResult', 'completeJob']
      ]
    },
    cancelWhenCalled('followTask')
  )
]
