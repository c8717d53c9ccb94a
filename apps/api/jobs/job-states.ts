// The states of jobs for all waiting requests of this process. Requests that come while a read is in progress share the next
// one, which reads all of their jobs at once, so thousands of waiting requests need one connection and one read at a time.
import type { Db } from '../../../db/client.js'
import { type JobState, jobStates } from '../../../db/jobs/jobs.js'

export interface JobStates {
  /** The state at a moment after this call; `null` when the job does not exist. */
  read(jobId: string): Promise<JobState | null>
}

interface StateRequest {
  jobId: string
  resolve(state: JobState | null): void
  reject(error: unknown): void
}

export function createJobStates(db: Db): JobStates {
  let waiting: StateRequest[] = []
  let reading = false

  async function readAll(): Promise<void> {
    while (waiting.length > 0) {
      const requests = waiting
      waiting = []
      try {
        const states = await jobStates(db, [...new Set(requests.map(({ jobId }) => jobId))])
        for (const { jobId, resolve } of requests) resolve(states.get(jobId) ?? null)
      } catch (error) {
        for (const { reject } of requests) reject(error)
      }
    }
    reading = false
  }

  return {
    read: (jobId) =>
      new Promise((resolve, reject) => {
        waiting.push({ jobId, resolve, reject })
        if (reading) return
        reading = true
        // Requests of the same turn, such as all that one notification woke, share a read.
        setImmediate(() => void readAll())
      })
  }
}
