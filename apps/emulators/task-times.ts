// When a task waits, runs and ends, as a decision about times alone: a task waits while its device is offline, and fails
// when its device is retired before it starts.
import { type DeviceChange, type DeviceState, startOf } from './device-changes.js'
import type { Timeline } from './timeline.js'

export type DeviceStatus = 'ONLINE' | 'OFFLINE' | 'RETIRED'

export type Change = DeviceChange<DeviceStatus>

const states: Record<DeviceStatus, DeviceState> = {
  ONLINE: 'working',
  OFFLINE: 'away',
  RETIRED: 'retired'
}

export type TaskState = 'CREATED' | 'QUEUED' | 'RUNNING' | 'CANCELLING' | 'CANCELLED' | 'COMPLETED' | 'FAILED'
export const finalStates: readonly TaskState[] = ['CANCELLED', 'COMPLETED', 'FAILED']

export interface TaskTimes extends Timeline {
  /** When the provider took the cancellation; null without one. */
  cancelledAt: number | null
  /** Whether the program cannot run: known once it is checked. */
  fails: boolean
}

/** A cancelled task that has left CREATED is CANCELLING for this long, in emulated milliseconds. */
export const cancellingMs = 10

export interface TaskCourse {
  state: TaskState
  /** Whether its device was retired before it started. */
  stranded: boolean
  /** Null while the task is not final. */
  endedAt: number | null
  /** Null until the result can be read; it stays null for a task without one. */
  resultAt: number | null
}

export function courseOf(task: TaskTimes, changes: readonly Change[], now: number): TaskCourse {
  const running = { stranded: false, endedAt: null, resultAt: null }
  const { startsAt, retiredAt } = startOf(
    { due: task.startsAt, submittedAt: task.submittedAt },
    changes,
    (status) => states[status]
  )
  const waited = startsAt - task.startsAt
  const endsAt = task.endsAt + waited
  const failsAt = task.fails ? task.readyAt : retiredAt
  const { cancelledAt } = task
  if (cancelledAt !== null && cancelledAt < Math.min(failsAt, endsAt)) {
    const endedAt = cancelledAt < task.readyAt ? cancelledAt : cancelledAt + cancellingMs
    if (now < endedAt) return { ...running, state: 'CANCELLING' }
    return { ...running, state: 'CANCELLED', endedAt }
  }
  if (now < task.readyAt && now < failsAt) return { ...running, state: 'CREATED' }
  if (now >= failsAt) return { ...running, state: 'FAILED', stranded: !task.fails, endedAt: failsAt }
  if (now < startsAt) return { ...running, state: 'QUEUED' }
  if (now < endsAt) return { ...running, state: 'RUNNING' }
  return { ...running, state: 'COMPLETED', endedAt: endsAt, resultAt: task.resultAt + waited }
}
