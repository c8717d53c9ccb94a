// A short first execution is recorded once, with its end. Whatever else happens to it is recorded as it happens.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { executeJob } from '../../../activities/job/execute-job.js'
import type { Execution } from '../../../activities/job/job-attempt.js'
import { beginJob, completeJob, failJob, recordCancelled, requestCancel } from '../../../db/job-steps/job-steps.js'
import { completePlainly } from '../../../db/job-steps/plain-end.js'
import { listAttempts, openAttempt } from '../../../db/jobs/attempts.js'
import type { Fence } from '../../../db/jobs/fence.js'
import { eventsAfter } from '../../../db/jobs/job-events.js'
import { jobStatus } from '../../../db/jobs/jobs.js'
import { createExecutorClient, type ExecutorClient } from '../../../services/executor/client.js'
import { eventually } from '../../support/eventually.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import { addJob, addPerson, newLease } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'
import { completed, hang, startFaultyExecutor, stream } from '../../support/stack/faulty-executor.js'

const database = await createTestDatabase('brief_attempts')
const { db } = database
const executor = await startFaultyExecutor(hang)
const client = createExecutorClient(executor.url, 'a-token')
afterAll(async () => {
  await client.close()
  await executor.close()
  await database.drop()
})

const person = await addPerson(db)
const result = '{"counts":{"0":1},"shots":1}'
let id: string
let fence: Fence
let announced: number
let acceptances: number
let acceptedAt: number
beforeEach(async () => {
  fence = { generation: 1, lease: newLease() }
  id = await addJob(db, person, { submission: { mode: 'direct' } })
  await beginJob(db, id, fence)
  executor.calls.length = 0
  announced = 0
  acceptances = 0
})

/** Counts the acceptances that the attempt has handled. */
const counting: ExecutorClient = {
  ...client,
  async reserve(wanted, signal) {
    const reserved = await client.reserve(wanted, signal)
    if (reserved.kind !== 'reserved') return reserved
    const run: ExecutorClient['run'] = (request, stop, accepted, printed) =>
      reserved.executor.run(
        request,
        stop,
        async () => {
          acceptedAt = performance.now()
          const goesOn = await accepted()
          acceptances++
          return goesOn
        },
        printed
      )
    return { ...reserved, executor: { ...reserved.executor, run } }
  }
}

const deps = () => ({
  db,
  gate: gateTo(counting),
  announce: () => {
    announced++
  },
  log: { info: () => {}, warn: () => {}, error: () => {} },
  countFault: () => {},
  countRepeatedStep: () => {}
})
const execute = (signal = new AbortController().signal, isFirst = true): Promise<Execution> =>
  executeJob(deps(), id, fence, signal, { isFirst })

/** Accepts an execution, and leaves its end to the test. */
function held(): { end(...lines: object[]): void; die(): void } {
  let answer: (text: string) => void
  let destroy: () => void
  executor.from((response, request) => {
    answer = (text) => response.end(text)
    destroy = () => response.destroy()
    stream([], 'hang')(response, request)
  })
  return {
    end: (...lines) => answer(lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
    die: () => destroy()
  }
}

/** Leaves the acceptance of an execution to the test: what it does before that is done before the execution is recorded. */
function unaccepted(): { asked(): boolean; accept(...lines: object[]): void } {
  let accept: ((lines: object[]) => void) | null = null
  executor.from((response, request) => {
    accept = (lines) => stream(lines, lines.length > 0 ? 'end' : 'hang')(response, request)
  })
  return { asked: () => accept !== null, accept: (...lines) => accept!(lines) }
}

const isAccepted = () => eventually(() => acceptances > 0)

const states = async () => (await listAttempts(db, id)).map(({ number, state }) => `${number}:${state}`)
const lastStatus = async () => (await eventsAfter(db, id, 0)).at(-1)!.status
const failed = { outcome: { status: 'failed', error: { code: 'execution_error', message: 'no' } } }

describe('the first execution of a plain job', () => {
  test('that completes at once is recorded with the end of the job, and announced by it alone', async () => {
    executor.from(stream([completed(result)]))
    expect(await execute()).toEqual({ outcome: 'completed', resultSha256: expect.any(String), ended: true })
    const lasts = performance.now() - acceptedAt >= 250
    expect(await states()).toEqual(['1:completed'])
    expect(await jobStatus(db, id)).toBe('completed')
    // One that lasts, as on a machine that stalls, is announced when it is recorded.
    expect(announced).toBeLessThanOrEqual(lasts ? 1 : 0)
  })

  test('that lasts is recorded while it runs, with the time of its beginning', async () => {
    const execution = held()
    const end = execute()
    await eventually(async () => (await states()).length > 0)
    expect(await states()).toEqual(['1:running'])
    const [{ begun }] = (await db.execute(sql`select extract(epoch from clock_timestamp() - started_at)::float8 as begun
      from attempts where job_id = ${id}`)) as unknown as [{ begun: number }]
    expect(begun).toBeGreaterThan(0.24)
    execution.end(completed(result))
    expect(await end).toMatchObject({ outcome: 'completed', ended: true })
    expect(await states()).toEqual(['1:completed'])
  })

  test('that prints is recorded before what it prints', async () => {
    executor.from(stream([{ output: { offset: 0, text: 'hello' } }, completed(result)]))
    expect(await execute()).toMatchObject({ outcome: 'completed', ended: true })
    const events = await eventsAfter(db, id, 0)
    expect(events.map(({ type, attemptState, text }) => attemptState ?? text ?? type)).toEqual([
      ...['status', 'status', 'running', 'hello', 'completed', 'status']
    ])
  })

  test.each([
    ['fails', stream([failed]), '1:failed'],
    ['is lost', stream([], 'die'), '1:lost']
  ])('that %s is recorded as such', async (_how, fault, state) => {
    executor.from(fault)
    await execute()
    expect(await states()).toEqual([state])
    expect(await lastStatus()).toBe('running')
  })

  test('that is cancelled is recorded before the step that ends the job', async () => {
    held()
    const cancel = new AbortController()
    const end = execute(cancel.signal)
    await isAccepted()
    await requestCancel(db, id)
    cancel.abort()
    await expect(end).rejects.toThrow()
    await recordCancelled(db, id, fence, 'stopped_before_provider')
    expect(await states()).toEqual(['1:cancelled'])
  })

  test('of a job with a price is recorded before the job ends, since that has several steps', async () => {
    id = await addJob(db, person, { cost: 5n, submission: { mode: 'direct' } })
    await beginJob(db, id, fence)
    executor.from(stream([completed(result)]))
    const end = await execute()
    expect(end).toMatchObject({ outcome: 'completed', ended: false })
    expect([await states(), await jobStatus(db, id)]).toEqual([['1:completed'], 'running'])
    expect(await completeJob(db, id, fence, (end as { resultSha256: string }).resultSha256)).toBe('won')
  })

  test('is stopped when another worker has the job by the time at which it is recorded', async () => {
    const execution = unaccepted()
    const end = execute()
    await eventually(() => execution.asked())
    await failJob(db, id, undefined, { code: 'worker_lost', message: 'lost' })
    execution.accept()
    expect(await end).toEqual({ outcome: 'stopped' })
    await eventually(() => executor.calls[0]!.hungUp)
    expect(await states()).toEqual([])
  })

  test('says that the job is completed when its own end was stored and the response lost', async () => {
    const execution = unaccepted()
    const end = execute()
    await eventually(() => execution.asked())
    const sha256 = await completePlainly(db, id, fence, { ranMs: 1 }, { result })
    execution.accept(completed(result))
    expect(await end).toEqual({ outcome: 'completed', resultSha256: sha256, ended: true })
    expect(await states()).toEqual(['1:completed'])
  })

  test('continues the attempt that another try has opened, and opens none beside it', async () => {
    const execution = unaccepted()
    const end = execute()
    await eventually(() => execution.asked())
    await openAttempt(db, id, fence)
    execution.accept(completed(result))
    expect(await end).toMatchObject({ outcome: 'completed', ended: true })
    expect(await states()).toEqual(['1:completed'])
  })
})

test('an execution that is not the first is recorded when it is accepted, so that lost workers are counted', async () => {
  const execution = held()
  const stop = new AbortController()
  const end = execute(stop.signal, false)
  await isAccepted()
  expect(await states()).toEqual(['1:running'])
  execution.die()
  expect(await end).toMatchObject({ outcome: 'lost', attempt: 1 })
})
