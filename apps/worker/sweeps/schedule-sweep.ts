// Brings the engine's copies of schedules to what the rows say: at once after a change, and all of them now and then, since
// the engine may have lost its database, and people may have changed a copy by hand. The rows are the truth.
import type { Logger } from 'pino'
import {
  appliedSchedules,
  applySchedule,
  forgetApplied,
  unappliedSchedules
} from '../../../db/capsules/capsule-schedules.js'
import type { Db } from '../../../db/client.js'
import { copyNote } from '../../../domain/verification/schedule-names.js'
import type { EngineSchedules } from '../../../services/dispatch/schedule-copies.js'
import type { Pass, SweepNotes } from './sweep-notes.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

export interface ScheduleTimes {
  /** How often it is looked for schedules that were changed. */
  lookMs: number
  /** How often all copies are compared with the rows; less than the time for which a missed run is made up for. */
  compareMs: number
}

export const defaultScheduleTimes: ScheduleTimes = { lookMs: 1_000, compareMs: 5 * 60_000 }

const AT_ONCE = 100
/** While the engine is away, a comparison is tried again after this long. */
const RETRY_MS = 15_000
/** A schedule that Temporal did not take for another reason than its times is left alone for this long, the others get their turn. */
const PUT_OFF_MS = 10_000
/** After so many in one pass Temporal is taken to be away. */
const FAILURES_MAX = 3

export interface ScheduleSweepDeps {
  db: Db
  copies: EngineSchedules
  times: ScheduleTimes
  notes: SweepNotes
  log: Logger
}

export function startScheduleSweep({ db, copies, times, notes, log }: ScheduleSweepDeps): TimerLoop {
  let comparedAt = Number.NEGATIVE_INFINITY
  /** By capsule, until when. */
  const putOff = new Map<string, number>()

  async function pass(): Promise<Pass> {
    const lost = await compare()
    const findings: string[] = []
    const failures: unknown[] = []
    for (const [capsuleId, until] of putOff) if (performance.now() > until) putOff.delete(capsuleId)
    const waiting = await unappliedSchedules(db, AT_ONCE, [...putOff.keys()])
    for (const capsuleId of waiting) {
      const end = await applySchedule(db, capsuleId, copies).catch((err: unknown) => {
        failures.push(err)
        putOff.set(capsuleId, performance.now() + PUT_OFF_MS)
        log.warn({ err, capsuleId }, 'a schedule was not brought to Temporal; the sweep tries again')
      })
      if (failures.length === FAILURES_MAX) break
      if (!end) continue
      if (end === 'refused') findings.push(`Temporal does not take the schedule of capsule ${capsuleId}`)
      else log.info({ capsuleId, end }, 'a schedule was brought to Temporal')
    }
    if (failures.length > 0) throw failures[0]
    return {
      more: waiting.length === AT_ONCE,
      handled: waiting.length + lost,
      ...(waiting.length > 0 && { findings })
    }
  }

  /** @returns how many copies had to be put right. */
  async function compare(): Promise<number> {
    if (performance.now() - comparedAt < times.compareMs) return 0
    // Until it has succeeded.
    comparedAt = performance.now() - times.compareMs + Math.min(RETRY_MS, times.compareMs)
    // The rows first: what is set up meanwhile is not missing from the list.
    const rows = await appliedSchedules(db)
    const found = await copies.list()
    let wrong = 0
    for (const [capsuleId, version] of rows) {
      if (found.get(capsuleId) === copyNote(version, new Date())) continue
      wrong++
      await forgetApplied(db, capsuleId, version)
      log.warn({ capsuleId, version, found: found.get(capsuleId) ?? null }, 'Temporal had no copy of a schedule')
    }
    for (const capsuleId of found.keys())
      if (!rows.has(capsuleId)) {
        wrong++
        // It looks at the row again: there may be one that waits to be applied.
        await applySchedule(db, capsuleId, copies)
      }
    comparedAt = performance.now()
    return wrong
  }

  return startLoop('schedules', times.lookMs, log, pass, notes.of('schedules', times.lookMs))
}
