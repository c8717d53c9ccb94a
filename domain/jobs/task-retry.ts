// Whether, and when, a task of a graph is retried.
import type { AttemptState } from './job-status.js'
import { executionRetry } from './retry.js'

/** The state of an attempt; `shut_down` for a lost one that ended because the executor was stopped. */
export type AttemptEnd = AttemptState | 'shut_down'

export const attemptEnd = (state: AttemptState, errorCode: string | null): AttemptEnd =>
  state === 'lost' && errorCode === 'executor_shut_down' ? 'shut_down' : state

export type TaskRetry = { again: true; afterMs: number } | { again: false }

/**
 * Decides after an attempt that did not complete. A task's own failures count against its retries. Lost attempts are
 * not the task's fault and have a limit of their own; one that ended with the executor is always repeated. Waits double from
 * one second to a minute, counted separately for failures and losses.
 * @param states of all attempts so far, in order.
 */
export function taskRetry(states: AttemptEnd[], retries: number): TaskRetry {
  const last = states.at(-1)
  if (last === 'shut_down') return { again: true, afterMs: executionRetry.firstWaitMs }
  const alike = states.filter((state) => state === last).length
  const most = last === 'lost' ? executionRetry.attemptsMax - 1 : retries
  if (alike > most) return { again: false }
  const afterMs = executionRetry.firstWaitMs * executionRetry.factor ** Math.min(alike - 1, 20)
  return { again: true, afterMs: Math.min(afterMs, executionRetry.longestWaitMs) }
}

/**
 * The number of the last failed attempt, 0 when none failed. Answers to requests made after it serve all later tries.
 */
export const lastFailure = (states: AttemptEnd[]): number => states.lastIndexOf('failed') + 1
