// Holds a status request until the job's status changes.
import { isFinal, type JobStatus } from '../../../domain/jobs/job-status.js'
import type { JobStates } from './job-states.js'
import type { JobWatches } from './job-watch.js'

export interface JobWaits {
  /**
   * Resolves when the status is no longer `seen`, is final, `waitMs` are over, `left` aborts, or this process stops; the
   * request then responds with the current status.
   */
  statusChange(jobId: string, seen: JobStatus, waitMs: number, left: AbortSignal): Promise<void>
}

export const createJobWaits = (states: JobStates, watches: JobWatches): JobWaits => ({
  async statusChange(jobId, seen, waitMs, left) {
    const deadline = performance.now() + waitMs
    const watch = watches.open(jobId)
    left.addEventListener('abort', watch.wake, { once: true })
    try {
      while (!watches.closed && !left.aborted) {
        watch.reading()
        const present = (await states.read(jobId))?.status
        if (present !== seen || isFinal(present)) return
        const remaining = deadline - performance.now()
        if (remaining <= 0) return
        await watch.news(remaining)
      }
    } finally {
      watch.end()
      left.removeEventListener('abort', watch.wake)
    }
  }
})
