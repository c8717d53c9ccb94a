// Where jobs stand, for all who wait for news in this process: whoever asks while a read is under way is answered by the
// next one, which asks for all of them at once. Thousands of waiters so need one connection, and no more reads than one.
import type { Db } from '../../../db/client.js'
import { type JobState, jobStates } from '../../../db/jobs/jobs.js'

export interface JobStates {
  /** As of a moment after this call; `null` when there is no such job. */
  read(jobId: string): Promise<JobState | null>
}

interface ScriptRequester {
  jobId: string
  resolve(state: JobState | null): void
  reject(error: unknown): void
}

export function createJobStates(db: Db): JobStates {
  let waiting: ScriptRequester[] = []
  let reading = false

  async function readAll(): Promise<void> {
    while (waiting.length > 0) {
      const askers = waiting
      waiting = []
      try {
        const states = await jobStates(db, [...new Set(askers.map(({ jobId }) => jobId))])
        for (const { jobId, resolve } of askers) resolve(states.get(jobId) ?? null)
      } catch (error) {
        for (const { reject } of askers) reject(error)
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
        // Whoever asks in the same turn, such as all whom one notice woke, is asked for together.
        setImmediate(() => void readAll())
      })
  }
}
