// The tasks of a graph within one step: each runs as soon as its inputs exist, and a step that could only wait ends instead.
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { runGraph } from '../../../activities/job/run-graph.js'
import type { Db } from '../../../db/client.js'
import { beginJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { loadTaskState } from '../../../db/jobs/job-tasks.js'
import { loadJobRun } from '../../../db/jobs/jobs.js'
import { openTasks, recordScriptRequest } from '../../../db/jobs/script-requests.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { ComeBackLater } from '../../../services/executor/wait.js'
import { eventually } from '../../support/eventually.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import { requestedGraph } from '../../support/jobs/graphs.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'
import { completed, type Fault, refuse, startFaultyExecutor, stream } from '../../support/stack/faulty-executor.js'

const database = await createTestDatabase('run_graph')
const { db } = database
const executor = await startFaultyExecutor(stream([completed('"done"')]))
const client = createExecutorClient(executor.url, 'a-token')
afterAll(async () => {
  await client.close()
  await executor.close()
  await database.drop()
})

const person = await addPerson(db)
const fence = { generation: 1 }
const silent = { info: () => {}, warn: () => {}, error: () => {} }
const done = stream([completed('"done"')])
const fails = stream([{ outcome: { status: 'failed', error: { code: 'execution_error', message: 'no' } } }])

let id: string
let step: AbortController
let executed: string[]
/** What the executor does with each task; default: it completes at once. */
let faults: Map<string, Fault[]>

beforeEach(async () => {
  const source = { kind: 'inline', framework: 'marqov', text: 'from marqov import task, workflow' } as const
  id = await addJob(db, person, { submission: { source } })
  await beginJob(db, id, fence)
  step = new AbortController()
  executed = []
  executor.calls.length = 0
  faults = new Map()
  executor.from((response, request) => {
    const [key] = JSON.parse(executor.calls.at(-1)!.body.task.arguments).args
    executed.push(key)
    const next = faults.get(key)?.shift() ?? done
    next(response, request)
  })
})
afterEach(() => step.abort())

const request = (tasks: Record<string, string[]>, retries = 0) => {
  const graph = requestedGraph(tasks)
  for (const node of graph.graph.nodes) node.retries = retries
  const script = { task: '', number: 1, series: 0, parkedAs: null }
  return recordScriptRequest(db, id, fence, script, graph)
}

interface Choices {
  permits?: number
  handle?: Db
  gate?: ReturnType<typeof gateTo>
}

async function run({ permits = 4, handle = db, gate = gateTo(client, permits) }: Choices = {}) {
  const progress: string[] = []
  const deps = {
    db: handle,
    gate,
    announce: () => {},
    log: silent,
    countFault: () => {},
    countRepeatedStep: () => {},
    yieldsSlot: true
  }
  const end = await runGraph(deps, {
    jobId: id,
    job: (await loadJobRun(db, id))!,
    ask: 1,
    graph: await openTasks(db, id, 1),
    fence,
    signal: step.signal,
    onProgress: (some, of) => void progress.push(`${some} of ${of}`)
  })
  return { end, progress }
}

const state = async (key: string) => (await loadTaskState(db, id, key))!.state
/** Answers when the test says so. */
function held(answer = done) {
  const release: (() => void)[] = []
  const fault: Fault = (response, incoming) => void release.push(() => answer(response, incoming))
  return { fault, release: () => void release.map((now) => now()), taken: () => release.length > 0 }
}

test('a task runs as soon as its own inputs exist, whatever else of the graph still runs', async () => {
  await request({ slow: [], one: [], two: ['one'], all: ['slow', 'two'] })
  const slow = held()
  faults.set('slow', [slow.fault])
  const running = run()
  await eventually(async () => (await state('two')) === 'completed')
  expect(executed).toEqual(expect.arrayContaining(['slow', 'one', 'two']))
  slow.release()
  expect(await running).toEqual({
    end: { outcome: 'completed' },
    progress: ['1 of 4', '2 of 4', '3 of 4', '4 of 4']
  })
  expect(executed.at(-1)).toBe('all')
})

test('completed tasks are not executed again by a later try of the step', async () => {
  await request({ one: [], two: ['one'], three: ['two'] })
  faults.set('two', [refuse(503, 'busy', 'an end that no test expects')])
  const first = run({ gate: gateTo(client) }).catch(() => {})
  await eventually(async () => (await state('one')) === 'completed')
  step.abort()
  await first
  step = new AbortController()
  expect((await run()).end).toEqual({ outcome: 'completed' })
  expect(executed.filter((key) => key === 'one')).toHaveLength(1)
})

test('at most 32 tasks of a job are with the executor at once', async () => {
  await request(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`t${at}`, []])))
  const all = held()
  for (let at = 0; at < 40; at++) faults.set(`t${at}`, [all.fault])
  const running = run({ permits: 64 })
  await eventually(() => executed.length === 32)
  expect(executed).toHaveLength(32)
  faults.clear()
  all.release()
  expect((await running).end).toEqual({ outcome: 'completed' })
  expect(executed).toHaveLength(40)
})

describe('a task that fails', () => {
  test('for good ends the graph with its reason, and stops the tasks that run beside it', async () => {
    await request({ slow: [], bad: [], after: ['bad'] })
    const bad = held(fails)
    faults.set('slow', [stream([], 'hang')]).set('bad', [bad.fault])
    const running = run()
    await eventually(() => executed.includes('slow') && bad.taken())
    bad.release()
    const { end } = await running
    expect(end).toEqual({ outcome: 'failed', error: { code: 'execution_error', message: "task 'f' (bad): no" } })
    const call = executor.calls.find(
      ({ body }) => JSON.parse(body?.task?.arguments ?? '{"args":[]}').args[0] === 'slow'
    )
    await eventually(() => call!.hungUp)
    expect([await state('bad'), await state('after'), executed.includes('after')]).toEqual(['failed', 'pending', false])
  })

  test('for now is tried again after its pause while others run', async () => {
    await request({ slow: [], flaky: [], after: ['flaky'] }, 1)
    const slow = held()
    faults.set('slow', [slow.fault]).set('flaky', [fails])
    const running = run()
    await eventually(async () => (await state('after')) === 'completed')
    slow.release()
    expect((await running).end).toEqual({ outcome: 'completed' })
    expect(executed.filter((key) => key === 'flaky')).toHaveLength(2)
  })

  test('for now ends a step in which nothing else runs, which is repeated after the pause', async () => {
    await request({ flaky: [], after: ['flaky'] }, 1)
    faults.set('flaky', [fails])
    const pause = await run().catch((error: unknown) => error)
    expect(pause).toMatchObject({ type: 'execution_error', nonRetryable: false })
    const { nextRetryDelay } = pause as { nextRetryDelay: number }
    expect(nextRetryDelay).toBeGreaterThan(0)
    expect(nextRetryDelay).toBeLessThanOrEqual(1_000)
    expect((await run()).end).toEqual({ outcome: 'completed' })
  })
})

describe('a step that could only wait', () => {
  test('for an executor that is away comes back later, and executes nothing', async () => {
    await request({ one: [], two: ['one'] })
    faults.set('one', [refuse(503, 'executor_shut_down', 'stopping')])
    await expect(run()).rejects.toBeInstanceOf(ComeBackLater)
    expect((await run()).end).toEqual({ outcome: 'completed' })
  })

  test('for the database throws its error; beside a task that runs, the others are tried again in place', async () => {
    await request({ slow: [], first: [], one: ['first'] })
    const [slow, first] = [held(), held()]
    faults.set('slow', [slow.fault]).set('first', [first.fault])
    let isAway = true
    let refusals = 0
    const handle = new Proxy(db, {
      get(target, name) {
        // Queries are built, or sent by the session when their text was made before.
        if ((name === 'select' || name === '_') && isAway) {
          refusals++
          throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
        }
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      }
    })
    await expect(run({ handle })).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    isAway = false
    const running = run({ handle })
    await eventually(() => slow.taken() && first.taken())
    isAway = true
    refusals = 0
    first.release()
    await eventually(() => refusals > 0)
    isAway = false
    await eventually(async () => (await state('one')) === 'completed')
    slow.release()
    expect((await running).end).toEqual({ outcome: 'completed' })
  })
})

test('a job that is being cancelled, or that another worker has, ends its graph without an end of its own', async () => {
  await request({ one: [], two: ['one'] })
  const one = held()
  faults.set('one', [one.fault])
  const running = run()
  await eventually(() => one.taken())
  await requestCancel(db, id)
  one.release()
  expect((await running).end).toEqual({ outcome: 'stopped' })
  expect(executed).toEqual(['one'])
})

test('a step that is cancelled stops all its tasks before it ends', async () => {
  await request({ one: [], two: [] })
  faults.set('one', [stream([], 'hang')]).set('two', [stream([], 'hang')])
  const running = run()
  const begun = () => db.execute(sql`select from attempts where job_id = ${id}`)
  await eventually(async () => (await begun()).length === 2)
  const calls = executor.calls.slice(-2)
  step.abort()
  await expect(running).rejects.toThrow()
  await eventually(() => calls.every(({ hungUp }) => hungUp))
  expect(await begun()).toHaveLength(2)
})
