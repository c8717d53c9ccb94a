// The life of a job on an engine of our own: begin, execute, complete; any failure fails the job, a cancel (from the API or the
// Temporal UI) ends it as cancelled. Short database steps are local activities; only `execute` is a regular one. No
// circuit and no result crosses the history: steps hand over ids and digests.
import {
  ActivityCancellationType,
  CancellationScope,
  proxyActivities,
  upsertSearchAttributes,
  workflowInfo
} from '@temporalio/workflow'
import type { JobActivities } from '../activities/activities.js'
import { type JobHandOver, searchAttributes } from '../domain/dispatch.js'
import type { JobStatus } from '../domain/job-status.js'
import { isCancel, jobErrorOf } from './job-error.js'
import { beginJob, completeJob, failJob, recordCancelled, stepRetry } from './job-steps.js'

const { execute } = proxyActivities<JobActivities>({
  // The activity itself bounds a run by the job's time limit and an absent executor by 24 hours.
  startToCloseTimeout: '26 hours',
  heartbeatTimeout: '10 seconds',
  // A job is cancelled only when its run has really ended.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // It says when a failure is final; what is left to retry is a lost execution or a lost worker.
  retry: stepRetry
})

export async function runJob({ jobId, generation }: JobHandOver): Promise<JobStatus | 'stopped'> {
  const job = { jobId, generation }
  const beginning = await CancellationScope.nonCancellable(() => beginJob({ ...job, runId: workflowInfo().runId }))
  if (beginning === 'stop') return 'stopped'
  const status = await endOf(job, beginning)
  if (status !== 'stopped') upsertSearchAttributes({ [searchAttributes.status]: [status] })
  return status
}

async function endOf(job: JobHandOver, beginning: 'begin' | 'resume' | 'cancel'): Promise<JobStatus | 'stopped'> {
  const cancelled = () =>
    CancellationScope.nonCancellable(() => recordCancelled({ ...job, outcome: 'stopped_before_provider' }))
  if (beginning === 'cancel') return cancelled()
  try {
    const answer = await execute(job)
    if (answer.next === 'stop') return 'stopped'
    if (answer.next === 'cancel') return await cancelled()
    // A cancel that comes now is too late: what is finished stays finished.
    return await CancellationScope.nonCancellable(() => completeJob({ ...job, resultSha256: answer.resultSha256 }))
  } catch (error) {
    if (isCancel(error)) return cancelled()
    return CancellationScope.nonCancellable(() => failJob({ ...job, error: jobErrorOf(error) }))
  }
}
