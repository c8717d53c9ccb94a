// Holds a status request until the job's status changes.
import { isFinal, type JobStatus } from '../../../domain/jobs/job-status.js'
import { createHeldRequests } from '../http/limits/held-requests.js'
import type { JobStates } from './job-states.js'
import type { JobWatches } from './job-watch.js'

/** Further requests of the user get a response at once. */
const WAITING_PER_USER_MAX = 100

export interface JobWaits {
  /**
   * Resolves when the status is no longer `seen`, is final, `waitMs` are over, `left` aborts, this process stops, or the user
   * has too many waiting requests; the request then responds with the current status.
   */
  statusChange(wait: {
    jobId: string
    userId: string
    seen: JobStatus
    waitMs: number
    left: AbortSignal
  }): Promise<void>
}

export function createJobWaits(states: JobStates, watches: JobWatches): JobWaits {
  const held = createHeldRequests(WAITING_PER_USER_MAX)
  return {
    async statusChange({ jobId, userId, seen, waitMs, left }) {
      const leave = held.enter(userId)
      if (!leave) return
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
        leave()
        watch.end()
        left.removeEventListener('abort', watch.wake)
      }
    }
  }
}
