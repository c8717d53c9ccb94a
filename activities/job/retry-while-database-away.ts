// Repeats a write, or the read that a step begins with, until the database is there: what has happened outside is never done
// again, and a job that was claimed is not ended, because of a database that was away.
import { setTimeout as sleep } from 'node:timers/promises'

const FIRST_MS = 200
const MAX_MS = 5_000

/** @param signal ends the waiting; what is under way is not cut short. */
export async function retryWhileDatabaseAway<T>(
  { log, jobId, signal }: { log: { warn(detail: object, message: string): void }; jobId: string; signal: AbortSignal },
  act: () => Promise<T>
): Promise<T> {
  for (let waitMs = FIRST_MS; ; waitMs = Math.min(waitMs * 2, MAX_MS)) {
    try {
      return await act()
    } catch (error) {
      log.warn({ jobId, err: error }, 'database away; trying again until it is back')
      await sleep(waitMs, undefined, { signal })
    }
  }
}
