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
  const closing = new AbortController()
  return {
    async statusChange(jobId, seen, waitMs, left) {
      const deadline = performance.now() + waitMs
      const stop = AbortSignal.any([left, closing.signal])
      let changed = false
      let wake = () => {}
      const unsubscribe = listener.on(jobId, () => {
        changed = true
        wake()
      })
      try {
        while (!stop.aborted) {
          changed = false
          const present = await jobStatus(db, jobId)
          if (present !== seen || isFinal(present)) return
          const remaining = deadline - performance.now()
          if (remaining <= 0) return
          await new Promise<void>((resolve) => {
            const timer = setTimeout(done, Math.min(remaining, READ_AGAIN_MS))
            function done() {
              clearTimeout(timer)
              stop.removeEventListener('abort', done)
              resolve()
            }
            wake = done
            stop.addEventListener('abort', done, { once: true })
            // A notice that came during the read counts.
            if (stop.aborted || changed) done()
          })
        }
      } finally {
        unsubscribe()
      }
    },
    close: () => closing.abort()
  }
}
