// What the workflows of all jobs share: the short database steps, and the time-outs and retries of their other steps.
import {
  ActivityCancellationType,
  type ActivityInterfaceFor,
  patched,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo
} from '@temporalio/workflow'
import type { JobActivities } from '../activities/job/job-activities.js'
import type { ProviderActivities } from '../activities/provider/provider-activities.js'
import { providerQueueOf } from '../domain/jobs/dispatch.js'
import { executionRetry } from '../domain/jobs/retry.js'

/**
 * A local activity that only uses the database. It holds one of the worker's slots for workflow tasks, so every pause
 * before another try is a timer, which holds none. The activity names the pause itself (activities/job/step.ts), and ends
 * the job when no repetition would help.
 */
export const databaseStep = {
  startToCloseTimeout: '8 seconds',
  localRetryThreshold: '100 ms',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '30 seconds' }
} as const

export const { beginJob, completeJob, failJob, recordCancelled } = proxyLocalActivities<JobActivities>(databaseStep)

const step = {
  heartbeatTimeout: '10 seconds',
  // Code that runs after a cancel finds the step finished: no run is left over, and no response arrives in between.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // Steps decide whether a failure is final, and can set the time of the next try. These retries cover lost tries.
  retry: {
    initialInterval: executionRetry.firstWaitMs,
    backoffCoefficient: executionRetry.factor,
    maximumInterval: executionRetry.longestWaitMs
  }
} as const

/**
 * A step that waits for the executor, which limits the work itself. An absent executor is waited for up to 24 hours.
 */
export const executorStep = { ...step, startToCloseTimeout: '26 hours' } as const

/** One try at a provider: a look-up through a long list, and one request. */
const providerStep = { ...step, startToCloseTimeout: '10 minutes' } as const

/** Where no simulation keeps a step waiting. A workflow of an earlier release stays on its only queue. */
export const providerQueue = () =>
  patched('provider-queue') ? { taskQueue: providerQueueOf(workflowInfo().taskQueue) } : {}

let steps: ActivityInterfaceFor<ProviderActivities> | null = null

/** The steps at a provider. The first use in a workflow chooses their queue for all later ones. */
export function providerSteps(): ActivityInterfaceFor<ProviderActivities> {
  steps ??= proxyActivities<ProviderActivities>({ ...providerStep, ...providerQueue() })
  return steps
}
