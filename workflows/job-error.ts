// What a failed step means for its job.
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  TimeoutFailure
} from '@temporalio/workflow'
import { isErrorCode, type JobError } from '../domain/errors.js'

export function jobErrorOf(error: unknown): JobError {
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof ApplicationFailure && isErrorCode(cause.type))
    return { code: cause.type, message: cause.message }
  return { code: 'internal_error', message: 'the job ended by an internal error; the workflow history has the details' }
}

/**
 * Whether a step failed because the job is being cancelled. A worker that died meanwhile counts too: Temporal then tries no
 * more, and tells the time-out alone.
 */
export const isCancel = (error: unknown): boolean =>
  isCancellation(error) ||
  (CancellationScope.current().consideredCancelled &&
    error instanceof ActivityFailure &&
    error.cause instanceof TimeoutFailure)
