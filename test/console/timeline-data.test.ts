import { expect, test } from '@jest/globals'
import type { JobEvent } from '../../apps/console/jobs/record/job-event.js'
import { timelineData } from '../../apps/console/jobs/record/timeline-data.js'

const at = (second: number) => new Date(second * 1_000).toISOString()
const status = (seq: number, name: 'pending' | 'running' | 'completed', second: number): JobEvent => ({
  seq,
  type: 'status',
  status: name,
  reason: null,
  at: at(second)
})
const attempt = (seq: number, number: number, state: string, second: number, task = 'circuit'): JobEvent => ({
  seq,
  type: 'attempt',
  task,
  number,
  state,
  at: at(second)
})

test('a timeline has each status, and each attempt with the pause before the next', () => {
  const events = [
    status(1, 'pending', 0),
    status(2, 'running', 1),
    attempt(3, 1, 'running', 2),
    attempt(4, 1, 'lost', 5),
    attempt(5, 2, 'running', 8)
  ]
  expect(timelineData(events, false)).toEqual({
    statuses: [
      { status: 'pending', at: 0, reason: null },
      { status: 'running', at: 1_000, reason: null }
    ],
    attempts: [
      { number: 1, state: 'lost', startedAt: 2_000, endedAt: 5_000, backoffMs: 3_000 },
      { number: 2, state: 'running', startedAt: 8_000, endedAt: null, backoffMs: null }
    ],
    isOver: false
  })
})

test('the attempts of several tasks are not mixed in one timeline', () => {
  const events = [
    status(1, 'running', 1),
    attempt(2, 1, 'running', 2, 'task_0001'),
    attempt(3, 1, 'running', 2, 'task_0002')
  ]
  expect(timelineData(events, true).attempts).toEqual([])
})
