// One time of a capsule's schedule: make the run that is due, and stay until it is over, so that the engine skips the times
// that come meanwhile. The run itself goes on by its jobs, whatever becomes of this workflow.
import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow'
import type { CapsuleActivities } from '../activities/capsule/capsule-activities.js'
import type { ScheduledCapsule } from '../domain/verification/schedule-names.js'
import { databaseStep } from './job-steps.js'

const { startScheduledRun } = proxyLocalActivities<CapsuleActivities>({
  ...databaseStep,
  // Many may be due in the same minute, and are made a few at a time.
  startToCloseTimeout: '2 minutes'
})

const { awaitRun } = proxyActivities<CapsuleActivities>({
  startToCloseTimeout: '30 seconds',
  // It says itself when to look again; this is for when the database is away.
  retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '60 seconds' }
})

/** @returns the verdict; how the run ended without one; or why there was none. */
export async function verifyCapsule({ capsuleId, version }: ScheduledCapsule): Promise<string> {
  const started = await startScheduledRun({ capsuleId, version, scheduledAt: dueTime().toISOString() })
  return started.next === 'end' ? started.outcome : awaitRun({ runId: started.runId })
}

/** The time that the schedule meant, however late the start is; without a schedule (by hand) that of the start. */
function dueTime(): Date {
  const { searchAttributes, startTime } = workflowInfo()
  const [meant] = (searchAttributes.TemporalScheduledStartTime ?? []) as (Date | string)[]
  return meant === undefined ? startTime : new Date(meant)
}
