// Task graphs from submission to result: their shape, retries, failures, and the death of a process.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually } from '../support/eventually.js'
import { submission } from '../support/jobs/builders.js'
import { failsEarly, fanOut, oneFails, outOfTime, slowChain, twoDispatches } from '../support/jobs/workflow-programs.js'
import { everything, longTest } from '../support/lane.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

const WIDTH = everything ? 50 : 12
let platform: Platform

beforeAll(async () => {
  // Ten slow tasks that run in parallel need a slot each.
  platform = await startPlatform('graphs', { executor: { slots: 12 } })
}, 180_000)

afterAll(() => platform.close())

const submit = (inline_code: string, more: object = {}) =>
  platform.submit(submission({ inline_code, framework: 'marqov', execution_mode: 'temporal', ...more }))

interface Task {
  key: string
  name: string
  state: string
  depends_on: string[]
  attempts: number
  started_at: string | null
  error: { message: string } | null
}

const tasksOf = async (id: string): Promise<Task[]> =>
  ((await (await platform.call('GET', `/api/jobs/${id}/tasks`)).json()) as { tasks: Task[] }).tasks

const attemptsOf = async (id: string, key: string) =>
  ((await platform.attempts(id)) as never as { task: string; state: string; backoff_ms: number | null }[]).filter(
    ({ task }) => task === key
  )

describe('a workflow', () => {
  test('returns its own structure, with every result in its place', async () => {
    const id = await submit(fanOut(WIDTH))
    const job = await platform.ended(id, 90_000)
    expect(job).toMatchObject({ status: 'completed', error: null })
    const squares = Array.from({ length: WIDTH }, (_, x) => x * x)
    const text = await (await platform.call('GET', `/api/jobs/${id}`)).text()
    expect(text).toContain(`"big":${10n ** 30n}`)
    expect(job.result).toMatchObject({
      sum: squares.reduce((sum, value) => sum + value),
      squares,
      constant: [1, null, 'text'],
      _workflow_metadata: { total_tasks: WIDTH + 1, total_levels: 2 }
    })
    const tasks = await tasksOf(id)
    expect(tasks).toHaveLength(WIDTH + 1)
    expect(tasks.every(({ state, attempts }) => state === 'completed' && attempts === 1)).toBe(true)
    expect(tasks.at(-1)!.depends_on).toHaveLength(WIDTH)
  }, 120_000)

  test('returns the same in direct mode, in one process', async () => {
    const job = await platform.ended(await submit(fanOut(5), { execution_mode: 'direct' }))
    expect(job).toMatchObject({
      status: 'completed',
      result: { sum: 30, squares: [0, 1, 4, 9, 16], constant: [1, null, 'text'] }
    })
  }, 60_000)
})

describe('the record of a workflow', () => {
  const program = (shots: string, rest = '') => `
from marqov import get_device, ghz_state, task, workflow

@task
def sample(n):
    return get_device(params).run(ghz_state(n), ${shots})

@workflow
def both():
    return {"two": sample(2), "three": sample(3)}
${rest}`
  const recorded = async (code: string) => {
    const { status, result } = await platform.ended(await submit(code))
    const { shots, warnings, metadata } = result!
    const { engine, shots_requested } = metadata as Record<string, unknown>
    return { status, shots, shots_requested, engine: engine !== null, warnings }
  }
  const main = `
async def main(client, params):
    return {"counts": await both().run(client)}
`

  test.each([
    ['a graph is the result', ''],
    ['a main runs the graph', main]
  ])('has the shots and the engine of its tasks when %s', async (_, rest) => {
    const ran = { status: 'completed', shots: 30, shots_requested: 30, engine: true, warnings: [] }
    expect(await recorded(program('30', rest))).toEqual(ran)
  })

  test('has no shots, and says why, when its tasks ran with different numbers or ran no circuit', async () => {
    const different = 'shots is null: the program ran circuits with different numbers of shots'
    expect(await recorded(program('10 * n'))).toMatchObject({ shots: null, engine: true, warnings: [different] })
    const none = program('30').replace(/return get_device.*/, 'return n')
    expect(await recorded(none)).toMatchObject({
      shots: null,
      engine: false,
      warnings: [expect.stringContaining("the program ran nothing on the job's device")]
    })
  })
})

describe('a task of a graph', () => {
  longTest(
    'that fails at first succeeds at a later attempt, after one second, then two, then four',
    async () => {
      const id = await submit(failsEarly)
      expect(await platform.ended(id, 90_000)).toMatchObject({ status: 'completed', result: { result: 'at last' } })
      const attempts = (await attemptsOf(id, 'task_0002')).map(({ state, backoff_ms }) => [state, backoff_ms])
      const waits = [1_000, 2_000, 4_000].slice(0, attempts.length - 1)
      expect(attempts).toEqual([...waits.map((wait) => ['failed', wait]), ['completed', null]])
      expect(waits.length).toBeGreaterThan(0)
    },
    120_000
  )

  test('that fails for good fails its job by name; running tasks are stopped, and waiting ones never start', async () => {
    const id = await submit(oneFails)
    const job = await platform.ended(id)
    expect(job).toMatchObject({
      status: 'failed',
      error: {
        code: 'execution_error',
        message: expect.stringMatching(/task 'wrong' \(task_0002\): .*ValueError: the angle is no number/s)
      }
    })
    const tasks = await tasksOf(id)
    // On a machine that stalls, the failure comes before the slow task begins.
    const slow = tasks[2]!.started_at === null ? 'skipped' : 'cancelled'
    expect(tasks.map(({ key, state }) => [key, state])).toEqual([
      ['task_0001', 'completed'],
      ['task_0002', 'failed'],
      ['task_0003', slow],
      ['task_0004', 'skipped']
    ])
  }, 60_000)

  test('that exceeds its time-out is stopped', async () => {
    const job = await platform.ended(await submit(outOfTime))
    expect(job.error!.message).toContain("task 'endless' (task_0001): time limit of 0.5 s")
  }, 60_000)
})

longTest(
  'graphs finish when a worker dies during each of ten tasks, and only those tasks run again',
  async () => {
    const places = Array.from({ length: 10 }, (_, at) => at + 1)
    const ids = await Promise.all(places.map((place) => submit(slowChain(place, 30))))
    const keyAt = (place: number) => `task_${String(place).padStart(4, '0')}`
    await eventually(
      async () => {
        const running = await Promise.all(
          ids.map(async (id, at) => (await tasksOf(id)).find(({ key }) => key === keyAt(at + 1))?.state === 'running')
        )
        return running.every(Boolean)
      },
      {
        timeoutMs: 120_000,
        message: async () =>
          JSON.stringify(await Promise.all(ids.map(async (id) => (await tasksOf(id)).map(({ state }) => state))))
      }
    )
    await platform.kill('worker')
    await platform.start.worker()
    for (const [at, id] of ids.entries()) {
      expect(await platform.ended(id, 120_000)).toMatchObject({ status: 'completed', result: { result: 10 } })
      const attempts = Object.fromEntries((await tasksOf(id)).map(({ key, attempts: count }) => [key, count]))
      expect(attempts).toEqual(Object.fromEntries(places.map((place) => [keyAt(place), place === at + 1 ? 2 : 1])))
      expect((await attemptsOf(id, keyAt(at + 1))).map(({ state }) => state)).toEqual(['lost', 'completed'])
    }
  },
  400_000
)

describe('a main that dispatches workflows', () => {
  const check = (result: Record<string, never> | null) => {
    const { salt, one, two } = result as never as { salt: number; one: number; two: object }
    expect(one).toBe(salt + 1)
    expect(two).toEqual({ named: { x: one, y: [2, [one, 2]] }, list: [{ x: 2, y: [one, [2, one]] }] })
  }

  test('continues between them where it stopped', async () => {
    const id = await submit(twoDispatches(0))
    const job = await platform.ended(id)
    expect(job).toMatchObject({ status: 'completed', error: null })
    check(job.result as never)
    expect((await tasksOf(id)).map(({ key }) => key)).toEqual(['task_0001', '2.task_0001', '2.task_0002'])
  }, 60_000)

  longTest(
    'is run again with its earlier results when the executor dies',
    async () => {
      const id = await submit(twoDispatches(15))
      await eventually(async () => (await tasksOf(id)).find(({ key }) => key === 'task_0001')?.state === 'running', {
        timeoutMs: 60_000
      })
      await platform.kill('executor')
      await platform.start.executor()
      const job = await platform.ended(id, 120_000)
      expect(job).toMatchObject({ status: 'completed', error: null })
      check(job.result as never)
      expect((await attemptsOf(id, 'task_0001')).map(({ state }) => state)).toEqual(['lost', 'completed'])
    },
    240_000
  )
})

test('a cancelled graph stops its running tasks and starts no more', async () => {
  const id = await submit(slowChain(3, 60))
  await eventually(async () => (await tasksOf(id))[2]?.state === 'running', { timeoutMs: 90_000 })
  await platform.call('POST', `/api/jobs/${id}/cancel`)
  expect(await platform.ended(id)).toMatchObject({ status: 'cancelled', error: null })
  const states = (await tasksOf(id)).map(({ state }) => state)
  expect(states).toEqual(['completed', 'completed', 'cancelled', ...Array(7).fill('skipped')])
}, 150_000)
