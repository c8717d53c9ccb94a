// Translates the failure of a step to the error of its job.
import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow'
import { isErrorCode, type JobError } from '../domain/errors.js'

export function jobErrorOf(error: unknown): JobError {
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof ApplicationFailure && isErrorCode(cause.type))
    return { code: cause.type, message: cause.message }
  return { code: 'internal_error', message: 'the job ended by an internal error; the workflow history has the details' }
}

/**
 * Whether a step ended because the job is being cancelled. This includes a try that failed at the same time with a retryable
 * failure (a lost worker, "not yet"): Temporal then stops retrying and reports only that failure.
 */
export const isCancel = (error: unknown): boolean =>
  isCancellation(error) || (error instanceof ActivityFailure && error.retryState === 'CANCEL_REQUESTED')
