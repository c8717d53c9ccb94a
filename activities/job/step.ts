// Runs a step of a workflow. The one place where an unexpected error of a step becomes a retry or the end of its job: what
// is away is waited for, without a slot of the worker; a permanent error fails the job, with its reason in the
// log and in a metric.
import { setTimeout as sleep } from 'node:timers/promises'
import { ApplicationFailure, Context } from '@temporalio/activity'
import { codeOf, type JobError } from '../../domain/errors.js'
import { errorKind, pauseMs, QUIET_TRIES, triesOf } from '../../domain/operations/error-kind.js'
import { reasonOf } from '../../domain/operations/reason.js'
import { failureOf } from './failure.js'
import { FinalFault } from './retry-while-database-away.js'

export interface FaultDeps {
  log: { error(detail: object, message: string): void }
  /** @param step the name of the activity, a word of a small set. */
  countFault(step: string): void
  /** A local activity was tried more than `QUIET_TRIES` times; the sweep of stalled workflows sees the others. */
  countRepeatedStep(step: string): void
}

/** Longer pauses would keep a workflow task open, since a local activity holds it between these tries. */
const PAUSE_MS_MAX = 500

/** @param about the ids of what the step works on, for the log. */
export async function asStep<T>(
  deps: FaultDeps,
  about: Record<string, unknown>,
  act: (context: Context) => Promise<T>
): Promise<T> {
  const context = Context.current()
  const { isLocal, attempt, activityType } = context.info
  try {
    return await withTries(deps, activityType, about, context.cancellationSignal, () => act(context))
  } catch (error) {
    if (error instanceof ApplicationFailure || context.cancellationSignal.aborted) throw error
    if (isLocal && attempt > QUIET_TRIES) deps.countRepeatedStep(activityType)
    throw ApplicationFailure.create({
      type: `database_${errorKind(error)}`,
      message: reasonOf(error),
      nextRetryDelay: pauseMs(attempt, Math.random())
    })
  }
}

/**
 * Acts again after a fault that can be one of a moment.
 * @throws the final failure of the job when it stays. What is away, or in the way of another, is thrown as it is.
 */
export async function withTries<T>(
  deps: Pick<FaultDeps, 'log' | 'countFault'>,
  step: string,
  about: Record<string, unknown>,
  signal: AbortSignal,
  act: () => Promise<T>
): Promise<T> {
  for (let faults = 1; ; faults++) {
    try {
      return await act()
    } catch (error) {
      if (error instanceof ApplicationFailure || signal.aborted) throw error
      const kind = error instanceof FinalFault ? 'final' : errorKind(error)
      if (kind === 'away' || kind === 'conflict') throw error
      if (kind === 'final' || faults >= triesOf.fault) throw failureOf(recordFault(deps, step, about, error), 'final')
      await sleep(pauseMs(faults, Math.random(), PAUSE_MS_MAX))
    }
  }
}

/** Logs and counts a fault that ends a job. @returns the error of the job. */
export function recordFault(
  { log, countFault }: Pick<FaultDeps, 'log' | 'countFault'>,
  step: string,
  about: Record<string, unknown>,
  error: unknown
): JobError {
  const cause = error instanceof FinalFault ? error.cause : error
  // The stack of the innermost cause: the outer errors repeat whole queries, with the values of a job.
  log.error({ ...about, step, reason: reasonOf(cause), stack: stackOf(cause) }, 'a step of a job failed for good')
  countFault(step)
  const code = codeOf(cause)
  return code === null ? internalError : { code, message: (cause as Error).message }
}

const internalError: JobError = {
  code: 'internal_error',
  message: 'the job ended by an internal error; the log of the worker has the reason'
}

function stackOf(error: unknown): string | undefined {
  let at = error as { cause?: unknown; stack?: string } | undefined
  while (typeof at?.cause === 'object' && at.cause !== null) at = at.cause as typeof at
  return at?.stack
}
