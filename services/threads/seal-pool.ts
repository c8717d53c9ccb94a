// Seals outside the event loop: a capsule with a hundred thousand outcomes takes a tenth of a second, one with 60 MiB more
// than a second.

import type { SealContent, SealRequest } from '../../capsule-format/seal-content.js'
import { ServiceError } from '../../domain/errors.js'
import { PoolBusy, type PoolLimits, PoolTimeout, startThreadPool } from './thread-pool.js'

export interface SealPool {
  /**
   * The same as `sealContent`.
   * @param team whose capsule it is.
   * @throws ServiceError also `rate_limited`, when too many of the team wait or the time limit is reached.
   */
  sealInThread(team: string, request: SealRequest): Promise<SealContent>
  close(): Promise<void>
}

export function startSealPool(limits: PoolLimits = {}): SealPool {
  const pool = startThreadPool<SealRequest, SealContent>('services/threads/seal-thread', 'sealing', limits)
  return {
    sealInThread: (team, request) =>
      pool.run(team, request).catch((error: unknown) => {
        if (!(error instanceof PoolBusy || error instanceof PoolTimeout)) throw error
        throw new ServiceError('rate_limited', `${error.message}; nothing is sealed, try again in a minute`, {
          retryAfterSeconds: 60
        })
      }),
    close: pool.close
  }
}
