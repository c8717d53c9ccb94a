// Gives on the starts that were held (db/jobs/deferred-starts.ts) and have a reason to wait no more: their backend is back, or their
// team has room. The end of a job gives on the next of its team at once; this is for everything else.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { releaseDeferred } from '../../../db/jobs/deferred-starts.js'
import type { Pass, SweepNotes } from './sweep-notes.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

export interface DeferredStartSweepDeps {
  db: Db
  notes: SweepNotes
  log: Logger
  everyMs: number
  /** Jobs that a team may have under way. */
  teamRunningMax: number
}

export function startDeferredStartSweep({
  db,
  notes,
  log,
  everyMs,
  teamRunningMax
}: DeferredStartSweepDeps): TimerLoop {
  async function pass(): Promise<Pass> {
    const given = await releaseDeferred(db, teamRunningMax)
    if (given > 0) log.info({ given }, 'jobs that were held go on')
    return { handled: given }
  }
  return startLoop('held_starts', everyMs, log, pass, notes.of('held_starts', everyMs))
}
