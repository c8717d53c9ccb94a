// What every job's workflow does alike: its short database steps, and when a failed step is tried again.
import { proxyLocalActivities } from '@temporalio/workflow'
import type { JobActivities } from '../activities/activities.js'
import { executionRetry } from '../domain/retry.js'

export const { beginJob, completeJob, failJob, recordCancelled } = proxyLocalActivities<JobActivities>({
  startToCloseTimeout: '20 seconds',
  // The database may be away for long: these steps wait it out, every 5 s at the latest.
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '5 seconds' }
})

export const stepRetry = {
  initialInterval: executionRetry.firstWaitMs,
  backoffCoefficient: executionRetry.factor,
  maximumInterval: executionRetry.longestWaitMs
}
