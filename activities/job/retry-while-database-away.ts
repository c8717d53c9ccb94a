// Repeats a write, or the first read of a step, until the database is reachable: while it is away, work that was done
// outside is not repeated, and a claimed job does not fail.
import { setTimeout as sleep } from 'node:timers/promises'

const FIRST_MS = 200
const MAX_MS = 5_000

/** @param signal stops the waiting; a call under way is not interrupted. */
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
