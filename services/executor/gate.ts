// One gate per worker process for calls to the executor, shared by both modes: as many permits as the executor has slots,
// first come, first served.

export interface ExecutorGate {
  /** Waits for a permit; the returned function releases it. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>
  setPermits(permits: number): void
  readonly permits: number
  /** Permits in use. */
  readonly inUse: number
  /** Calls that wait for a permit. */
  readonly waiting: number
}

export function createExecutorGate(initialPermits: number): ExecutorGate {
  let permits = initialPermits
  let inside = 0
  const queue = new Set<() => void>()

  const letIn = () => {
    for (const admit of queue) {
      if (inside >= permits) return
      queue.delete(admit)
      inside++
      admit()
    }
  }

  return {
    get permits() {
      return permits
    },
    get inUse() {
      return inside
    },
    get waiting() {
      return queue.size
    },
    setPermits(count) {
      permits = Math.max(1, count)
      letIn()
    },
    async enter(signal) {
      signal.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        const giveUp = () => {
          queue.delete(admit)
          reject(signal.reason)
        }
        const admit = () => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        }
        signal.addEventListener('abort', giveUp, { once: true })
        queue.add(admit)
        letIn()
      })
      let left = false
      return () => {
        if (left) return
        left = true
        inside--
        letIn()
      }
    }
  }
}
