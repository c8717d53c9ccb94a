// The one place where an error of the catalogue becomes a Temporal failure: its type is the code.
import { ApplicationFailure } from '@temporalio/activity'
import type { JobError } from '../../domain/errors.js'

export const failureOf = (error: JobError, as: 'final' | 'retryable'): ApplicationFailure =>
  ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: as === 'final' })
