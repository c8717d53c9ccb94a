// Two executors behind one worker: what the death, the stop or the differences of one do to jobs.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { slowQiskit, submission } from '../../support/jobs/builders.js'
import { twoDispatches } from '../../support/jobs/workflow-programs.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform('executor-pools', {
    executor: { slots: 2, engines: 'statevector', drainSeconds: 60 },
    executor2: { slots: 2, drainSeconds: 60 }
  })
}, 120_000)
afterAll(() => platform.close())

type Name = 'executor' | 'executor2'
const names: readonly Name[] = ['executor', 'executor2']
const health = async (name: Name) => JSON.parse(await platform.ofExecutor(name, '/health'))
const counted = async (name: Name, series: string): Promise<number> =>
  Number(
    new RegExp(`^${series.replaceAll(/[{}]/g, '\\$&')} (.*)$`, 'm').exec(
      await platform.ofExecutor(name, '/metrics')
    )?.[1] ?? 0
  )
/** The runs of jobs that have completed. */
const COMPLETED = 'qjs_executor_runs_total{lane="jobs",outcome="completed",task="run"}'
const temporal = (seconds: number) =>
  submission({ inline_code: slowQiskit(seconds), framework: 'qiskit', execution_mode: 'temporal' })
const submitAll = (count: number, body: object) =>
  Promise.all(Array.from({ length: count }, () => platform.submit(body as Record<string, unknown>)))
const endsOf = async (ids: string[]) =>
  (await Promise.all(ids.map((id) => platform.ended(id, 120_000)))).map(({ status, error }) => [status, error])
const completed = (ids: string[]) => ids.map(() => ['completed', null])

test('both get work, and none gets what it has no engine for', async () => {
  const ids = await submitAll(4, temporal(3))
  const other = await submitAll(4, submission({ backend: 'aer-mps' }))
  expect(await endsOf([...ids, ...other])).toEqual(completed([...ids, ...other]))
  expect(await platform.attempts(other[0]!)).toHaveLength(1)
  // One that answers late to a look gets no work until the next.
  await eventually(
    async () => {
      const counts = await Promise.all(names.map((name) => counted(name, COMPLETED)))
      if (counts.every((count) => count > 0)) return true
      const more = await submitAll(4, temporal(1))
      expect(await endsOf(more)).toEqual(completed(more))
      return false
    },
    { timeoutMs: 120_000 }
  )
}, 400_000)

test('a script that waits for its tasks is continued by the executor that holds it', async () => {
  const before = await Promise.all(names.map((name) => counted(name, 'qjs_executor_parkings_total{end="resumed"}')))
  const ids = await submitAll(
    4,
    submission({ inline_code: twoDispatches(0), framework: 'marqov', execution_mode: 'temporal' })
  )
  expect(await endsOf(ids)).toEqual(completed(ids))
  const after = await Promise.all(names.map((name) => counted(name, 'qjs_executor_parkings_total{end="resumed"}')))
  // Each of the four waits for each of its two graphs.
  expect(after[0]! + after[1]! - before[0]! - before[1]!).toBe(8)
  for (const name of names)
    expect(await counted(name, 'qjs_executor_refusals_total{lane="jobs",reason="not_parked"}')).toBe(0)
}, 180_000)

test('one is told to stop: its runs finish, and the other one takes what comes', async () => {
  const ids = await submitAll(2, temporal(20))
  await eventually(
    async () => (await health('executor')).slots.running === 1 && (await health('executor2')).slots.running === 1
  )
  platform.tellToStop('executor')
  await eventually(async () => (await health('executor')).status === 'draining')
  const later = await submitAll(3, temporal(0))
  expect(await endsOf([...ids, ...later])).toEqual(completed([...ids, ...later]))
  for (const id of [...ids, ...later])
    expect((await platform.attempts(id)).map(({ state }) => state)).toEqual(['completed'])
  await platform.exited('executor')
  await platform.start.executor()
}, 300_000)

test('one is killed: its jobs are executed again by the other one, and none fails', async () => {
  const ids = await submitAll(4, temporal(20))
  // A slot can be reserved and not used yet.
  for (const id of ids) await platform.accepted(id)
  await eventually(async () => (await health('executor')).slots.running > 0)
  await platform.kill('executor')
  const later = await submitAll(2, temporal(0))
  expect(await endsOf([...ids, ...later])).toEqual(completed([...ids, ...later]))
  const states = await Promise.all(ids.map(async (id) => (await platform.attempts(id)).map(({ state }) => state)))
  const lost = states.filter((of) => of.length > 1)
  expect(states.filter((of) => of.length === 1)).toEqual(Array(4 - lost.length).fill(['completed']))
  // Those that it ran, of which one can have ended at the kill.
  expect(lost).toEqual(Array(lost.length).fill(['lost', 'completed']))
  expect([1, 2]).toContain(lost.length)
  await platform.start.executor()
  await eventually(
    async () => {
      const [id] = await submitAll(1, temporal(0))
      await platform.ended(id!, 90_000)
      return (await counted('executor', COMPLETED)) > 0
    },
    { timeoutMs: 120_000 }
  )
}, 400_000)
