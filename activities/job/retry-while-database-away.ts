// Repeats a write, or the first read of a step, until the database is reachable: while it is away, work that was done
// outside is not repeated, and a claimed job does not fail. Any other error is thrown after a few tries.
import { setTimeout as sleep } from 'node:timers/promises'
import { type ErrorKind, errorKind, pauseMs, triesOf } from '../../domain/operations/error-kind.js'
import { reasonOf } from '../../domain/operations/reason.js'

/** What was done outside is lost when this process ends, so it looks for the database often. */
const LONGEST_MS = 10_000

/** An error that was repeated as often as its kind allows. `step.ts` makes it the end of the job. */
export class FinalFault extends Error {
  override readonly name = 'FinalFault'
  constructor(cause: unknown) {
    super(reasonOf(cause), { cause })
  }
}

/**
 * @param signal stops the waiting; a call under way is not interrupted.
 * @throws FinalFault when the error is not an absence of the database, and has come too often.
 */
export async function retryWhileDatabaseAway<T>(
  { log, jobId, signal }: { log: { warn(detail: object, message: string): void }; jobId: string; signal: AbortSignal },
  act: () => Promise<T>
): Promise<T> {
  const times: Record<ErrorKind, number> = { away: 0, conflict: 0, fault: 0 }
  for (let tries = 1; ; tries++) {
    try {
      return await act()
    } catch (error) {
      const kind = errorKind(error)
      times[kind]++
      const most = triesOf[kind]
      if (most !== null && times[kind] >= most) throw new FinalFault(error)
      log.warn({ jobId, kind, tries, reason: reasonOf(error) }, 'a step could not read or write; trying again')
      await sleep(pauseMs(tries, Math.random(), LONGEST_MS), undefined, { signal })
    }
  }
}
