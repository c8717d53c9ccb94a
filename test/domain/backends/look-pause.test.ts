import { expect, test } from '@jest/globals'
import { lookPauseMs } from '../../../domain/backends/look-pause.js'

const MINUTE = 60
const DAY = 86_400

test('the pause before the next look grows with the wait of a job, up to a minute', () => {
  expect([0, 5, 20, 5 * MINUTE, 30 * DAY].map((seconds) => lookPauseMs(seconds, 1))).toEqual([
    1_000, 1_000, 2_000, 30_000, 60_000
  ])
})

test('a team with few looks is not slowed down', () => {
  expect(lookPauseMs(20, 20)).toBe(lookPauseMs(20, 0))
})

test('the jobs of a team with more looks share what it has, each in proportion to its own pause', () => {
  expect(lookPauseMs(20, 100)).toBe(5 * lookPauseMs(20, 1))
  expect(lookPauseMs(DAY, 100)).toBe(5 * lookPauseMs(DAY, 1))
})

test('no number of jobs keeps an end unnoticed for more than ten minutes', () => {
  expect(lookPauseMs(DAY, 1_000_000)).toBe(10 * MINUTE * 1_000)
})
