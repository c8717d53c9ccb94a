// Releases deferred starts (db/jobs/deferred-starts.ts) whose reason to wait is gone: their backend is back, or their team
// is below its concurrency limit. The end of a job releases the next job of its team at once; this sweep finds all others.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { releaseDeferred } from '../../../db/jobs/deferred-starts.js'
import type { Pass, SweepReports } from './sweep-reports.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

export interface DeferredStartSweepDeps {
  db: Db
  reports: SweepReports
  log: Logger
  everyMs: number
  /** The concurrency limit of a team. */
  teamRunningMax: number
}

export function startDeferredStartSweep({
  db,
  reports,
  log,
  everyMs,
  teamRunningMax
}: DeferredStartSweepDeps): TimerLoop {
  async function pass(): Promise<Pass> {
    const released = await releaseDeferred(db, teamRunningMax)
    if (released > 0) log.info({ released }, 'deferred jobs were released')
    return { handled: released }
  }
  return startLoop('held_starts', everyMs, log, pass, reports.of('held_starts', everyMs))
}
