// How often, and after which waits, the execution of a durable job is tried again when its end was lost. A direct job is
// executed once.

export const executionRetry = { attemptsMax: 3, firstWaitMs: 1_000, factor: 2, longestWaitMs: 60_000 } as const

/** Milliseconds from the loss of the attempt with this number (from 1) to the next; `null` when there is none. */
export const waitAfterAttempt = (number: number): number | null =>
  number >= executionRetry.attemptsMax
    ? null
    : Math.min(executionRetry.firstWaitMs * executionRetry.factor ** (number - 1), executionRetry.longestWaitMs)
