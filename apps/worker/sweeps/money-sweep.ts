// Proves the books (db/proofs/money-proof.ts) in every worker, whichever comes first: what is open and recent each minute, everything
// once a day. It mends nothing: what it finds is logged and written down, and an administrator decides.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import { isDue } from '../../../db/service/sweeps.js'
import type { SweepName } from '../../../domain/operations/sweep.js'
import type { SweepNotes } from './sweep-notes.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

const RECENT = 'money'
const ALL = 'money_in_full'
/** How often is looked whether it is time for the whole ledger. */
const LOOK_MS = 60_000
const DAY_SECONDS = 24 * 3_600
/** Something found is looked for again sooner, so that whoever mended it sees it gone. */
const FOUND_SECONDS = 3_600

export interface MoneySweepDeps {
  db: Db
  notes: SweepNotes
  log: Logger
  everyMs: number
}

export function startMoneySweep({ db, notes, log, everyMs }: MoneySweepDeps): TimerLoop {
  const told = new Map<string, string>()
  /** Each finding once, not each minute. */
  function tell(name: SweepName, findings: string[] | null) {
    if (!findings) return null
    const before = told.get(name)
    const after = JSON.stringify(findings)
    told.set(name, after)
    if (findings.length > 0 && before !== after)
      log.error({ sweep: name, findings }, 'the books do not agree, or money waits for an administrator')
    return { findings }
  }
  const loops = [
    startLoop(RECENT, everyMs, log, async () => tell(RECENT, await proveRecent(db)), notes.of(RECENT, everyMs)),
    startLoop(
      ALL,
      LOOK_MS,
      log,
      async () => ((await isDue(db, ALL, DAY_SECONDS, FOUND_SECONDS)) ? tell(ALL, await proveAll(db)) : null),
      notes.of(ALL, DAY_SECONDS * 1_000)
    )
  ]
  return {
    async close() {
      await Promise.all(loops.map((loop) => loop.close()))
    }
  }
}
