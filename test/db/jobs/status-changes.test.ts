// A status listener gets each change of a status once, and none that was rolled back.
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import type { Tx } from '../../../db/client.js'
import { beginJob, completeJob, failJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { onStatusCommitted, type StatusChange } from '../../../db/jobs/status-changes.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('job_moves')
const { db, sql } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const fence = { generation: 1 }
const error = { code: 'execution_error', message: 'the circuit is not valid' } as const
let changes: StatusChange[] = []
onStatusCommitted(db, (change) => changes.push(change))
let jobId: string
beforeEach(async () => {
  jobId = await addJob(db, person)
  changes = []
})
const steps = () => changes.map(({ to }) => to)

test('the begin and the end of a job are reported with its facts', async () => {
  await sql`update jobs set request_id = 'a-request', created_at = now() - interval '90 seconds' where id = ${jobId}`
  await beginJob(db, jobId, fence)
  await completeJob(db, jobId, fence, 'a'.repeat(64))
  const [row] = await sql`select team_id from jobs where id = ${jobId}`
  const facts = {
    jobId,
    teamId: row!.team_id,
    requestId: 'a-request',
    mode: 'temporal',
    backend: 'local',
    generation: 1,
    capsuleRunId: null,
    releasedNext: false
  }
  // Each within 50 seconds.
  expect(changes).toEqual([
    { ...facts, to: 'running', errorCode: null, cost: null, queuedSeconds: expect.closeTo(90, -2), ranSeconds: null },
    {
      ...facts,
      to: 'completed',
      errorCode: null,
      cost: 0n,
      queuedSeconds: expect.closeTo(90, -2),
      ranSeconds: expect.closeTo(0, -2)
    }
  ])
})

test('the time in the queue begins when the job could have started', async () => {
  await sql`update jobs set created_at = now() - interval '1 day', not_before = now() - interval '60 seconds' where id = ${jobId}`
  await beginJob(db, jobId, fence)
  expect(changes[0]!.queuedSeconds).toBeGreaterThan(59)
  expect(changes[0]!.queuedSeconds).toBeLessThan(90)
})

test('a step that is repeated after a crash is reported once', async () => {
  for (let times = 0; times < 2; times++) {
    await beginJob(db, jobId, fence)
    await failJob(db, jobId, fence, error)
  }
  expect(steps()).toEqual(['running', 'failed'])
  expect(changes[1]).toMatchObject({ errorCode: 'execution_error', cost: 0n })
})

test('of two concurrent ends of a job, one is reported', async () => {
  await beginJob(db, jobId, fence)
  await Promise.allSettled([completeJob(db, jobId, fence, 'a'.repeat(64)), failJob(db, jobId, fence, error)])
  expect(steps()).toEqual(['running', expect.stringMatching(/^(completed|failed)$/)])
})

test.each([
  ['concurrency_limit', true],
  ['backend_offline', false]
])('the end of a job says whether it released another, which waited for %s', async (reason, releasedNext) => {
  const submission = { teamId: await addTeam(db, person) }
  const ended = await addJob(db, person, { submission })
  const waits = await addJob(db, person, { submission })
  await sql`update outbox set held_reason = ${reason}, next_at = now() + interval '1 hour' where job_id = ${waits}`
  await beginJob(db, ended, fence)
  await failJob(db, ended, fence, error)
  expect(changes.map((change) => [change.to, change.releasedNext])).toEqual([
    ['running', false],
    ['failed', releasedNext]
  ])
})

test('a job cancelled while it waits never ran', async () => {
  await requestCancel(db, jobId)
  expect(changes).toMatchObject([{ to: 'cancelled', queuedSeconds: null, ranSeconds: null }])
})

test('a change that a transaction or a savepoint rolls back is not reported', async () => {
  await expect(
    db.transaction(async (tx) => {
      await requestCancel(tx, jobId)
      throw new Error('the rest went wrong')
    })
  ).rejects.toThrow('the rest went wrong')
  expect(steps()).toEqual([])

  const other = await addJob(db, person)
  await db.transaction(async (tx) => {
    await requestCancel(tx, other)
    const savepoint = tx.transaction(async (inner: Tx) => {
      await requestCancel(inner, jobId)
      throw new Error('only this')
    })
    await savepoint.catch(() => {})
    // Not before the commit, which may still fail.
    expect(steps()).toEqual([])
  })
  expect(changes).toMatchObject([{ jobId: other, to: 'cancelled' }])
})
