// Seals off the event loop: a capsule of a hundred thousand outcomes takes a tenth of a second, one of 60 MiB more than one.
import { type PoolLimits, startThreadPool } from '../threads/thread-pool.js'
import type { SealContent, SealRequest } from './seal-content.js'

export interface SealPool {
  /** As `sealContent`. @throws PoolBusy, PoolLate. */
  sealOffLoop(request: SealRequest): Promise<SealContent>
  close(): Promise<void>
}

export function startSealPool(limits: PoolLimits = {}): SealPool {
  const pool = startThreadPool<SealRequest, SealContent>('activities/capsule-format/seal-thread', 'sealing', limits)
  return { sealOffLoop: pool.run, close: pool.close }
}
