import { describe, expect, test } from '@jest/globals'
import {
  ATTEMPTS_MAX,
  type TimelineData,
  timelineLayout
} from '../../../apps/console/charts/timeline/timeline-layout.js'

const T = Date.UTC(2026, 10, 21, 10, 0, 0)
const at = (seconds: number) => T + seconds * 1_000
const view = (now: number, width = 800) => ({ width, now: at(now) })

const retried: TimelineData = {
  statuses: [
    { status: 'pending', at: at(0) },
    { status: 'running', at: at(10) },
    { status: 'completed', at: at(100) }
  ],
  attempts: [
    { number: 1, state: 'failed', startedAt: at(12), endedAt: at(40), backoffMs: 20_000 },
    { number: 2, state: 'completed', startedAt: at(60), endedAt: at(99), backoffMs: null }
  ],
  isOver: true
}

describe('the timeline of a job', () => {
  test('has a bar for each status as long as it lasted, and a moment for the final one', () => {
    const { rows, plot } = timelineLayout(retried, view(5_000))
    const [pending, running, completed] = rows
    expect(pending).toMatchObject({ state: 'pending', value: { text: '10.00 s' } })
    expect(pending!.bar!.width).toBeCloseTo(plot.width / 10, 6)
    expect(running!.bar!.x).toBeCloseTo(plot.x + plot.width / 10, 6)
    expect(running!.bar!.width).toBeCloseTo((plot.width * 9) / 10, 6)
    expect(completed).toMatchObject({ bar: null, moment: { x: plot.x + plot.width }, value: { text: '' } })
  })

  test('has a bar for each attempt, and the pause after it', () => {
    const { rows, plot } = timelineLayout(retried, view(5_000))
    const [first, second] = rows.filter(({ kind }) => kind === 'attempt')
    const perSecond = plot.width / 100
    expect(first!.bar).toMatchObject({ x: plot.x + 12 * perSecond })
    expect(first!.pause!.x).toBeCloseTo(plot.x + 40 * perSecond, 6)
    expect(first!.pause!.width).toBeCloseTo(20 * perSecond, 6)
    expect(first!.title).toBe('attempt 1 failed, 28.00 s, then a pause of 20.00 s')
    expect(second!.pause).toBeNull()
  })

  test('of a job that is over looks alike at any time', () => {
    expect(timelineLayout(retried, view(200))).toEqual(timelineLayout(retried, view(5_000)))
  })

  const running: TimelineData = {
    statuses: retried.statuses.slice(0, 2),
    attempts: [{ number: 1, state: 'running', startedAt: at(12), endedAt: null, backoffMs: null }],
    isOver: false
  }

  test('grows to the present while the job runs', () => {
    const { rows, plot, caption } = timelineLayout(running, view(20))
    expect(rows.map(({ value }) => value.text)).toEqual(['10.00 s', '10.00 s', '8.00 s'])
    expect(rows[1]!.bar!.x + rows[1]!.bar!.width).toBeCloseTo(plot.x + plot.width, 6)
    expect(timelineLayout(running, view(40)).rows[1]!.value.text).toBe('30.00 s')
    expect(caption).toBe('From 2026-11-21 10:00:00 UTC; 20.00 s so far.')
  })

  test('shows a pause that is still running within the picture', () => {
    const waiting: TimelineData = {
      ...running,
      attempts: [{ number: 1, state: 'failed', startedAt: at(12), endedAt: at(15), backoffMs: 30_000 }]
    }
    const { rows, plot } = timelineLayout(waiting, view(20))
    const { pause } = rows[2]!
    expect(pause!.x + pause!.width).toBeLessThanOrEqual(plot.x + plot.width + 1e-9)
    expect(pause!.width).toBeGreaterThan(plot.width / 2)
  })

  test('is not turned around by a clock that is behind', () => {
    const { rows } = timelineLayout(running, view(-500))
    for (const { bar } of rows) expect(bar!.width).toBeGreaterThan(0)
    expect(rows[1]!.value.text).toBe('0 ms')
  })

  test('shows a status of a millisecond in a week', () => {
    const week = 7 * 86_400
    const data: TimelineData = {
      statuses: [
        { status: 'pending', at: at(0), reason: '\u202ewaits' },
        { status: 'running', at: at(week) },
        { status: 'failed', at: at(week + 0.001) }
      ],
      attempts: [],
      isOver: true
    }
    const { rows, plot } = timelineLayout(data, view(week))
    expect(rows[1]!.bar!.width).toBeGreaterThanOrEqual(2)
    expect(rows[1]!.bar!.x + rows[1]!.bar!.width).toBeLessThanOrEqual(plot.x + plot.width + 1e-9)
    expect(rows[0]!.title).toContain(': \uFFFDwaits')
  })

  test('draws the last of a thousand attempts and says how many it leaves out', () => {
    const attempts = Array.from({ length: 1_000 }, (_, index) => ({
      number: index + 1,
      state: 'lost',
      startedAt: at(index),
      endedAt: at(index + 0.5),
      backoffMs: 500
    }))
    const layout = timelineLayout({ ...retried, attempts }, view(0))
    expect(layout.attemptsNotShown).toBe(1_000 - ATTEMPTS_MAX)
    expect(layout.rows.at(-1)!.label).toBe('attempt 1000')
  })

  test('before anything is known is empty', () => {
    expect(timelineLayout({ statuses: [], attempts: [], isOver: false }, view(0))).toMatchObject({
      rows: [],
      ticks: []
    })
  })
})
