// What every job's workflow does alike: its short database steps, and how long its other steps may take and when they are
// tried again.
import { ActivityCancellationType, proxyLocalActivities } from '@temporalio/workflow'
import type { JobActivities } from '../activities/job/job-activities.js'
import { executionRetry } from '../domain/jobs/retry.js'

/** A local activity that asks the database alone. */
export const databaseStep = {
  startToCloseTimeout: '20 seconds',
  // The database may be away for long: these steps wait it out, every 5 s at the latest.
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 seconds' }
} as const

export const { beginJob, completeJob, failJob, recordCancelled } = proxyLocalActivities<JobActivities>(databaseStep)

const step = {
  heartbeatTimeout: '10 seconds',
  // Whoever goes on after a cancel finds the step really ended: no run is left, no answer comes into its middle.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // Steps say when a failure is final, and may name the time of the next try; what is left to retry is what was lost.
  retry: {
    initialInterval: executionRetry.firstWaitMs,
    backoffCoefficient: executionRetry.factor,
    maximumInterval: executionRetry.longestWaitMs
  }
} as const

/** A step that waits for the executor, which bounds the work itself; an absent executor is waited for for 24 hours. */
export const executorStep = { ...step, startToCloseTimeout: '26 hours' } as const

/** One try at a provider: a look-up through a long list and one request. */
export const providerStep = { ...step, startToCloseTimeout: '10 minutes' } as const
