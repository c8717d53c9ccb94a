import { expect, test } from '@jest/globals'
import type { AttemptState } from '../../../domain/jobs/job-status.js'
import { lastFailure, taskRetry } from '../../../domain/jobs/task-retry.js'

const failed: AttemptState = 'failed'
const lost: AttemptState = 'lost'

test('a task without retries is tried once', () => {
  expect(taskRetry([failed], 0)).toEqual({ again: false })
})

test('the waits between tries of a task double from one second to a minute', () => {
  const waits = [1, 2, 3, 6, 7, 8].map((failures) => taskRetry(Array(failures).fill(failed), 100))
  expect(waits).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000].map((afterMs) => ({ again: true, afterMs })))
})

test('a task is tried once more than its number of retries', () => {
  expect(taskRetry([failed, failed, failed], 3)).toMatchObject({ again: true })
  expect(taskRetry([failed, failed, failed, failed], 3)).toEqual({ again: false })
})

test('a lost attempt costs a task none of its retries', () => {
  expect(taskRetry([lost], 0)).toEqual({ again: true, afterMs: 1_000 })
  expect(taskRetry([lost, failed], 1)).toEqual({ again: true, afterMs: 1_000 })
  expect(taskRetry([lost, lost, failed], 0)).toEqual({ again: false })
})

test('a task whose attempts keep being lost fails in the end', () => {
  expect(taskRetry([lost, lost], 0)).toEqual({ again: true, afterMs: 2_000 })
  expect(taskRetry([lost, lost, lost], 5)).toEqual({ again: false })
})

test('an attempt that ended with the executor is always repeated and counts as no loss', () => {
  expect(taskRetry([lost, lost, 'shut_down', 'shut_down'], 0)).toEqual({ again: true, afterMs: 1_000 })
  expect(taskRetry(['shut_down', 'shut_down', 'shut_down', lost], 0)).toMatchObject({ again: true })
})

test('answers to requests serve all tries since the last failure', () => {
  expect([
    lastFailure([]),
    lastFailure([lost]),
    lastFailure([failed, lost]),
    lastFailure([failed, lost, failed])
  ]).toEqual([0, 0, 1, 3])
})
