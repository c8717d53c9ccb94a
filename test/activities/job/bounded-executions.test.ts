// One job must not take a worker's memory, nor its life again and again: sizes are compared before contents are loaded,
// contents are loaded once a permit is held, and executions that lose their workers have a limit.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { executeJob } from '../../../activities/job/execute-job.js'
import { runTask } from '../../../activities/job/run-task.js'
import { connect } from '../../../db/client.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { closeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { beginExecution } from '../../../db/jobs/executions.js'
import { completeTask, loadTaskState, openTaskAttempt } from '../../../db/jobs/job-tasks.js'
import { answerScriptRequest, recordScriptRequest } from '../../../db/jobs/script-requests.js'
import { EXECUTIONS_BEGUN_MAX, JOB_VALUES_BYTES_MAX } from '../../../domain/jobs/value-limits.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import type { Seat } from '../../../services/executor/gate.js'
import { eventually } from '../../support/eventually.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import { requestedGraph } from '../../support/jobs/graphs.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'
import {
  completed,
  type Fault,
  hang,
  refuse,
  startFaultyExecutor,
  stream
} from '../../support/stack/faulty-executor.js'

const database = await createTestDatabase('bounded_executions')
const { db } = database
const executor = await startFaultyExecutor(hang)
const client = createExecutorClient(executor.url, 'a-token')
afterAll(async () => {
  await client.close()
  await executor.close()
  await database.drop()
})

const person = await addPerson(db)
const fence = { generation: 1 }
const script = { task: '', number: 1, series: 0, parkedAs: null }
const silent = { info: () => {}, warn: () => {}, error: () => {} }
const MIB = 1024 * 1024

let id: string
let gate: ReturnType<typeof gateTo>
beforeEach(async () => {
  const source = { kind: 'inline', framework: 'marqov', text: 'from marqov import task, workflow' } as const
  id = await addJob(db, person, { submission: { source } })
  await beginJob(db, id, fence)
  gate = gateTo(client)
  executor.calls.length = 0
})

const deps = () => ({
  db,
  gate,
  announce: () => {},
  log: silent,
  countFault: () => {},
  countRepeatedStep: () => {}
})
const running = new AbortController().signal
const task = (key: string, signal = running) => runTask(deps(), id, key, fence, signal)
const job = () => executeJob(deps(), id, fence, running, { isFirst: false })

/** A graph of `one` and `two`, and `all` that takes both. */
async function graph(final = true): Promise<void> {
  await recordScriptRequest(db, id, fence, script, {
    ...requestedGraph({ one: [], two: [], all: ['one', 'two'] }),
    final
  })
}

async function complete(key: string, result: string): Promise<void> {
  const number = (await openTaskAttempt(db, id, fence, key))!
  await completeTask(db, id, key, number, { result, display: null, displayProblem: null, stdout: '', deviceShots: [] })
}

/** Says of the stored results that they have this size, so that no test has to store so much. */
const claimSize = (bytes: number, ...results: string[]) =>
  db.execute(sql`update task_values set size_bytes = ${bytes} where job_id = ${id}
    and convert_from(content, 'UTF8') in (${sql.join(
      results.map((text) => sql`${text}`),
      sql`, `
    )})`)

const begun = async (key: string) => {
  const [row] = await db.execute<{ begun: number }>(
    sql`select executions_begun as begun from job_tasks where job_id = ${id} and key = ${key}`
  )
  return row!.begun
}

/** The worker of an execution dies right after it has begun. */
const lose = async (key: string, times: number) => {
  for (let time = 0; time < times; time++) await beginExecution(db, id, key, fence)
}

describe('what an execution takes is compared before it is loaded', () => {
  test('a task whose inputs are too large fails by name, without a request to the executor', async () => {
    await graph()
    await complete('one', '"one"')
    await complete('two', '"two"')
    await claimSize(17 * MIB, '"one"', '"two"')
    expect(await task('all')).toEqual({
      outcome: 'failed',
      error: {
        code: 'execution_error',
        message:
          "task 'f' (all): the results that it takes have 34.0 MiB together; the limit is 32 MiB: pass less, or make large data inside the task"
      }
    })
    expect(executor.calls).toEqual([])
    expect((await loadTaskState(db, id, 'all'))!.state).toBe('failed')
  })

  test('a task that failed before says so again', async () => {
    await graph()
    await complete('one', '"one"')
    await claimSize(40 * MIB, '"one"')
    const first = await task('all')
    expect(await task('all')).toEqual(first)
  })

  test('a workflow whose return value is too large fails its job by name', async () => {
    await graph()
    for (const key of ['one', 'two', 'all']) await complete(key, `"${key}"`)
    await answerScriptRequest(db, id, '', 1, fence, null)
    await claimSize(33 * MIB, '"all"')
    expect(await job()).toMatchObject({
      outcome: 'failed',
      error: { code: 'execution_error', message: expect.stringContaining('a workflow returns have 33.0 MiB') }
    })
    expect(executor.calls).toEqual([])
  })

  test('a script that has received too much fails by name, whether its process still waits or not', async () => {
    for (const number of [1, 2]) {
      const requested = requestedGraph({ only: [] })
      await recordScriptRequest(db, id, fence, { ...script, number, parkedAs: 'a-run' }, { ...requested, final: false })
      await complete(number === 1 ? 'only' : '2.only', `"${number}"`)
      await answerScriptRequest(db, id, '', number, fence, null)
    }
    await claimSize(30 * MIB, '"1"', '"2"')
    expect(await job()).toMatchObject({
      outcome: 'failed',
      error: { code: 'execution_error', message: expect.stringContaining('60.0 MiB together; the limit is 48 MiB') }
    })
    expect(executor.calls).toEqual([])
  })
})

test('the inputs of a task are loaded once it holds a permit, not while it waits for one', async () => {
  await graph()
  await complete('one', '"one"')
  await complete('two', '"two"')
  executor.from(stream([completed('"done"')]))
  const seat = (await gate.enter({ team: 'another', job: 'another' }, running)) as Seat
  const end = task('all')
  await eventually(() => gate.waiting === 1)
  await db.execute(sql`update task_values set content = '"later"' where job_id = ${id}
    and convert_from(content, 'UTF8') = '"one"'`)
  seat.leave()
  expect(await end).toEqual({ outcome: 'completed' })
  expect(executor.calls.at(-1)!.body.task.values).toEqual({ one: '"later"', two: '"two"' })
  // By which the executor lets teams take turns.
  const [row] = await db.execute(sql`select team_id as team from jobs where id = ${id}`)
  expect(executor.calls.at(-1)!.body.keys).toEqual(row)
})

describe('executions that begin and never end', () => {
  test('fail a task at the sixth, before anything is loaded or sent', async () => {
    await graph()
    await lose('one', EXECUTIONS_BEGUN_MAX)
    expect(await task('one')).toMatchObject({
      outcome: 'failed',
      error: { code: 'internal_error', message: expect.stringContaining('5 executions in a row') }
    })
    expect(executor.calls).toEqual([])
  })

  test('fail a script at the sixth', async () => {
    await lose('', EXECUTIONS_BEGUN_MAX)
    expect(await job()).toMatchObject({ outcome: 'failed', error: { code: 'internal_error' } })
    expect(executor.calls).toEqual([])
  })

  test('fail a plain job whose attempts were all lost with their workers', async () => {
    id = await addJob(db, person)
    await beginJob(db, id, fence)
    for (let time = 0; time < EXECUTIONS_BEGUN_MAX; time++) await openAttempt(db, id, fence)
    expect(await job()).toMatchObject({ outcome: 'failed', error: { code: 'internal_error' } })
    expect(executor.calls).toEqual([])
  })

  test.each<[string, Fault]>([
    ['failed', stream([{ outcome: { status: 'failed', error: { code: 'execution_error', message: 'no' } } }])],
    ['was lost', stream([], 'die')]
  ])('do not include one that %s', async (_how, fault) => {
    await graph()
    await db.execute(sql`update job_tasks set retries = 1 where job_id = ${id}`)
    await lose('one', EXECUTIONS_BEGUN_MAX - 1)
    executor.from(fault)
    await task('one')
    expect(executor.calls).toHaveLength(1)
    expect(await begun('one')).toBe(0)
  })

  test('include those whose inputs take too long to load', async () => {
    await graph()
    await complete('one', '"one"')
    const impatient = connect(database.url, { max: 2, statementTimeoutMs: 2_000 })
    await database.sql.begin(async (held) => {
      await held`lock table task_values in access exclusive mode`
      for (let time = 0; time < 2; time++)
        await expect(runTask({ ...deps(), db: impatient.db }, id, 'two', fence, running)).rejects.toThrow()
    })
    await impatient.close()
    expect(await begun('two')).toBe(2)
  })

  test('do not include one whose worker stops in an orderly way', async () => {
    await graph()
    executor.from(stream([], 'hang'))
    const stopping = new AbortController()
    const end = task('one', stopping.signal)
    await eventually(async () => (await begun('one')) === 1)
    stopping.abort()
    await expect(end).rejects.toThrow()
    expect(await begun('one')).toBe(0)
  })
})

test('a result for which its job has no room left fails the task by name, without another try', async () => {
  await graph()
  await db.execute(sql`update jobs set values_bytes = ${JOB_VALUES_BYTES_MAX - 3} where id = ${id}`)
  await db.execute(sql`update job_tasks set retries = 5 where job_id = ${id}`)
  executor.from(stream([completed('"four"')]))
  expect(await task('one')).toMatchObject({
    outcome: 'failed',
    error: { code: 'execution_error', message: expect.stringContaining('more than 256 MiB together') }
  })
})

test('a task waits at the gate in the line of its own team', async () => {
  await graph()
  executor.from(stream([completed('"done"')]))
  const [row] = await db.execute<{ team: string }>(sql`select team_id as team from jobs where id = ${id}`)
  gate.setTeamLimits(new Map([[row!.team, 0]]))
  const end = task('one')
  await eventually(() => gate.waiting === 1)
  gate.setTeamLimits(new Map())
  expect(await end).toEqual({ outcome: 'completed' })
})

test('a worker whose own close of an attempt was stored without its response still ends the task', async () => {
  await graph()
  const error = { code: 'execution_error', message: 'no' } as const
  let answer = () => {}
  executor.from((response, request) => {
    stream([], 'hang')(response, request)
    answer = () => response.end(`${JSON.stringify({ outcome: { status: 'failed', error } })}\n`)
  })
  const end = task('one')
  await eventually(async () => (await loadTaskState(db, id, 'one'))!.state === 'running')
  expect(await closeAttempt(db, id, 1, 'failed', error, null, 'one')).toBe(true)
  answer()
  expect(await end).toMatchObject({ outcome: 'failed', error: { code: 'execution_error' } })
  expect((await loadTaskState(db, id, 'one'))!.state).toBe('failed')
})

test('a worker whose attempt another one has closed does not decide how the task ends', async () => {
  await graph()
  let answer = () => {}
  executor.from((response, request) => {
    stream([], 'hang')(response, request)
    const failed = { outcome: { status: 'failed', error: { code: 'execution_error', message: 'of a ghost' } } }
    answer = () => response.end(`${JSON.stringify(failed)}\n`)
  })
  const ghost = task('one')
  await eventually(async () => (await loadTaskState(db, id, 'one'))!.state === 'running')
  expect(await openTaskAttempt(db, id, fence, 'one')).toBe(2)
  answer()
  expect(await ghost).toEqual({ outcome: 'stopped' })
  expect((await loadTaskState(db, id, 'one'))!.state).toBe('running')
})

test('a job at which the executor fails while it serves others fails, with a code that blames the service', async () => {
  executor.from(refuse(503, 'execution_service_lost', 'no child took it'))
  const tried = () => executeJob({ ...deps(), yieldsSlot: true }, id, fence, running, { isFirst: false })
  for (let failures = 1; failures < 3; failures++) {
    await expect(tried()).rejects.toThrow('no child took it')
    // A call for another job has had a response.
    gate.noteResponse(true, {})
  }
  expect(await tried()).toEqual({
    outcome: 'failed',
    error: { code: 'execution_service_lost', message: expect.stringContaining('no child took it') }
  })
})
