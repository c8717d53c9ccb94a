// Moves large contents that have come to rest from their rows to the content store (db/contents), and removes objects that no
// row names any more.
import type { Logger } from 'pino'
import type { Db } from '../../../../db/client.js'
import { copyToStore, leaveToStore, removeObject, takeUnnamed } from '../../../../db/contents/content-moves.js'
import {
  type ContentRow,
  contentTables,
  movingContents,
  unmovedContents
} from '../../../../db/contents/content-rows.js'
import { ServiceError } from '../../../../domain/errors.js'
import { createFailedRows } from '../failed-rows.js'
import type { SweepReports } from '../sweep-reports.js'
import { startSharedLoop, type TimerLoop } from '../timer-loop.js'

export interface ContentTimes {
  everyMs: number
  /** How long after the end of its job, or the seal of its capsule, a content is copied. */
  settledSeconds: number
  /** How long a content is in both places: a store that loses what it has just confirmed is found out. */
  bothSeconds: number
  /** How long an object is kept that no row names: as long as a backup may be old that is restored. */
  unnamedSeconds: number
}

const DAY_SECONDS = 24 * 3_600

export const defaultContentTimes: ContentTimes = {
  everyMs: 60_000,
  settledSeconds: 3_600,
  bothSeconds: 600,
  unnamedSeconds: 7 * DAY_SECONDS
}

/** Of each table, and of each step, in one pass: at most some hundred megabytes. */
const BATCH = 20

interface ContentSweepDeps {
  db: Db
  reports: SweepReports
  log: Logger
  times: ContentTimes
}

export function startContentSweep({ db, reports, log, times }: ContentSweepDeps): TimerLoop {
  const failures = createFailedRows(log, 'contents')

  /** @returns how many it handled. @throws ServiceError when the store is away: nothing else would succeed. */
  async function each<T>(items: readonly T[], nameOf: (item: T) => string, handle: (item: T) => Promise<unknown>) {
    for (const item of items) {
      try {
        await handle(item)
      } catch (error) {
        if (error instanceof ServiceError) throw error
        failures.failedAlone(nameOf(item), error)
      }
    }
    return items.length
  }
  const nameOf = ({ name }: ContentRow) => name

  async function leave(row: ContentRow): Promise<void> {
    if (await leaveToStore(db, row)) return
    log.error({ content: row.name, object: row.objectKey }, 'the content store lost a content, which its row still has')
  }

  async function pass() {
    const handled: number[] = []
    for (const table of contentTables) {
      const page = { except: failures.except(), max: BATCH }
      const moving = await movingContents(db, table, { seconds: times.bothSeconds, ...page })
      handled.push(await each(moving, nameOf, leave))
      const unmoved = await unmovedContents(db, table, { settledSeconds: times.settledSeconds, ...page })
      handled.push(await each(unmoved, nameOf, (row) => copyToStore(db, row)))
    }
    const unnamed = await takeUnnamed(db, { seconds: times.unnamedSeconds, max: BATCH })
    handled.push(await each(unnamed, String, (key) => removeObject(db, key)))
    const sum = handled.reduce((all, one) => all + one, 0)
    return { handled: sum, more: handled.includes(BATCH), ...failures.take() }
  }
  return startSharedLoop({ db, reports, log }, 'contents', times.everyMs, pass)
}
