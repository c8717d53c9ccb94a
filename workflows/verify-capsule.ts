// One scheduled time of a capsule: create the due run, and stay open until it has finished, so that Temporal skips
// overlapping times. The run itself proceeds by its jobs, whatever happens to this workflow.
import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow'
import type { CapsuleActivities } from '../activities/capsule/capsule-activities.js'
import type { ScheduledCapsule } from '../domain/verification/schedule-names.js'
import { databaseStep } from './job-steps.js'

const { startScheduledRun } = proxyLocalActivities<CapsuleActivities>({
  ...databaseStep,
  // Many can be due in the same minute, and are created a few at a time.
  startToCloseTimeout: '2 minutes'
})

const { awaitRun } = proxyActivities<CapsuleActivities>({
  startToCloseTimeout: '30 seconds',
  // The activity sets the time of its next try. These retries cover a database that is down.
  retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '60 seconds' }
})

/** @returns the verdict; or how the run ended without one; or why there was none. */
export async function verifyCapsule({ capsuleId, version }: ScheduledCapsule): Promise<string> {
  const started = await startScheduledRun({ capsuleId, version, scheduledAt: dueTime().toISOString() })
  return started.next === 'end' ? started.outcome : awaitRun({ runId: started.runId })
}

/** The time that the schedule named, however late the start is; for a manual start, the time of the start. */
function dueTime(): Date {
  const { searchAttributes, startTime } = workflowInfo()
  const [meant] = (searchAttributes.TemporalScheduledStartTime ?? []) as (Date | string)[]
  return meant === undefined ? startTime : new Date(meant)
}
