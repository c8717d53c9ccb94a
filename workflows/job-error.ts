// What a failed step means for its job.
import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow'
import { isErrorCode, type JobError } from '../domain/errors.js'

export function jobErrorOf(error: unknown): JobError {
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof ApplicationFailure && isErrorCode(cause.type))
    return { code: cause.type, message: cause.message }
  return { code: 'internal_error', message: 'the job ended by an internal error; the workflow history has the details' }
}

/**
 * Whether a step ended because the job is being cancelled. A try that ends meanwhile with a failure that would be tried again
 * (a worker that died, "not yet") counts too: Temporal then tries no more, and tells that failure alone.
 */
export const isCancel = (error: unknown): boolean =>
  isCancellation(error) || (error instanceof ActivityFailure && error.retryState === 'CANCEL_REQUESTED')
