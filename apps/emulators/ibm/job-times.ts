// When a job waits, runs and ends, as a decision about times alone: a job waits while its device does not work, fails when
// its device is retired before it starts, and is stopped when it needs more of the machine than its cap allows.
import { type DeviceChange, type DeviceState, startOf } from '../device-changes.js'
import type { Timeline } from '../timeline.js'

export type DeviceStatus = 'online' | 'paused' | 'offline' | 'retired'

export type Change = DeviceChange<DeviceStatus>

const states: Record<DeviceStatus, DeviceState> = {
  online: 'working',
  paused: 'away',
  offline: 'away',
  retired: 'retired'
}

export type JobState = 'Queued' | 'Running' | 'Completed' | 'Cancelled' | 'Failed'
export const finalStates: readonly JobState[] = ['Completed', 'Cancelled', 'Failed']

export interface JobTimes extends Timeline {
  /** When IBM took the cancellation; null without one. */
  cancelledAt: number | null
  /** Whether a circuit cannot run: known once it is checked. */
  fails: boolean
  /** How long it runs until its cap stops it, in emulated milliseconds; null if it needs less. */
  stopsAfterMs: number | null
}

export interface JobCourse {
  state: JobState
  /** Whether its device was retired before it started. */
  stranded: boolean
  ranTooLong: boolean
  /** Null while it has not started, and if it never does. */
  startedAt: number | null
  /** Null while the job is not final. */
  endedAt: number | null
  /** Null until the result can be read; it stays null for a job without one. */
  resultAt: number | null
}

export function courseOf(job: JobTimes, changes: readonly Change[], now: number): JobCourse {
  const queued: JobCourse = {
    state: 'Queued',
    stranded: false,
    ranTooLong: false,
    startedAt: null,
    endedAt: null,
    resultAt: null
  }
  const { startsAt, retiredAt } = startOf(
    { due: job.startsAt, submittedAt: job.submittedAt },
    changes,
    (status) => states[status]
  )
  const waited = startsAt - job.startsAt
  const endsAt = job.endsAt + waited
  const stopsAt = job.stopsAfterMs === null ? Number.POSITIVE_INFINITY : startsAt + job.stopsAfterMs
  const failsAt = job.fails ? job.readyAt : retiredAt
  const { cancelledAt } = job
  if (cancelledAt !== null && cancelledAt < Math.min(failsAt, endsAt, stopsAt)) {
    const startedAt = startsAt <= cancelledAt ? startsAt : null
    return { ...queued, state: 'Cancelled', startedAt, endedAt: cancelledAt }
  }
  if (now >= failsAt) return { ...queued, state: 'Failed', stranded: !job.fails, endedAt: failsAt }
  if (now < startsAt) return queued
  const started = { ...queued, startedAt: startsAt }
  if (now < Math.min(endsAt, stopsAt)) return { ...started, state: 'Running' }
  if (stopsAt <= endsAt) return { ...started, state: 'Cancelled', ranTooLong: true, endedAt: stopsAt }
  return { ...started, state: 'Completed', endedAt: endsAt, resultAt: job.resultAt + waited }
}
