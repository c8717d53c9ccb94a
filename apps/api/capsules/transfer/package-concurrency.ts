// Bounds how many packages this process reads and writes at once: each can take twice 64 MiB.
import { ServiceError } from '../../../../domain/errors.js'

export interface PackageSlots {
  /**
   * Waits for a slot.
   * @returns a function that releases the slot; calling it again has no effect.
   * @throws ServiceError `rate_limited` when too many wait.
   */
  take(): Promise<() => void>
  /** Runs `work` in a slot. */
  within<T>(work: () => Promise<T>): Promise<T>
}

/** @param waitingMax how many requests can wait; further ones are refused, since they would wait too long. */
export function createPackageSlots(atOnce: number, waitingMax: number): PackageSlots {
  let free = atOnce
  const waiting: (() => void)[] = []
  const give = () => {
    const next = waiting.shift()
    if (next) next()
    else free++
  }
  const slots: PackageSlots = {
    async within(work) {
      const give = await slots.take()
      return work().finally(give)
    },
    async take() {
      if (free > 0) free--
      else if (waiting.length >= waitingMax)
        throw new ServiceError('rate_limited', 'Too many packages are being read and written; try again in a second', {
          retryAfterSeconds: 1
        })
      else await new Promise<void>((resolve) => void waiting.push(resolve))
      let given = false
      return () => {
        if (given) return
        given = true
        give()
      }
    }
  }
  return slots
}
