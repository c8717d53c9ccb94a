// Comparisons of jobs outside the event loop. A caller waits for each, so the line is short, and one that takes too much
// time or memory is reported as not testable, with the reason.

import { ServiceError } from '../../domain/errors.js'
import { type Comparison, defaultCompareMargin, uncompared } from '../../domain/verification/compare-results.js'
import type { CompareInput } from './compare-jobs.js'
import { PoolBusy, type PoolLimits, PoolMemory, PoolTimeout, startThreadPool } from './thread-pool.js'

export interface ComparePool {
  /**
   * The same as `compareJobs`.
   * @param team whose turn it takes.
   * @throws ServiceError `rate_limited` when too many of the team wait; Error when a result cannot be read.
   */
  compareInThread(team: string, input: CompareInput): Promise<Comparison>
  close(): Promise<void>
}

/** Two runs of 100,000 shots over as many outcomes take a fraction of a second, a thousand circuits some seconds. */
const LIMIT_MS = 20_000
const WAITING_MAX = 20
/** Results of 16 MiB each with a million outcomes together fit. */
const HEAP_MIB = 384

export function startComparePool(limits: PoolLimits = {}): ComparePool {
  const pool = startThreadPool<CompareInput, Comparison>('services/threads/compare-thread', 'comparing', {
    limitMs: LIMIT_MS,
    waitingMax: WAITING_MAX,
    heapMib: HEAP_MIB,
    ...limits
  })
  return {
    compareInThread: (team, input) =>
      pool.run(team, input).catch((error: unknown) => {
        if (error instanceof PoolTimeout || error instanceof PoolMemory)
          return uncompared(
            error.message,
            input.margin ?? defaultCompareMargin([input.a.result.facts, input.b.result.facts])
          )
        if (error instanceof PoolBusy)
          throw new ServiceError('rate_limited', `${error.message}; try again in 20 seconds`, {
            retryAfterSeconds: LIMIT_MS / 1000
          })
        throw error
      }),
    close: pool.close
  }
}
