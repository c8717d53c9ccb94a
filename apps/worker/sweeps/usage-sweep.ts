// Adds what teams ran and spent to the sums that the usage of a month is read from (db/money/usage.ts).
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { sumUsage } from '../../../db/money/usage.js'
import type { SweepNotes } from './sweep-notes.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

/** What comes in this time is added up by each reader: a few thousand entries, at most. */
const EVERY_MS = 60_000

export function startUsageSweep(db: Db, notes: SweepNotes, log: Logger): TimerLoop {
  async function pass() {
    const { summed, more } = await sumUsage(db)
    return { handled: summed, more }
  }
  return startLoop('usage', EVERY_MS, log, pass, notes.of('usage', EVERY_MS))
}
