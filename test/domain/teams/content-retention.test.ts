// How long contents of jobs are kept: the shorter of two numbers, and what is refused afterwards.
import { expect, test } from '@jest/globals'
import { assertKept, daysInForce, KEPT_DAYS_MAX, readKeptDays } from '../../../domain/teams/content-retention.js'

test('the shorter of the numbers of team and platform holds; without either, contents are kept for ever', () => {
  expect([daysInForce(30, 90), daysInForce(90, 30), daysInForce(30, null), daysInForce(null, 90)]).toEqual([
    30, 30, 30, 90
  ])
  expect(daysInForce(null, null)).toBeNull()
})

test('the settings of the platform are whole days, and a wrong one is refused by its name', () => {
  const none = { results: null, task_values: null, output: null }
  expect(readKeptDays({})).toEqual(none)
  expect(readKeptDays({ KEEP_RESULTS_DAYS: '', KEEP_TASK_VALUES_DAYS: '1', KEEP_OUTPUT_DAYS: '36500' })).toEqual({
    ...none,
    task_values: 1,
    output: KEPT_DAYS_MAX
  })
  for (const name of ['KEEP_RESULTS_DAYS', 'KEEP_TASK_VALUES_DAYS', 'KEEP_OUTPUT_DAYS'])
    for (const wrong of ['0', '-1', '1.5', '36501', 'a week', '1e2'])
      expect(() => readKeptDays({ [name]: wrong })).toThrow(`${name} must be a whole number of days from 1 to 36500`)
})

test('the refusal names what was removed and when; other kinds are not refused', () => {
  const removed = { output: new Date('2026-11-20T09:00:00Z') }
  expect(() => assertKept(removed, ['results', 'task_values'])).not.toThrow()
  expect(() => assertKept(removed, ['results', 'output'])).toThrow('Removed on 2026-11-20: the output of this job.')
})
