// Checks that the ledger agrees (db/proofs/money-proof.ts): open and recent entries each minute, all entries once a day, by
// whichever worker is first. It repairs nothing: findings are logged and stored, and an administrator decides.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import { isDue } from '../../../db/service/sweeps.js'
import type { SweepName } from '../../../domain/operations/sweep.js'
import type { SweepReports } from './sweep-reports.js'
import { startLoop, startSharedLoop, type TimerLoop } from './timer-loop.js'

const RECENT = 'money'
const ALL = 'money_in_full'
/** How often a worker checks whether the whole ledger is due. */
const LOOK_MS = 60_000
const DAY_SECONDS = 24 * 3_600
/** After a finding, the check is repeated sooner, so that a repair becomes visible. */
const FOUND_SECONDS = 3_600

export interface MoneySweepDeps {
  db: Db
  reports: SweepReports
  log: Logger
  everyMs: number
}

export function startMoneySweep({ db, reports, log, everyMs }: MoneySweepDeps): TimerLoop {
  const logged = new Map<string, string>()
  /** Logs each finding once, not each minute. */
  function logFindings(name: SweepName, findings: string[] | null) {
    if (!findings) return null
    const before = logged.get(name)
    const after = JSON.stringify(findings)
    logged.set(name, after)
    if (findings.length > 0 && before !== after)
      log.error({ sweep: name, findings }, 'the ledger does not agree, or held money waits for an administrator')
    return { findings }
  }
  const closing = new AbortController()
  const loops = [
    startSharedLoop({ db, reports, log }, RECENT, everyMs, async () => logFindings(RECENT, await proveRecent(db))),
    startLoop(
      ALL,
      LOOK_MS,
      log,
      async () => {
        if (closing.signal.aborted || !(await isDue(db, ALL, DAY_SECONDS, FOUND_SECONDS))) return null
        try {
          return logFindings(ALL, await proveAll(db, closing))
        } catch (error) {
          // Left to another worker, or to the next start.
          if (closing.signal.aborted) return null
          throw error
        }
      },
      reports.of(ALL, DAY_SECONDS * 1_000)
    )
  ]
  return {
    name: RECENT,
    async close() {
      closing.abort()
      await Promise.all(loops.map((loop) => loop.close()))
    }
  }
}
