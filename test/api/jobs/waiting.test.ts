// What the record of a waiting job shows, for every reason to wait.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { findFresh, markDelivered } from '../../../db/job-steps/outbox.js'
import { openAttempt } from '../../../db/jobs/attempts.js'
import { releaseDeferred } from '../../../db/jobs/deferred-starts.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const LIMIT = 2
const api = await startApi('waiting', { config: { teamRunningMax: LIMIT } })
const { db } = api.database
afterAll(() => api.close())

let ada: TestUser
let bob: TestUser
beforeAll(async () => {
  ada = await api.signUp()
  bob = await api.signUp()
})

const fence = { generation: 1 }
const record = async (user: TestUser, id: string) => (await user.get(`/api/jobs/${id}`)).body
const queueOf = async (user: TestUser, id: string) => (await record(user, id)).queue
/** Submits a job, and defers it or counts it as delivered, like the nudge, which gives up an engine that is slow. */
const submit = async (user: TestUser, changes: Record<string, unknown> = {}) => {
  const id = await user.submit(submission({ execution_mode: 'temporal', ...changes }))
  await markDelivered(db, await findFresh(db, [id], LIMIT), 30)
  return id
}

describe('the concurrency limit of a team', () => {
  test('makes the third job wait with its position, and does not affect other teams', async () => {
    const [first, second, third, fourth] = [
      await submit(ada),
      await submit(ada),
      await submit(ada),
      await submit(ada, { execution_mode: 'direct' })
    ]
    for (const id of [first, second]) expect((await queueOf(ada, id!)).reason).toBe('waiting_for_worker')
    const held = { reason: 'concurrency_limit', message: expect.stringContaining('limit of concurrent jobs') }
    expect(await queueOf(ada, third!)).toEqual({ position: 1, ...held })
    expect(await queueOf(ada, fourth!)).toEqual({ position: 2, ...held })
    const other = await submit(bob)
    expect((await queueOf(bob, other)).reason).toBe('waiting_for_worker')
    const listed = (await ada.get('/api/jobs?limit=4')).body.jobs
    expect(listed.map((job: { queue: { reason: string } }) => job.queue.reason)).toEqual([
      ...['concurrency_limit', 'concurrency_limit', 'waiting_for_worker', 'waiting_for_worker']
    ])

    await beginJob(db, first!, fence)
    await completeJob(db, first!, fence, 'a'.repeat(64))
    const [row] = await db.execute(sql`select next_at <= now() as due from outbox where job_id = ${third}`)
    expect(row).toEqual({ due: true })
    await ada.post(`/api/jobs/${fourth}/cancel`)
    expect(await record(ada, fourth!)).toMatchObject({ status: 'cancelled', queue: null })
  })
})

describe('an offline backend', () => {
  test('is the reason of the wait until it is back', async () => {
    const carol = await api.signUp()
    const later = new Date(Date.now() + 60_000).toISOString()
    const [first, second] = [
      await carol.submit(submission({ backend: 'aer-mps', not_before: later })),
      await carol.submit(submission({ backend: 'aer-mps', not_before: later }))
    ]
    expect(await queueOf(carol, first)).toEqual({
      position: null,
      reason: 'not_before',
      message: `starts no earlier than ${later}`
    })
    await db.execute(sql`update backends set status = 'maintenance' where slug = 'aer-mps'`)
    await db.execute(sql`update jobs set not_before = now() where id in (${first}, ${second})`)
    await db.execute(sql`update outbox set due_at = now(), held_reason = 'backend_offline'
      where job_id in (${first}, ${second})`)
    const reason = {
      reason: 'backend_offline',
      message: expect.stringContaining('aer-mps does not take jobs at present')
    }
    expect(await queueOf(carol, first)).toEqual({ position: 1, ...reason })
    expect(await queueOf(carol, second)).toEqual({ position: 2, ...reason })
    await db.execute(sql`update backends set status = 'online' where slug = 'aer-mps'`)
    expect(await releaseDeferred(db, LIMIT)).toBe(2)
    expect((await queueOf(carol, first)).reason).toBe('waiting_for_worker')
  })
})

describe("a provider's queue", () => {
  const accepted = async (values: {
    status: string | null
    position?: number | null
    wait?: number | null
    state?: string
    cost?: number | null
  }) => {
    const dora = await api.signUp()
    const id = await submit(dora)
    await beginJob(db, id, fence)
    await openAttempt(db, id, fence)
    await db.execute(sql`insert into provider_tasks
      (job_id, attempt, provider, token, generation, state, provider_job_id, accepted_at, provider_status, queue_position,
       predicted_wait_seconds, cost_micro)
      values (${id}, 1, 'ionq', ${id}, 1, ${values.state ?? 'accepted'}, 'task-7', '2026-11-21T10:00:00.123Z',
        ${values.status}, ${values.position ?? null}::int, ${values.wait ?? null}::int, ${values.cost ?? null}::bigint)`)
    return { dora, id }
  }

  test.each([
    [4, 5_400, ' at position 4; ionq expects it to start in about 90 minutes'],
    [null, 7_200, '; ionq expects it to start in about 2 hours'],
    [12, 259_200, ' at position 12; ionq expects it to start in about 3 days'],
    [1, 90, ' at position 1; ionq expects it to start in about 90 s'],
    [null, null, '']
  ])('shows its position %p and wait of %p seconds, although the job is running', async (position, wait, words) => {
    const { dora, id } = await accepted({ status: 'queued', position, wait })
    expect(await record(dora, id)).toMatchObject({
      status: 'running',
      attempts: 1,
      queue: { position, reason: 'provider_queue', message: `waits in the queue of ionq${words}` }
    })
  })

  test('is no longer the reason when the task runs there or is over, or the job is being cancelled', async () => {
    for (const values of [{ status: 'running' }, { status: 'queued', state: 'completed' }]) {
      const { dora, id } = await accepted(values)
      expect(await queueOf(dora, id)).toBeNull()
    }
    const { dora, id } = await accepted({ status: 'queued' })
    await requestCancel(db, id)
    expect(await queueOf(dora, id)).toBeNull()
  })

  test('the record lists the provider jobs, and each attempt names its own with the actual cost', async () => {
    const { dora, id } = await accepted({ status: 'running', position: null, cost: 300_001 })
    expect((await record(dora, id)).provider_jobs).toEqual([
      {
        provider_job_id: 'task-7',
        provider: 'ionq',
        status: 'running',
        submitted_at: '2026-11-21T10:00:00.123Z',
        ended_at: null,
        queue_position: null,
        cost_usd: 0.300001,
        usage: null,
        note: null
      }
    ])
    await db.execute(sql`update provider_tasks set usage_amount = 12.5, usage_unit = 'HQC', note = 'as billed by it'
      where job_id = ${id}`)
    expect((await record(dora, id)).provider_jobs).toMatchObject([
      { usage: { amount: 12.5, unit: 'HQC' }, note: 'as billed by it' }
    ])
    const attempts = async () => (await dora.get(`/api/jobs/${id}/attempts`)).body.attempts
    expect(await attempts()).toMatchObject([{ number: 1, provider_job_id: 'task-7', cost_usd: 0.300001 }])
    await db.execute(sql`update provider_tasks set cost_micro = null where job_id = ${id}`)
    expect((await attempts())[0].cost_usd).toBeNull()
    await db.execute(sql`delete from provider_tasks where job_id = ${id}`)
    expect(await attempts()).toMatchObject([{ provider_job_id: null, cost_usd: 0 }])
  })

  test('a task that is not accepted yet is not listed as a provider job; the record says that it is being submitted', async () => {
    const dora = await api.signUp()
    const id = await submit(dora)
    await beginJob(db, id, fence)
    await db.execute(sql`insert into provider_tasks (job_id, attempt, provider, token, generation, state)
      values (${id}, 1, 'ionq', ${id}, 1, 'intended')`)
    expect(await record(dora, id)).toMatchObject({
      provider_jobs: [],
      queue: { reason: 'waiting_for_worker', message: 'is being handed to ionq' }
    })
    await db.execute(sql`update provider_tasks set wait_message = 'it takes no jobs at present', emulated = true
      where job_id = ${id}`)
    expect(await record(dora, id)).toMatchObject({
      emulated: true,
      queue: { position: null, reason: 'provider_queue', message: 'waits for ionq: it takes no jobs at present' }
    })
    await db.execute(sql`update provider_tasks set state = 'unknown', ended_at = now() where job_id = ${id}`)
    expect((await record(dora, id)).provider_jobs).toMatchObject([{ provider_job_id: null, status: 'unknown' }])
  })
})
