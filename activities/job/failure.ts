// Turns an error of the catalogue into a Temporal failure, whose type is the error's code. Only here. Histories get no message:
// it can be a user program's, or quote one. The message goes to the job's row, where `failJob` finds it.
import { ApplicationFailure, Context } from '@temporalio/activity'
import { ApplicationFailureCategory, TemporalFailure } from '@temporalio/common'
import type { Db } from '../../db/client.js'
import { failingMessage, noteFailingMessage } from '../../db/jobs/failing-message.js'
import type { JobError } from '../../domain/errors.js'
import { type JobHandOver, NOT_YET } from '../../domain/jobs/dispatch.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'

/** Stands for the message in a history. */
const IN_THE_RECORD = 'the record of the job has the message'

/** Until the activity that threw the failure ends. */
const messages = new WeakMap<object, string>()

export function failureOf(error: JobError, as: 'final' | 'retryable'): ApplicationFailure {
  const failure = ApplicationFailure.create({
    type: error.code,
    message: IN_THE_RECORD,
    nonRetryable: as === 'final'
  })
  if (as === 'final') messages.set(failure, error.message)
  return failure
}

/** Nothing is wrong, and the step is repeated later: a retry leaves no trace in the history. */
export const notYet = (message: string, afterMs: number): ApplicationFailure =>
  ApplicationFailure.create({
    type: NOT_YET,
    message,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: afterMs
  })

/** The failure of a try that is repeated after `afterMs`; the row of its attempt has the message. */
export const retryAfter = (error: JobError, afterMs: number): ApplicationFailure =>
  ApplicationFailure.create({ type: error.code, message: IN_THE_RECORD, nextRetryDelay: afterMs })

/** The error with its message from the job's row. Histories of earlier versions contain the message itself. */
export async function withMessage(db: Db, jobId: string, error: JobError): Promise<JobError> {
  if (error.message !== IN_THE_RECORD) return error
  return { code: error.code, message: (await failingMessage(db, jobId)) ?? 'the reason was not recorded' }
}

interface FailureDeps {
  db: Db
  log: { warn(detail: object, message: string): void }
}

type Activity = (input: never) => Promise<unknown>

/** The same activities; what they throw reaches Temporal without a message, a stack or a cause from elsewhere. */
export function withoutMessages<Activities extends Record<string, Activity>>(
  activities: Activities,
  deps: FailureDeps
): Activities {
  const wrapped = Object.entries(activities).map(([name, act]) => {
    const guarded = async (input: JobHandOver): Promise<unknown> => {
      try {
        return await act(input as never)
      } catch (error) {
        throw await withoutMessage(deps, name, input, error)
      }
    }
    return [name, guarded]
  })
  return Object.fromEntries(wrapped) as Activities
}

async function withoutMessage({ db, log }: FailureDeps, name: string, job: JobHandOver, error: unknown) {
  const message = messages.get(error as object)
  if (message !== undefined) {
    const { cancellationSignal: signal } = Context.current()
    await retryWhileDatabaseAway({ log, jobId: job.jobId, signal }, () => noteFailingMessage(db, job, message)).catch(
      // Cancelled while the database is away: the job is not going to fail.
      () => {}
    )
  }
  if (error instanceof TemporalFailure || Context.current().cancellationSignal.aborted) return error
  log.warn(
    { activity: name, jobId: job.jobId, err: error },
    'a step failed by an internal error and will be tried again'
  )
  const type = error instanceof Error ? error.name : typeof error
  return ApplicationFailure.create({ type, message: 'an internal error; the log of the worker has it' })
}
