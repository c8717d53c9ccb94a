// Seals off the event loop: a capsule of a hundred thousand outcomes takes a tenth of a second, one of 60 MiB more than one.

import type { SealContent, SealRequest } from '../../capsule-format/seal-content.js'
import { ServiceError } from '../../domain/errors.js'
import { PoolBusy, type PoolLimits, PoolTimeout, startThreadPool } from './thread-pool.js'

export interface SealPool {
  /** As `sealContent`. @throws ServiceError `rate_limited` too when too many wait, or it has taken too long. */
  sealInThread(request: SealRequest): Promise<SealContent>
  close(): Promise<void>
}

export function startSealPool(limits: PoolLimits = {}): SealPool {
  const pool = startThreadPool<SealRequest, SealContent>('services/threads/seal-thread', 'sealing', limits)
  return {
    sealInThread: (request) =>
      pool.run(request).catch((error: unknown) => {
        if (!(error instanceof PoolBusy || error instanceof PoolTimeout)) throw error
        throw new ServiceError('rate_limited', `${error.message}; nothing is sealed, try again in a minute`, {
          retryAfterSeconds: 60
        })
      }),
    close: pool.close
  }
}
