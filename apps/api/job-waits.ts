// Holds a status request until the job's status changes. Level-triggered: it subscribes first, then reads, and reads again
// at every notice and every few seconds, so a lost notice costs time and nothing else.
import type { Db } from '../../db/client.js'
import type { JobListener } from '../../db/job-changes.js'
import { jobStatus } from '../../db/jobs.js'
import { isFinal, type JobStatus } from '../../domain/job-status.js'

const READ_AGAIN_MS = 5_000

export interface JobWaits {
  /** Resolves when the status is no longer `seen`, is final, `waitMs` are over, or `left` aborts. */
  statusChange(jobId: string, seen: JobStatus, waitMs: number, left: AbortSignal): Promise<void>
  /** Ends all waits; each request then answers with the present status. */
  close(): void
}

export function createJobWaits(db: Db, listener: JobListener): JobWaits {
  let closed = false
  const held = new Set<() => void>()
  return {
    async statusChange(jobId, seen, waitMs, left) {
      const deadline = performance.now() + waitMs
      let changed = false
      let resume = () => {}
      // Also called for a notice that comes during the read.
      const wake = () => {
        changed = true
        resume()
      }
      const unsubscribe = listener.on(jobId, wake)
      held.add(wake)
      left.addEventListener('abort', wake, { once: true })
      try {
        while (!closed && !left.aborted) {
          changed = false
          const present = await jobStatus(db, jobId)
          if (present !== seen || isFinal(present)) return
          const remaining = deadline - performance.now()
          if (remaining <= 0) return
          if (changed) continue
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, Math.min(remaining, READ_AGAIN_MS))
            resume = () => {
              clearTimeout(timer)
              resolve()
            }
          })
        }
      } finally {
        unsubscribe()
        held.delete(wake)
        left.removeEventListener('abort', wake)
      }
    },
    close() {
      closed = true
      for (const wake of held) wake()
    }
  }
}
