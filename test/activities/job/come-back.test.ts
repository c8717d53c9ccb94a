// How an activity that would wait long for the executor ends: its slot is free, and Temporal repeats it.
import { expect, test } from '@jest/globals'
import { Context } from '@temporalio/activity'
import { ApplicationFailureCategory } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { withHeartbeat } from '../../../activities/job/heartbeat.js'
import { ComeBackLater } from '../../../services/executor/wait.js'

const HOUR = 3_600_000

/** The failure of an activity that was first scheduled so long ago. */
const failure = (attempt: number, error: Error, sinceMs = 0) =>
  new MockActivityEnvironment({ attempt, scheduledTimestampMs: Date.now() - sinceMs })
    .run(() => withHeartbeat(Context.current(), () => Promise.reject(error)))
    .catch((thrown: unknown) => thrown)

test('an activity without a place in the line comes back within seconds, and less often the longer it waits', async () => {
  for (const [attempt, least, most] of [
    [1, 375, 625],
    [2, 750, 1_250],
    [50, 6_000, 10_000]
  ] as const) {
    const failed = await failure(attempt, new ComeBackLater('others wait', null))
    expect(failed).toMatchObject({ type: 'not_yet', nonRetryable: false, category: ApplicationFailureCategory.BENIGN })
    const { nextRetryDelay } = failed as { nextRetryDelay: number }
    expect(nextRetryDelay).toBeGreaterThanOrEqual(least)
    expect(nextRetryDelay).toBeLessThanOrEqual(most)
  }
})

test('an absent execution service fails a job once it was away for 24 hours of the waiting, and not before', async () => {
  const away = (awayHours: number, waitedHours: number) =>
    failure(9, new ComeBackLater('refused', awayHours * HOUR), waitedHours * HOUR)
  expect(await away(25, 1)).toMatchObject({ type: 'not_yet' })
  expect(await away(1, 25)).toMatchObject({ type: 'not_yet' })
  expect(await away(25, 25)).toMatchObject({ type: 'execution_error', nonRetryable: true })
})

test('any other error stays unchanged', async () => {
  const error = new Error('a fault')
  expect(await failure(1, error)).toBe(error)
})
