// The timeline of a workflow's tasks.
import { expect, test } from '@jest/globals'
import type { Attempt, Task } from '../../apps/cli/jobs/job-record.js'
import { tasksText } from '../../apps/cli/jobs/job-watch.js'
import { isGraph, timelineText } from '../../apps/cli/jobs/task-timeline.js'
import type { TaskState } from '../../domain/jobs/job-status.js'

const JOB = '01900000-0000-7000-8000-000000000000'
const BEGAN = Date.parse('2026-11-21T10:00:00.000Z')
const at = (seconds: number): string => new Date(BEGAN + seconds * 1000).toISOString()

const task = (
  number: number,
  state: TaskState,
  from: number | null,
  to: number | null,
  more: Partial<Task> = {}
): Task => ({
  id: `task_${String(number).padStart(4, '0')}`,
  key: `task_${String(number).padStart(4, '0')}`,
  name: `step${number}`,
  state,
  depends_on: [],
  attempts: from === null ? 0 : 1,
  started_at: from === null ? null : at(from),
  completed_at: to === null ? null : at(to),
  error: null,
  ...more
})

const attempt = (of: string, number: number, state: string, from: number, to: number | null): Attempt => ({
  task_id: of,
  task: of,
  number,
  state,
  started_at: at(from),
  ended_at: to === null ? null : at(to),
  error: null,
  backoff_ms: null,
  provider_job_id: null
})

const narrow = { columns: 80, now: BEGAN + 10_000 }

test('the timeline has a line for every task on a common axis, with its dependencies', () => {
  const tasks = [
    task(1, 'completed', 0, 2),
    task(2, 'completed', 0, 4),
    task(3, 'completed', 0, 4),
    task(4, 'completed', 4, 8, { depends_on: ['task_0001', 'task_0002', 'task_0003'] })
  ]
  const lines = timelineText(tasks, [], narrow).split('\n')
  expect(lines[0]).toBe('4 tasks: 4 completed; 8.00s in all')
  expect(lines[2]).toMatch(/^TASK {2}NAME {3}STATE {6}START {2}LASTED {2}AFTER {2}0 +8\.00s$/)
  expect(lines.slice(2).every((line) => line.length <= 80)).toBe(true)
  expect(lines[2]).toHaveLength(80)
  const bar = (line: string) => line.slice(lines[2]!.indexOf('0 ', 30))
  const width = bar(lines[2]!).length
  expect(bar(lines[3]!)).toBe('█'.repeat(Math.round(width / 4)))
  expect(bar(lines[4]!)).toBe('█'.repeat(Math.round(width / 2)))
  expect(bar(lines[6]!)).toBe(' '.repeat(Math.floor(width / 2)) + '█'.repeat(width - Math.floor(width / 2)))
  expect(lines[6]).toMatch(/^4 {5}step4 {2}completed {2}4\.00s +4\.00s {2}1-3 /)
  // A wider terminal has longer bars.
  expect(timelineText(tasks, [], { ...narrow, columns: 120 }).split('\n')[2]).toHaveLength(120)
})

test("the timeline's bars show failed attempts, the waits between them and the successful one", () => {
  const tried = task(1, 'completed', 0, 8, { attempts: 3 })
  const attempts = [
    attempt('task_0001', 1, 'failed', 0, 2),
    attempt('task_0001', 2, 'lost', 3, 4),
    attempt('task_0001', 3, 'completed', 6, 8)
  ]
  const lines = timelineText([tried], attempts, narrow).split('\n')
  expect(lines[2]).toContain('TRIES')
  expect(lines[3]).toMatch(/ 3 +0\.00s +8\.00s {2}▒+·+▒+·+█+$/)
})

test('the timeline shows the error of a failed task, no bar for a skipped one, and no control characters', () => {
  const lines = timelineText(
    [
      task(1, 'failed', 0, 1, { name: 'a\x1b[2Jb', error: { code: 'execution_error', message: 'no\nluck\x07' } }),
      task(2, 'skipped', null, null, { depends_on: ['task_0001'] })
    ],
    [],
    narrow
  ).split('\n')
  expect(lines[0]).toBe('2 tasks: 1 failed, 1 skipped; 1.00s in all')
  expect(lines[3]).toMatch(/^1 {5}a�\[2Jb +failed .*▒$/)
  expect(lines[4]).toBe('      execution_error: no luck�')
  expect(lines[5]).toMatch(/^2 {5}step2 +skipped +1$/)
})

test('the bar of a running task reaches to the present, even if the local clock is behind', () => {
  const running = [task(1, 'completed', 0, 5), task(2, 'running', 5, null)]
  expect(timelineText(running, [], narrow)).toContain('10.00s in all')
  expect(timelineText(running, [], { ...narrow, now: BEGAN - 3_600_000 })).toContain('5.00s in all')
  expect(timelineText([task(1, 'pending', null, null)], [], narrow)).toBe(
    '1 task: 1 pending\n\nTASK  NAME   STATE\n1     step1  pending'
  )
})

test('two thousand tasks are summarised as failed, running and slowest, and shown in full on request', () => {
  const tasks = Array.from({ length: 2_000 }, (_, n) =>
    n < 30
      ? task(n + 1, 'failed', 1, 2, { error: { code: 'execution_error', message: 'no' } })
      : n < 40
        ? task(n + 1, 'running', 1, null)
        : task(n + 1, 'completed', 0, n / 1_000)
  )
  const began = process.cpuUsage()
  const summary = timelineText(tasks, [], narrow)
  expect(summary.split('\n')[0]).toBe('2000 tasks: 1960 completed, 10 running, 30 failed; 10.00s in all')
  expect([...summary.matchAll(/^(Failed.*|Running.*|Slowest.*)$/gm)].map(([line]) => line)).toEqual([
    'Failed (20 of 30)',
    'Running',
    'Slowest'
  ])
  expect(summary).toMatch(/^Slowest\n.*\n2000 +step2000 +completed +0\.00s +2\.00s /m)
  expect(summary.split('\n').length).toBeLessThan(75)
  const all = timelineText(tasks, [], { ...narrow, all: true })
  expect(all.split('\n').filter((line) => / step\d+ /.test(line))).toHaveLength(2_000)
  const { user, system } = process.cpuUsage(began)
  expect((user + system) / 1_000).toBeLessThan(5_000)
})

test('long names and many dependencies leave room for the bars', () => {
  const many = Array.from({ length: 40 }, (_, n) => `task_${String(2 * n + 1).padStart(4, '0')}`)
  const tasks = [
    ...many.map((key, n) =>
      task(2 * n + 1, 'completed', n, n + 1, { key, name: 'a name that is far too long '.repeat(9) })
    ),
    task(100, 'completed', 40, 41, { depends_on: many, key: '2.task_0003' })
  ]
  const lines = timelineText(tasks, [], narrow).split('\n')
  expect(Math.max(...lines.map((line) => [...line].length))).toBe(80)
  expect(lines.at(-1)).toMatch(/^2\.3 +step100 .* {2}1,3,5,7,\+36 +█+$/)
})

test('a plain job is not a graph, and progress names the running tasks', () => {
  expect(isGraph(JOB, [task(1, 'completed', 0, 1, { id: JOB, key: 'circuit' })])).toBe(false)
  expect(isGraph(JOB, [task(1, 'completed', 0, 1)])).toBe(true)
  const tasks = [
    task(1, 'completed', 0, 1),
    task(2, 'failed', 0, 1),
    ...[3, 4, 5, 6].map((number) => task(number, 'running', 0, null))
  ]
  expect(tasksText(tasks)).toBe('1 of 6 tasks done, 1 failed, running: step3, step4, step5 and 1 more')
  expect(tasksText([task(1, 'pending', null, null)])).toBe('0 of 1 tasks done')
})
