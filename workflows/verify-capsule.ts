// One scheduled time of a capsule: create the due run, and stay open until it has finished, so that Temporal skips
// overlapping times. The run itself proceeds by its jobs, whatever happens to this workflow.
import { patched, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow'
import type { CapsuleActivities } from '../activities/capsule/capsule-activities.js'
import { scheduleQueueOf } from '../domain/jobs/dispatch.js'
import type { ScheduledCapsule } from '../domain/verification/schedule-names.js'
import { databaseStep, providerQueue } from './job-steps.js'

// Many runs can be due in the same minute, and start a few at a time.
const startTimeout = { startToCloseTimeout: '2 minutes' } as const

const awaiting = {
  startToCloseTimeout: '30 seconds',
  // The activity sets the time of its next try. These retries cover a database that is down.
  retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '60 seconds' }
} as const

/** A workflow of an earlier release stays on the queue that it had. */
const scheduleQueue = () =>
  patched('schedule-queue') ? { taskQueue: scheduleQueueOf(workflowInfo().taskQueue) } : providerQueue()

/** @returns the verdict; or how the run ended without one; or why there was none. */
export async function verifyCapsule({ capsuleId, version }: ScheduledCapsule): Promise<string> {
  const queue = scheduleQueue()
  // A local activity that waits for its turn would hold a slot that the workflows of all jobs share.
  const { startScheduledRun } =
    'taskQueue' in queue
      ? proxyActivities<CapsuleActivities>({ retry: databaseStep.retry, ...startTimeout, ...queue })
      : proxyLocalActivities<CapsuleActivities>({ ...databaseStep, ...startTimeout })
  const { awaitRun } = proxyActivities<CapsuleActivities>({ ...awaiting, ...queue })
  const started = await startScheduledRun({ capsuleId, version, scheduledAt: dueTime().toISOString() })
  return started.next === 'end' ? started.outcome : awaitRun({ runId: started.runId })
}

/** The time that the schedule named, however late the start is; for a manual start, the time of the start. */
function dueTime(): Date {
  const { searchAttributes, startTime } = workflowInfo()
  const [meant] = (searchAttributes.TemporalScheduledStartTime ?? []) as (Date | string)[]
  return meant === undefined ? startTime : new Date(meant)
}
