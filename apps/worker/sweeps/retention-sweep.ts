// Removes rows whose retention is over, once an hour.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { removeOutdated } from '../../../db/deletion/retention.js'
import { createFailedRows } from './failed-rows.js'
import type { SweepReports } from './sweep-reports.js'
import { startSharedLoop, type TimerLoop } from './timer-loop.js'

const EVERY_MS = 60 * 60 * 1_000

export function startRetentionSweep(db: Db, reports: SweepReports, log: Logger): TimerLoop {
  const failures = createFailedRows(log, 'retention')
  async function pass() {
    const { removed, more } = await removeOutdated(db, failures.failedAlone)
    if (removed > 0) log.info({ removed }, 'outdated rows removed')
    return { more, handled: removed, ...failures.take() }
  }
  return startSharedLoop({ db, reports, log }, 'retention', EVERY_MS, pass)
}
