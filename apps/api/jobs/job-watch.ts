// Waiting for a job to change. A waiting request opens a watch, reads the state, and reads again at every notification and
// every few seconds, so a lost notification only costs time.
import type { JobListener } from '../../../db/jobs/job-changes.js'

const READ_AGAIN_MS = 5_000

export interface JobWatch {
  /** Wakes the reader, as a notification does. */
  wake(): void
  /** Call before each read: notifications that come during the read count as new. */
  reading(): void
  /** Resolves at the next notification since `reading`, after a few seconds, or after `mostMs`. */
  news(mostMs?: number): Promise<void>
  end(): void
}

export interface JobWatches {
  readonly closed: boolean
  /** @param jobId `null`: of no job; `wake` alone is news. */
  open(jobId: string | null): JobWatch
  /** Wakes all watches for the last time, because this process stops. */
  close(): void
}

export function createJobWatches(listener: JobListener): JobWatches {
  let closed = false
  const waiting = new Set<() => void>()
  return {
    get closed() {
      return closed
    },
    open(jobId) {
      let changed = false
      let resume = () => {}
      const wake = () => {
        changed = true
        resume()
      }
      const unsubscribe = jobId === null ? () => {} : listener.on(jobId, wake)
      waiting.add(wake)
      return {
        wake,
        reading() {
          changed = false
        },
        async news(mostMs = READ_AGAIN_MS) {
          if (changed) return
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, Math.min(mostMs, READ_AGAIN_MS))
            resume = () => {
              clearTimeout(timer)
              resolve()
            }
          })
        },
        end() {
          unsubscribe()
          waiting.delete(wake)
        }
      }
    },
    close() {
      closed = true
      for (const wake of waiting) wake()
    }
  }
}
