// When a task of the emulated Braket waits, runs and ends: a decision about times alone.
import { expect, test } from '@jest/globals'
import { type Change, courseOf, type TaskTimes } from '../../apps/emulators/task-times.js'

const task = (changes: Partial<TaskTimes> = {}): TaskTimes => ({
  submittedAt: 100,
  readyAt: 110,
  startsAt: 200,
  endsAt: 300,
  resultAt: 350,
  cancelledAt: null,
  fails: false,
  ...changes
})
const stateAt = (now: number, own: TaskTimes = task(), changes: Change[] = []) => courseOf(own, changes, now).state

test('a task is CREATED, QUEUED, RUNNING and COMPLETED, and its result comes last', () => {
  expect([100, 109, 110, 199, 200, 299, 300].map((now) => stateAt(now))).toEqual([
    'CREATED',
    'CREATED',
    'QUEUED',
    'QUEUED',
    'RUNNING',
    'RUNNING',
    'COMPLETED'
  ])
  expect(courseOf(task(), [], 300)).toEqual({ state: 'COMPLETED', stranded: false, endedAt: 300, resultAt: 350 })
})

test('a task whose program cannot run fails once it is checked, wherever its device is', () => {
  const own = task({ fails: true })
  const offline: Change[] = [{ at: 105, status: 'OFFLINE' }]
  expect([109, 110].map((now) => stateAt(now, own, offline))).toEqual(['CREATED', 'FAILED'])
  expect(courseOf(own, offline, 500)).toMatchObject({ stranded: false, endedAt: 110 })
})

test('a task waits as long as its device is offline at its turn, and then runs its whole time', () => {
  const away: Change[] = [
    { at: 150, status: 'OFFLINE' },
    { at: 1000, status: 'ONLINE' }
  ]
  expect([999, 1000, 1099, 1100].map((now) => stateAt(now, task(), away))).toEqual([
    'QUEUED',
    'RUNNING',
    'RUNNING',
    'COMPLETED'
  ])
  expect(courseOf(task(), away, 2000)).toMatchObject({ endedAt: 1100, resultAt: 1150 })
  expect(stateAt(1e9, task(), away.slice(0, 1))).toBe('QUEUED')
})

test('a task does not wait for what its device did before its turn or after its start', () => {
  const brief: Change[] = [
    { at: 120, status: 'OFFLINE' },
    { at: 180, status: 'ONLINE' }
  ]
  expect(stateAt(200, task(), brief)).toBe('RUNNING')
  expect(stateAt(300, task(), [{ at: 201, status: 'OFFLINE' }])).toBe('COMPLETED')
  expect(stateAt(300, task(), [{ at: 201, status: 'RETIRED' }])).toBe('COMPLETED')
})

test('a task that waits for a device fails when it is retired', () => {
  const gone: Change[] = [
    { at: 150, status: 'OFFLINE' },
    { at: 900, status: 'RETIRED' }
  ]
  expect([899, 900].map((now) => stateAt(now, task(), gone))).toEqual(['QUEUED', 'FAILED'])
  expect(courseOf(task(), gone, 1000)).toMatchObject({ stranded: true, endedAt: 900, resultAt: null })
})

test('a cancellation ends a task at once while it is CREATED, and by CANCELLING later', () => {
  expect(stateAt(105, task({ cancelledAt: 105 }))).toBe('CANCELLED')
  for (const cancelledAt of [150, 250]) {
    const own = task({ cancelledAt })
    expect([cancelledAt, cancelledAt + 9, cancelledAt + 10].map((now) => stateAt(now, own))).toEqual([
      'CANCELLING',
      'CANCELLING',
      'CANCELLED'
    ])
    expect(courseOf(own, [], 1000)).toMatchObject({ endedAt: cancelledAt + 10, resultAt: null })
  }
})
