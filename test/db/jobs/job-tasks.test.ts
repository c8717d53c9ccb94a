// The rows of a graph's tasks: inserted with their request, changed by the worker that has the job, closed with the
// job.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { connect } from '../../../db/client.js'
import { beginJob, failJob, recordCancelled, requestCancel } from '../../../db/job-steps/job-steps.js'
import { restartWorkflow } from '../../../db/job-steps/stalled-workflows.js'
import { closeAttempt, listAttempts, openAttempt } from '../../../db/jobs/attempts.js'
import { eventsAfter } from '../../../db/jobs/job-events.js'
import {
  completeTask,
  failTask,
  listTasks,
  loadTaskInput,
  loadTaskRun,
  openTaskAttempt
} from '../../../db/jobs/job-tasks.js'
import { resultBytes, taskResults } from '../../../db/jobs/script-answers.js'
import {
  answerScriptRequest,
  listScriptRequests,
  openTasks,
  recordScriptRequest
} from '../../../db/jobs/script-requests.js'
import type { RequestedGraph } from '../../../domain/jobs/script-requests.js'
import { JOB_VALUES_BYTES_MAX } from '../../../domain/jobs/value-limits.js'
import { requestedGraph } from '../../support/jobs/graphs.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { longTest } from '../../support/lane.js'
import { untilLockAwaited } from '../../support/postgres/lock-waits.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('job_tasks', { max: 20 })
const { db } = database
afterAll(() => database.drop())
const person = await addPerson(db)
const fence = { generation: 1 }
const script = { task: '', number: 1, series: 0, parkedAs: null }
const shown = { display: null, displayProblem: null, stdout: '', deviceShots: [] }

let id: string
beforeEach(async () => {
  id = await addJob(db, person)
  await beginJob(db, id, fence)
})

const ask = (graph: RequestedGraph) => recordScriptRequest(db, id, fence, script, graph)
const states = async () => Object.fromEntries((await listTasks(db, id)).map(({ key, state }) => [key, state]))

async function complete(key: string, result = '1') {
  const number = (await openTaskAttempt(db, id, fence, key))!
  return completeTask(db, id, key, number, { ...shown, result, display: result })
}

describe('a requested graph', () => {
  test('is recorded with its tasks, and each content once', async () => {
    const graph = requestedGraph({ a: [], b: ['a'] })
    expect(await ask(graph)).toBe('stored')
    expect(await states()).toEqual({ a: 'pending', b: 'pending' })
    // One function, and the arguments of the two tasks.
    const [row] = await db.execute(sql`select count(*)::int as count from task_values where job_id = ${id}`)
    expect(row!.count).toBe(3)
    expect(await loadTaskRun(db, id, 'b')).toMatchObject({ state: 'pending', dependsOn: ['a'] })
    expect(await loadTaskInput(db, id, 'b', (await loadTaskRun(db, id, 'b'))!)).toEqual({
      function: graph.graph.nodes[1]!.function,
      arguments: graph.graph.nodes[1]!.arguments,
      values: new Map()
    })
  })

  test('is not recorded twice, nor by a worker that has lost the job', async () => {
    await ask(requestedGraph({ a: [] }))
    expect(await ask(requestedGraph({ other: [] }))).toBe('lost')
    await restartWorkflow(db, id, 1, 'lost')
    expect(await recordScriptRequest(db, id, fence, { ...script, number: 2 }, requestedGraph({ late: [] }))).toBe(
      'lost'
    )
    expect(await states()).toEqual({ a: 'pending' })
  })

  test('holds 2,000 tasks', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [`task_${at}`, at === 0 ? [] : [`task_${at - 1}`]])
    )
    await ask(requestedGraph(chain))
    const { tasks, waitsFor } = await openTasks(db, id, 1)
    expect(tasks).toHaveLength(2_000)
    expect(waitsFor.slice(0, 3)).toEqual([[], [0], [1]])
  })

  test('returns its unfinished tasks', async () => {
    await ask(requestedGraph({ a: [], b: ['a'], c: ['a', 'b'] }))
    await complete('a')
    expect(await openTasks(db, id, 1)).toEqual({ tasks: ['b', 'c'], waitsFor: [[], [0]], failed: null })
    await failTask(db, id, 'b', fence, { code: 'execution_error', message: 'no' })
    expect((await openTasks(db, id, 1)).failed).toEqual({ code: 'execution_error', message: 'no' })
  })

  test('is answered once', async () => {
    await ask(requestedGraph({ a: [] }))
    const answers = await Promise.all([1, 2, 3].map(() => answerScriptRequest(db, id, '', 1, fence, null)))
    expect(answers.filter(Boolean)).toHaveLength(1)
    expect((await listScriptRequests(db, id, ''))[0]).toMatchObject({ state: 'answered', digest: 'd'.repeat(64) })
  })

  test('of a second dispatch has keys of its own', async () => {
    await ask(requestedGraph({ task_0001: [] }))
    await recordScriptRequest(
      db,
      id,
      fence,
      { ...script, number: 2 },
      requestedGraph({ task_0001: [], task_0002: ['task_0001'] })
    )
    expect((await listTasks(db, id)).map(({ key, dependsOn }) => [key, dependsOn])).toEqual([
      ['task_0001', []],
      ['2.task_0001', []],
      ['2.task_0002', ['2.task_0001']]
    ])
  })
})

describe('a task of a graph', () => {
  beforeEach(() => ask(requestedGraph({ a: [], b: ['a'] })))

  test('stores its result byte for byte and passes it to the tasks that depend on it', async () => {
    const result = `[${10n ** 300n}, "é", {"__cloudpickle__":true,"data":"gAU="}]`
    expect(await complete('a', result)).toBe('stored')
    const task = (await loadTaskRun(db, id, 'b'))!
    expect(await resultBytes(db, id, task.dependsOn)).toBe(Buffer.byteLength(result))
    expect((await loadTaskInput(db, id, 'b', task)).values).toEqual(new Map([['a', result]]))
    expect(await taskResults(db, id, ['a', 'b'])).toEqual(new Map([['a', result]]))
  })

  test('is completed once, by the worker that has the job', async () => {
    const number = (await openTaskAttempt(db, id, fence, 'a'))!
    await restartWorkflow(db, id, 1, 'lost')
    expect(await completeTask(db, id, 'a', number, { ...shown, result: '1' })).toBe('lost')
    const next = { generation: 2 }
    await beginJob(db, id, next)
    const second = (await openTaskAttempt(db, id, next, 'a'))!
    expect(await completeTask(db, id, 'a', second, { ...shown, result: '2' })).toBe('stored')
    expect(await completeTask(db, id, 'a', second, { ...shown, result: '3' })).toBe('lost')
    expect(await taskResults(db, id, ['a'])).toEqual(new Map([['a', '2']]))
    expect((await listAttempts(db, id)).map(({ number: n, state }) => [n, state])).toEqual([
      [1, 'lost'],
      [2, 'completed']
    ])
  })

  test('that has finished begins no further attempt', async () => {
    await complete('a')
    expect(await openTaskAttempt(db, id, fence, 'a')).toBeNull()
    expect((await listAttempts(db, id)).length).toBe(1)
  })

  test('has attempts separate from those of the script and other tasks, and events without a gap', async () => {
    await Promise.all([openTaskAttempt(db, id, fence, 'a'), openTaskAttempt(db, id, fence, 'b')])
    await closeAttempt(db, id, 1, 'failed', { code: 'execution_error', message: 'no' }, 1_000, 'a')
    expect(await openTaskAttempt(db, id, fence, 'a')).toBe(2)
    expect((await listAttempts(db, id)).map(({ task, number, state }) => [task, number, state])).toEqual([
      ['a', 1, 'failed'],
      ['a', 2, 'running'],
      ['b', 1, 'running']
    ])
    const events = await eventsAfter(db, id, 0)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  })

  test('begins no attempt once the job is being cancelled', async () => {
    await requestCancel(db, id)
    expect(await openTaskAttempt(db, id, fence, 'a')).toBeNull()
    expect(await states()).toMatchObject({ a: 'pending' })
  })
})

test('many results at once never take more room than their job has', async () => {
  const keys = Array.from({ length: 8 }, (_, at) => `task_${at}`)
  await ask(requestedGraph(Object.fromEntries(keys.map((key) => [key, []]))))
  await db.execute(sql`update jobs set values_bytes = ${JOB_VALUES_BYTES_MAX - 35} where id = ${id}`)
  const results = await Promise.all(keys.map((key, at) => complete(key, `"result_${at}"`)))
  expect(results.sort()).toEqual([...Array(5).fill('full'), ...Array(3).fill('stored')])
  const [row] = await db.execute(sql`select values_bytes::int as bytes from jobs where id = ${id}`)
  expect(row!.bytes).toBe(JOB_VALUES_BYTES_MAX - 5)
})

test('a result that is stored already takes no room', async () => {
  await ask(requestedGraph({ a: [], b: [] }))
  await complete('a', '"the same"')
  await db.execute(sql`update jobs set values_bytes = ${JOB_VALUES_BYTES_MAX} where id = ${id}`)
  expect(await complete('b', '"the same"')).toBe('stored')
})

test('a graph for which its job has no room left is not recorded', async () => {
  await db.execute(sql`update jobs set values_bytes = ${JOB_VALUES_BYTES_MAX - 10} where id = ${id}`)
  expect(await ask(requestedGraph({ a: [] }))).toBe('full')
  expect(await states()).toEqual({})
  expect(await listScriptRequests(db, id, '')).toEqual([])
})

test('a worker that has lost the job fails none of its tasks', async () => {
  await ask(requestedGraph({ a: [] }))
  await restartWorkflow(db, id, 1, 'lost')
  expect(await failTask(db, id, 'a', fence, { code: 'execution_error', message: 'of a ghost' })).toBe(false)
  expect(await states()).toEqual({ a: 'pending' })
})

test('of two workers that open an attempt at once, one has it and the other has lost it', async () => {
  await ask(requestedGraph({ a: [] }))
  let second: Promise<number | null> | null = null
  await db.transaction(async (tx) => {
    expect(await openAttempt(tx, id, fence, { task: 'a' })).toBe(1)
    second = openTaskAttempt(db, id, fence, 'a')
    await untilLockAwaited(db)
  })
  expect(await second).toBeNull()
  expect((await listAttempts(db, id)).map(({ number, state }) => [number, state])).toEqual([[1, 'running']])
})

longTest(
  'a large result and a large graph are stored although they take longer than other statements may',
  async () => {
    await ask(requestedGraph({ a: [], b: [] }))
    const numbers = [(await openTaskAttempt(db, id, fence, 'a'))!, (await openTaskAttempt(db, id, fence, 'b'))!]
    // A slow disk.
    await database.sql`create function slow_down() returns trigger language plpgsql as $$
    begin perform pg_sleep(2.5); return new; end $$`
    await database.sql`create trigger slow_down before insert on task_values for each row execute function slow_down()`
    const impatient = connect(database.url, { max: 1, statementTimeoutMs: 2_000 })
    const large = JSON.stringify('x'.repeat(2 * 1024 * 1024))
    expect(await completeTask(impatient.db, id, 'a', numbers[0]!, { ...shown, result: large })).toBe('stored')
    const graph = requestedGraph({ c: [] })
    graph.graph.nodes[0]!.arguments = large
    const second = { task: '', number: 2, series: 0, parkedAs: null }
    expect(await recordScriptRequest(impatient.db, id, fence, second, graph)).toBe('stored')
    const small = completeTask(impatient.db, id, 'b', numbers[1]!, { ...shown, result: '"small"' })
    await expect(small).rejects.toThrow()
    await impatient.close()
    await database.sql`drop trigger slow_down on task_values`
  }
)

test('a large value that several tasks return is sent to the database once, and is the result of each', async () => {
  await ask(requestedGraph({ a: [], b: [] }))
  const large = JSON.stringify('é'.repeat(1024 * 1024))
  const [first, second] = [(await openTaskAttempt(db, id, fence, 'a'))!, (await openTaskAttempt(db, id, fence, 'b'))!]
  expect(await completeTask(db, id, 'a', first, { ...shown, result: large })).toBe('stored')
  // A connection that cannot carry it again.
  const narrow = connect(database.url, { max: 1 })
  await narrow.db.execute(sql`create temporary table sent_slices (nothing int)`)
  expect(await completeTask(narrow.db, id, 'b', second, { ...shown, result: large })).toBe('stored')
  await narrow.close()
  expect(await taskResults(db, id, ['a', 'b'])).toEqual(
    new Map([
      ['a', large],
      ['b', large]
    ])
  )
  const [row] = await db.execute<{ bytes: number }>(sql`select values_bytes::int as bytes from jobs where id = ${id}`)
  const [stored] = await db.execute<{ bytes: number }>(
    sql`select sum(size_bytes)::int as bytes from task_values where job_id = ${id}`
  )
  expect(row!.bytes).toBeGreaterThanOrEqual(stored!.bytes)
})

test('a large value that two tasks of a worker return at once is sent to the database once', async () => {
  await ask(requestedGraph({ a: [], b: [] }))
  const numbers = { a: (await openTaskAttempt(db, id, fence, 'a'))!, b: (await openTaskAttempt(db, id, fence, 'b'))! }
  const worker = connect(database.url, { max: 1 })
  const noted = [
    sql`create temporary table sent_slices (content_id uuid, at int, slice bytea) on commit delete rows`,
    sql`create temporary table sent (content_id uuid)`,
    sql`create function pg_temp.note() returns trigger language plpgsql as
      'begin insert into pg_temp.sent values (new.content_id); return new; end'`,
    sql`create trigger note before insert on pg_temp.sent_slices for each row execute function pg_temp.note()`
  ]
  for (const statement of noted) await worker.db.execute(statement)
  const result = JSON.stringify('x'.repeat(1024 * 1024))
  const stored = (['a', 'b'] as const).map((key) =>
    completeTask(worker.db, id, key, numbers[key], { ...shown, result })
  )
  expect(await Promise.all(stored)).toEqual(['stored', 'stored'])
  const [row] = await worker.db.execute<{ contents: number }>(
    sql`select count(distinct content_id)::int as contents from pg_temp.sent`
  )
  expect(row!.contents).toBe(1)
  await worker.close()
})

describe('the end of a job', () => {
  beforeEach(async () => {
    await ask(requestedGraph({ done: [], running: [], waiting: ['running'] }))
    await complete('done')
    await openTaskAttempt(db, id, fence, 'running')
  })

  test('by a failure cancels running tasks and skips pending ones', async () => {
    await failJob(db, id, fence, { code: 'execution_error', message: 'no' })
    expect(await states()).toEqual({ done: 'completed', running: 'cancelled', waiting: 'skipped' })
  })

  test('by a failure closes the attempt of the waiting script as failed, not as lost', async () => {
    const attempt = await openAttempt(db, id, fence)
    await failJob(db, id, fence, { code: 'execution_error', message: 'no' })
    const [script] = (await listAttempts(db, id)).filter(({ task }) => task === '')
    expect(script).toMatchObject({ number: attempt, state: 'failed', errorMessage: 'no' })
    const events = await eventsAfter(db, id, 0)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
    expect(events.at(-1)).toMatchObject({ type: 'status', status: 'failed' })
  })

  test('by a cancel does the same', async () => {
    await recordCancelled(db, id, fence, 'stopped_before_provider')
    expect(await states()).toEqual({ done: 'completed', running: 'cancelled', waiting: 'skipped' })
  })
})
