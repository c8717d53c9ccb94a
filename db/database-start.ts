// Makes the database ready for a process that starts. A host restarts everything at once, and a failover can take minutes:
// a process that ended because its database is away would leave the rest to the pauses of its supervisor.
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { needsOperator, pauseMs } from '../domain/operations/error-kind.js'
import type { MigrateMode } from '../domain/operations/schema.js'
import type { DatabaseSettings } from './connection/database-settings.js'
import { isDatabaseAway } from './database-away.js'
import { checkDatabase } from './database-check.js'
import { prepareSchema } from './migrate.js'

export interface StartTimes {
  /** How long the database can be away. */
  waitMs: number
  /** The longest pause between two tries. */
  pauseMs: number
  /** For one check. A server that hangs accepts connections and does not respond. */
  checkMs: number
}

const defaultTimes: StartTimes = { waitMs: 300_000, pauseMs: 10_000, checkMs: 30_000 }

/**
 * Checks the settings against the database and prepares its schema. Waits while no server accepts work.
 * @throws Error naming what has to change: at once what an operator has to change, after `waitMs` why the database is away.
 */
export async function startDatabase(
  settings: DatabaseSettings,
  mode: MigrateMode,
  log: Pick<Logger, 'info' | 'warn'>,
  times: StartTimes = defaultTimes
): Promise<void> {
  const began = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      await checkDatabase(settings, times.checkMs)
      await prepareSchema(settings, mode, (message) => log.info(message))
      if (tries > 1) log.info({ seconds: Math.round((performance.now() - began) / 1_000) }, 'the database is there')
      return
    } catch (err) {
      const pause = pauseMs(tries, Math.random(), times.pauseMs)
      const isOver = performance.now() - began + pause > times.waitMs
      if (isOver || !isDatabaseAway(err) || needsOperator(err)) throw err
      log.warn({ reason: (err as Error).message }, 'the start waits for the database')
      await delay(pause)
    }
  }
}
