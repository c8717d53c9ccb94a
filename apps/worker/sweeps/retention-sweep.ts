// Removes what has been kept long enough, once an hour. Several workers doing so at once find less to remove.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { removeOutdated } from '../../../db/deletion/retention.js'
import type { SweepNotes } from './sweep-notes.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

const EVERY_MS = 60 * 60 * 1_000

export function startRetentionSweep(db: Db, notes: SweepNotes, log: Logger): TimerLoop {
  async function pass() {
    const { removed, more } = await removeOutdated(db)
    if (removed > 0) log.info({ removed }, 'outdated rows removed')
    return { more, handled: removed }
  }
  return startLoop('retention', EVERY_MS, log, pass, notes.of('retention', EVERY_MS))
}
