// How often a durable job is executed again after a lost attempt, and after which waits. A direct job is executed once.

export const executionRetry = { attemptsMax: 3, firstWaitMs: 1_000, factor: 2, longestWaitMs: 60_000 } as const

/**
 * Milliseconds from the loss of the attempt with this number (from 1) to the next attempt; `null` when there is no next
 * one.
 */
export const waitAfterAttempt = (number: number): number | null =>
  number >= executionRetry.attemptsMax
    ? null
    : Math.min(executionRetry.firstWaitMs * executionRetry.factor ** (number - 1), executionRetry.longestWaitMs)
