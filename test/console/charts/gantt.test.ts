import { describe, expect, test } from '@jest/globals'
import { type GanttData, type GanttWindow, ganttLayout, ROW } from '../../../apps/console/charts/gantt/gantt-layout.js'
import {
  criticalPath,
  type GanttTask,
  shortKey,
  type TaskState,
  taskCountsText
} from '../../../apps/console/charts/gantt/task-rows.js'

const T = Date.UTC(2026, 10, 21)
const at = (seconds: number) => T + seconds * 1_000

const task = (number: number, given: Partial<GanttTask> = {}): GanttTask => ({
  id: `task_${number}`,
  key: `task_${String(number).padStart(4, '0')}`,
  name: 'agreement',
  state: 'completed',
  dependsOn: [],
  startedAt: at(number),
  endedAt: at(number + 1),
  ...given
})

const window = (given: Partial<GanttWindow> = {}): GanttWindow => ({
  width: 1_000,
  now: at(100),
  all: false,
  top: 0,
  height: 480,
  pointed: null,
  ...given
})

const tasksOf = (rows: ReturnType<typeof ganttLayout>['rows']) => rows.filter((row) => row.kind === 'task')

const diamond: GanttData = {
  tasks: [
    task(0),
    task(1, { dependsOn: ['task_0'], endedAt: at(9) }),
    task(2, { dependsOn: ['task_0'] }),
    task(10, { dependsOn: ['task_1', 'task_2'], state: 'running', endedAt: null }),
    task(11, { dependsOn: ['task_10'], state: 'pending', startedAt: null, endedAt: null })
  ],
  attempts: []
}

describe('a small graph', () => {
  test('is drawn whole, each task from its start to its end', () => {
    const { rows, plot, height, notShown } = ganttLayout(diamond, window({ now: at(20) }))
    expect(height).toBe(5 * ROW)
    expect(notShown).toBe(0)
    const bars = tasksOf(rows).map(({ bars }) =>
      bars.map(({ x, width }) => [x, width].map((one) => ((one - (one === x ? plot.x : 0)) / plot.width) * 20))
    )
    expect(bars[1]![0]![0]).toBeCloseTo(1, 9)
    expect(bars[1]![0]![1]).toBeCloseTo(8, 9)
    expect(bars[4]).toEqual([])
  })

  test('lets what runs grow to the present', () => {
    const { rows, plot } = ganttLayout(diamond, window({ now: at(20) }))
    const [bar] = tasksOf(rows)[3]!.bars
    expect(bar!.x + bar!.width).toBeCloseTo(plot.x + plot.width, 6)
    expect(tasksOf(rows)[3]!.lasted).toBe('10.00 s')
  })

  test('shows the critical path: of each task the dependency that ended last', () => {
    expect([...criticalPath(diamond.tasks, at(20))]).toEqual(['task_10', 'task_1', 'task_0'])
    expect(tasksOf(ganttLayout(diamond, window()).rows).map(({ isCritical }) => isCritical)).toEqual([
      true,
      true,
      false,
      true,
      false
    ])
  })

  test('is not drawn endlessly where tasks depend on each other in a circle', () => {
    const circle = [task(1, { dependsOn: ['task_2'] }), task(2, { dependsOn: ['task_1'] })]
    expect(criticalPath(circle, at(9)).size).toBe(2)
  })

  test('shows what the task that is pointed at needs, and what needs it', () => {
    const { rows, links } = ganttLayout(diamond, window({ pointed: 'task_1' }))
    expect(tasksOf(rows).map(({ relation }) => relation)).toEqual(['before', 'self', null, 'after', null])
    expect(links).toHaveLength(2)
    expect(ganttLayout(diamond, window()).links).toEqual([])
  })

  test('says in words what a row shows', () => {
    expect(tasksOf(ganttLayout(diamond, window({ now: at(20) })).rows)[3]!.title).toBe(
      '10 agreement: running, 10.00 s, after 1, 2, on the critical path'
    )
  })

  test('draws attempts within the time of their task', () => {
    const data: GanttData = {
      tasks: [task(0, { endedAt: at(10) })],
      attempts: [
        { taskId: 'task_0', number: 1, state: 'failed', startedAt: at(0), endedAt: at(2) },
        { taskId: 'task_0', number: 2, state: 'completed', startedAt: at(5), endedAt: at(10) },
        { taskId: 'task_7', number: 1, state: 'completed', startedAt: at(0), endedAt: at(2) }
      ]
    }
    const [row] = tasksOf(ganttLayout(data, window()).rows)
    expect(row!.bars.map(({ state }) => state)).toEqual(['failed', 'completed'])
    expect(row!.line!.width).toBeCloseTo(row!.bars[1]!.x + row!.bars[1]!.width - row!.bars[0]!.x, 6)
  })

  test('says how long it has taken so far, and in all once every task has ended', () => {
    expect(ganttLayout(diamond, window({ now: at(20) })).caption).toBe('From 2026-11-21 00:00:00 UTC; 20.00 s so far.')
    const over = { ...diamond, tasks: diamond.tasks.slice(0, 3) }
    expect(ganttLayout(over, window({ now: at(20) })).caption).toBe('From 2026-11-21 00:00:00 UTC; 9.00 s in all.')
  })

  test('has no axis before a task has started', () => {
    const { ticks, caption } = ganttLayout(
      { tasks: [task(1, { state: 'pending', startedAt: null, endedAt: null })], attempts: [] },
      window()
    )
    expect(ticks).toEqual([])
    expect(caption).toBe('No task has started.')
  })

  test('leaves the duration to the title where there is no room', () => {
    expect(ganttLayout(diamond, window({ width: 360 }))).toMatchObject({ lastedX: null })
  })
})

const large = (): GanttData => {
  const states: TaskState[] = ['completed', 'failed', 'running', 'pending', 'completed']
  const tasks = Array.from({ length: 2_000 }, (_, number) => {
    const state = states[number % states.length]!
    return task(number, {
      state,
      startedAt: state === 'pending' ? null : at(number / 10),
      endedAt: state === 'pending' || state === 'running' ? null : at(number / 10 + (number % 97)),
      dependsOn: number < 3 ? [] : [`task_${number - 3}`, `task_${number >> 1}`]
    })
  })
  const attempts = tasks.flatMap(({ id, startedAt, endedAt, state }) =>
    startedAt === null ? [] : [{ taskId: id, number: 1, state, startedAt, endedAt }]
  )
  return { tasks, attempts }
}

describe('a graph of 2,000 tasks', () => {
  test('is summarised as failed, running and slowest', () => {
    const { rows, height, notShown, counts } = ganttLayout(large(), window({ height: 5_000 }))
    expect(rows.flatMap((row) => (row.kind === 'heading' ? [row.text] : []))).toEqual([
      'Failed (20 of 400)',
      'Running (20 of 400)',
      'Slowest (10 of 800)'
    ])
    expect(height).toBe(53 * ROW)
    expect(notShown).toBe(1_950)
    expect(counts).toBe('2000 tasks: 800 completed, 400 running, 400 failed, 400 pending')
  })

  test('draws all on demand, but only the rows that are seen', () => {
    const { rows, height, notShown } = ganttLayout(large(), window({ all: true, top: 1_000 * ROW, width: 1_000 }))
    expect(height).toBe(2_000 * ROW)
    expect(notShown).toBe(0)
    expect(rows.length).toBeLessThan(40)
    const ys = rows.map(({ y }) => y)
    expect(Math.min(...ys)).toBeLessThanOrEqual(1_000 * ROW)
    expect(Math.max(...ys)).toBeGreaterThanOrEqual(1_000 * ROW + 480 - ROW)
  })

  test('is laid out well within a frame, though 50 tasks change in a second', () => {
    const data = large()
    const times: number[] = []
    for (let change = 0; change < 100; change++) {
      // Each change is a new list, as the page makes one of what it receives.
      const tasks = data.tasks.with(change * 7, {
        ...data.tasks[change * 7]!,
        state: 'completed',
        endedAt: at(300 + change)
      })
      const begun = performance.now()
      ganttLayout({ ...data, tasks }, window({ all: change % 2 === 0, now: at(300 + change / 50), pointed: 'task_9' }))
      times.push(performance.now() - begun)
    }
    // Half a frame of 50 ms, so that a browser has the rest for drawing; the machine can be busy with other tests.
    expect(times.sort((one, other) => one - other)[50]).toBeLessThan(25)
  })
})

test('tasks are counted by state, and named by their numbers', () => {
  expect(taskCountsText([task(1)])).toBe('1 task: 1 completed')
  expect(['task_0012', '2.task_0003', 'own name'].map(shortKey)).toEqual(['12', '2.3', 'own name'])
})
