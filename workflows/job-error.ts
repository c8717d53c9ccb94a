// What a failed step means for its job.
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow'
import { isErrorCode, type JobError } from '../domain/errors.js'

export function jobErrorOf(error: unknown): JobError {
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof ApplicationFailure && isErrorCode(cause.type))
    return { code: cause.type, message: cause.message }
  return { code: 'internal_error', message: 'the job ended by an internal error; the workflow history has the details' }
}
