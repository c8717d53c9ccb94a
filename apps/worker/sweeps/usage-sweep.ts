// Adds the teams' jobs and costs to the sums from which the usage of a month is read (db/money/usage.ts).
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { sumUsage } from '../../../db/money/usage.js'
import type { SweepReports } from './sweep-reports.js'
import { startSharedLoop, type TimerLoop } from './timer-loop.js'

/** Readers add up the entries of this interval themselves: a few thousand at most. */
const EVERY_MS = 60_000

export function startUsageSweep(db: Db, reports: SweepReports, log: Logger): TimerLoop {
  async function pass() {
    const { summed, more } = await sumUsage(db)
    return { handled: summed, more }
  }
  return startSharedLoop({ db, reports, log }, 'usage', EVERY_MS, pass)
}
