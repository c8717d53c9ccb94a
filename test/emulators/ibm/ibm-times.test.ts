// When a job of the emulated IBM Quantum waits, runs and ends: a decision about times alone.
import { expect, test } from '@jest/globals'
import { type Change, courseOf, type JobTimes } from '../../../apps/emulators/ibm/job-times.js'

const job = (changes: Partial<JobTimes> = {}): JobTimes => ({
  submittedAt: 100,
  readyAt: 110,
  startsAt: 200,
  endsAt: 300,
  resultAt: 350,
  cancelledAt: null,
  fails: false,
  stopsAfterMs: null,
  ...changes
})
const stateAt = (now: number, own: JobTimes = job(), changes: Change[] = []) => courseOf(own, changes, now).state

test('a job is Queued, Running and Completed, and its result comes last', () => {
  expect([100, 199, 200, 299, 300].map((now) => stateAt(now))).toEqual([
    'Queued',
    'Queued',
    'Running',
    'Running',
    'Completed'
  ])
  expect(courseOf(job(), [], 300)).toEqual({
    state: 'Completed',
    stranded: false,
    ranTooLong: false,
    startedAt: 200,
    endedAt: 300,
    resultAt: 350
  })
})

test('a job whose circuit cannot run fails once it is checked, without a start', () => {
  const own = job({ fails: true })
  expect([109, 110].map((now) => stateAt(now, own))).toEqual(['Queued', 'Failed'])
  expect(courseOf(own, [], 500)).toMatchObject({ stranded: false, startedAt: null, endedAt: 110, resultAt: null })
})

test.each(['paused', 'offline'] as const)(
  'a job waits while its device is %s, and then runs its whole time',
  (status) => {
    const away: Change[] = [
      { at: 150, status },
      { at: 1000, status: 'online' }
    ]
    expect([999, 1000, 1099, 1100].map((now) => stateAt(now, job(), away))).toEqual([
      'Queued',
      'Running',
      'Running',
      'Completed'
    ])
    expect(courseOf(job(), away, 2000)).toMatchObject({ startedAt: 1000, endedAt: 1100, resultAt: 1150 })
    expect(stateAt(1e9, job(), away.slice(0, 1))).toBe('Queued')
  }
)

test('a job does not wait for what its device did before its turn or after its start', () => {
  const brief: Change[] = [
    { at: 120, status: 'paused' },
    { at: 180, status: 'online' }
  ]
  expect(stateAt(200, job(), brief)).toBe('Running')
  expect(stateAt(300, job(), [{ at: 201, status: 'offline' }])).toBe('Completed')
  expect(stateAt(300, job(), [{ at: 201, status: 'retired' }])).toBe('Completed')
})

test('a job that waits for a device fails when it is retired', () => {
  const gone: Change[] = [
    { at: 150, status: 'offline' },
    { at: 900, status: 'retired' }
  ]
  expect([899, 900].map((now) => stateAt(now, job(), gone))).toEqual(['Queued', 'Failed'])
  expect(courseOf(job(), gone, 1000)).toMatchObject({ stranded: true, startedAt: null, endedAt: 900 })
})

test('a cancellation ends a job at once, before its start and after it', () => {
  expect(courseOf(job({ cancelledAt: 150 }), [], 150)).toMatchObject({
    state: 'Cancelled',
    startedAt: null,
    endedAt: 150
  })
  expect(courseOf(job({ cancelledAt: 250 }), [], 1000)).toMatchObject({
    state: 'Cancelled',
    ranTooLong: false,
    startedAt: 200,
    endedAt: 250,
    resultAt: null
  })
})

test('a job that needs more than its cap is stopped while it runs', () => {
  const own = job({ stopsAfterMs: 40 })
  expect([239, 240].map((now) => stateAt(now, own))).toEqual(['Running', 'Cancelled'])
  expect(courseOf(own, [], 1000)).toMatchObject({ ranTooLong: true, startedAt: 200, endedAt: 240, resultAt: null })
  expect(courseOf({ ...own, cancelledAt: 220 }, [], 1000)).toMatchObject({ ranTooLong: false, endedAt: 220 })
})
