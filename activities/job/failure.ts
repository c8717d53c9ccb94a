// Turns an error of the catalogue into a Temporal failure, whose type is the error's code. Only here.
import { ApplicationFailure } from '@temporalio/activity'
import { ApplicationFailureCategory } from '@temporalio/common'
import type { JobError } from '../../domain/errors.js'
import { NOT_YET } from '../../domain/jobs/dispatch.js'

export const failureOf = (error: JobError, as: 'final' | 'retryable'): ApplicationFailure =>
  ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: as === 'final' })

/** Nothing is wrong, and the step is repeated later: a retry leaves no trace in the history. */
export const notYet = (message: string, afterMs: number): ApplicationFailure =>
  ApplicationFailure.create({
    type: NOT_YET,
    message,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: afterMs
  })
