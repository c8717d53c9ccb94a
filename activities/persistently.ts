// Repeats a write until the database takes it: what has happened outside is never done again because of a database that
// was away.
import { setTimeout as sleep } from 'node:timers/promises'

const FIRST_MS = 200
const MAX_MS = 5_000

/** @param signal ends the waiting; the write itself is not cut short. */
export async function persistently<T>(
  { log, jobId, signal }: { log: { warn(detail: object, message: string): void }; jobId: string; signal: AbortSignal },
  write: () => Promise<T>
): Promise<T> {
  for (let waitMs = FIRST_MS; ; waitMs = Math.min(waitMs * 2, MAX_MS)) {
    try {
      return await write()
    } catch (error) {
      log.warn({ jobId, err: error }, 'database away; keeping the outcome until it is back')
      await sleep(waitMs, undefined, { signal })
    }
  }
}
