// Turns an error of the catalogue into a Temporal failure, whose type is the error's code. Only here.
import { ApplicationFailure } from '@temporalio/activity'
import type { JobError } from '../../domain/errors.js'

export const failureOf = (error: JobError, as: 'final' | 'retryable'): ApplicationFailure =>
  ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: as === 'final' })
