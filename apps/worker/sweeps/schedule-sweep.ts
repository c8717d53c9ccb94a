// Keeps the copies of schedules in Temporal equal to the rows, which are the truth: right after a change, and regularly for
// all, which one worker does for all workers, since Temporal may have lost its database and an operator may have changed a copy.
import type { Logger } from 'pino'
import {
  appliedSchedules,
  applySchedule,
  forgetApplied,
  unappliedSchedules
} from '../../../db/capsules/capsule-schedules.js'
import type { Db } from '../../../db/client.js'
import { copyNote } from '../../../domain/verification/schedule-names.js'
import type { TemporalSchedules } from '../../../services/dispatch/schedule-copies.js'
import { createFailedRows } from './failed-rows.js'
import type { Pass, SweepReports } from './sweep-reports.js'
import { startLoop, startSharedLoop, type TimerLoop } from './timer-loop.js'

export interface ScheduleTimes {
  /** How often the sweep looks for changed schedules. */
  lookMs: number
  /** How often all copies are compared with the rows; shorter than the time in which a missed run is made up for. */
  compareMs: number
}

export const defaultScheduleTimes: ScheduleTimes = { lookMs: 1_000, compareMs: 5 * 60_000 }

const AT_ONCE = 100
/** How often a worker looks whether a comparison is due, which it is until one has succeeded. */
const LOOK_MS = 15_000
/** Pause after a schedule could not be applied, so that other schedules get their turn. */
const POSTPONE_MS = 10_000
/** After this many failures in one pass, Temporal counts as away. */
const FAILURES_MAX = 3

export interface ScheduleSweepDeps {
  db: Db
  copies: TemporalSchedules
  times: ScheduleTimes
  reports: SweepReports
  log: Logger
}

export function startScheduleSweep({ db, copies, times, reports, log }: ScheduleSweepDeps): TimerLoop {
  const failures = createFailedRows(log, 'schedules', { pauseMs: POSTPONE_MS })

  async function pass(): Promise<Pass> {
    const findings: string[] = []
    const waiting = await unappliedSchedules(db, AT_ONCE, failures.except())
    let failed = 0
    for (const capsuleId of waiting) {
      const end = await applySchedule(db, capsuleId, copies).catch((err: unknown) => {
        failures.failedAlone(capsuleId, err)
        if (++failed === FAILURES_MAX) throw err
      })
      if (!end) continue
      if (end === 'refused') findings.push(`Temporal does not accept the schedule of capsule ${capsuleId}`)
      else log.info({ capsuleId, end }, 'a schedule was applied to Temporal')
    }
    return {
      more: waiting.length === AT_ONCE,
      handled: waiting.length - failed,
      ...failures.take(),
      ...(waiting.length > failed && { findings })
    }
  }

  /** Handles the copies that are wrong. A copy that is missing is applied by the next pass. */
  async function compare(): Promise<Pass> {
    // Rows first: a schedule that is applied in between is in the list, and not missing.
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
        // Reads the row again: it may wait to be applied.
        await applySchedule(db, capsuleId, copies).catch((err) => failures.failedAlone(capsuleId, err))
      }
    return { handled: wrong }
  }

  const { compareMs, lookMs } = times
  const loops = [
    startLoop('schedules', lookMs, log, pass, reports.of('schedules', lookMs)),
    startSharedLoop({ db, reports, log }, 'schedules_in_full', compareMs, compare, Math.min(LOOK_MS, compareMs))
  ]
  return {
    name: 'schedules',
    async close() {
      await Promise.all(loops.map((loop) => loop.close()))
    }
  }
}
