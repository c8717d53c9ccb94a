// How the workflow of a job closes: as its job ended, so that a list of workflows in Temporal shows what became of the jobs.
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  patched,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
  workflowInfo
} from '@temporalio/workflow'
import type { ErrorCode } from '../domain/errors.js'
import { STATUS_ATTRIBUTE } from '../domain/jobs/dispatch.js'
import type { JobStatus } from '../domain/jobs/job-status.js'

export interface JobEnd {
  /** `stopped`: another worker has the job. */
  status: JobStatus | 'stopped'
  /** Of a failed job. */
  code?: ErrorCode
}

/** Workflows of earlier releases were completed, whatever became of their jobs. */
const closesLikeItsJob = () => patched('closes-like-its-job')

/** With the prefix that it was started with. */
const statusAttribute = (): string =>
  Object.keys(workflowInfo().searchAttributes).find((name) => name.endsWith(STATUS_ATTRIBUTE)) ?? STATUS_ATTRIBUTE

/** The cancel of a job that the database already calls `cancelling` is on its way to its workflow. */
const CANCEL_ARRIVES_WITHIN = '2 seconds'

/**
 * @returns the status of a job that is completed, or that another worker has.
 * @throws ApplicationFailure for a failed job, with the code as its type and no text of the user's program; CancelledFailure
 * for a cancelled one.
 */
export async function closeLike({ status, code = 'internal_error' }: JobEnd): Promise<JobStatus | 'stopped'> {
  if (status === 'stopped') return status
  setCurrentDetails(`the job is ${status}`)
  upsertSearchAttributes({ [statusAttribute()]: [status] })
  if (status === 'failed' && closesLikeItsJob())
    throw ApplicationFailure.nonRetryable('the job failed; its record has the message', code)
  if (status === 'cancelled' && closesLikeItsJob()) {
    // Temporal shows only a workflow as cancelled that was asked to cancel.
    const scope = CancellationScope.current()
    if (!scope.consideredCancelled) await sleep(CANCEL_ARRIVES_WITHIN).catch(() => {})
    if (scope.consideredCancelled) throw new CancelledFailure('the job was cancelled')
  }
  return status
}
