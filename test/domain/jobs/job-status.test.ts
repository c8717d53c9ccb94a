import { describe, expect, test } from '@jest/globals'
import {
  finalStatuses,
  isFinal,
  isJobStatus,
  jobStatuses,
  mayFollow,
  statusesBefore
} from '../../../domain/jobs/job-status.js'

// A second copy of the table, so that a mistake in one of them is noticed.
const allowed = [
  'pending running',
  'pending cancelling',
  'pending cancelled',
  'pending dispatch_failed',
  'pending failed',
  'running completed',
  'running failed',
  'running cancelling',
  'cancelling cancelled',
  'cancelling completed',
  'cancelling failed'
]

describe('the life of a job', () => {
  test('exactly the eleven listed of all 49 status changes are allowed', () => {
    const pairs = jobStatuses.flatMap((from) => jobStatuses.map((to) => [from, to] as const))
    expect(pairs).toHaveLength(49)
    expect(
      pairs
        .filter(([from, to]) => mayFollow(from, to))
        .map((pair) => pair.join(' '))
        .sort()
    ).toEqual([...allowed].sort())
  })

  test('completed, failed, cancelled and dispatch_failed are final, the others are not', () => {
    expect([...finalStatuses].sort()).toEqual(['cancelled', 'completed', 'dispatch_failed', 'failed'])
    expect(jobStatuses.filter((status) => !isFinal(status)).sort()).toEqual(['cancelling', 'pending', 'running'])
  })

  test('statusesBefore is the table read backwards', () => {
    for (const to of jobStatuses)
      expect(statusesBefore(to)).toEqual(jobStatuses.filter((from) => allowed.includes(`${from} ${to}`)))
  })

  test('inherited property names are not statuses', () => {
    for (const name of ['toString', '__proto__', 'constructor', '', 'PENDING']) expect(isJobStatus(name)).toBe(false)
    for (const status of jobStatuses) expect(isJobStatus(status)).toBe(true)
  })
})
