// The intent row: one try at a time can send, a worker that has lost its job writes nothing, and a reported end is
// final.
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob, failJob, recordCancelled, requestCancel } from '../../../db/job-steps/job-steps.js'
import { restartWorkflow } from '../../../db/job-steps/stalled-workflows.js'
import type { Fence } from '../../../db/jobs/fence.js'
import { settleHeld } from '../../../db/money/budget.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { completeOpenAttempt } from '../../../db/provider-jobs/provider-attempts.js'
import {
  loadProviderJob,
  markAccepted,
  markNotSent,
  markSeen,
  markSending,
  markUnknown,
  markWithdrawn,
  maySend,
  takeForLookUp,
  takeForSubmit
} from '../../../db/provider-jobs/provider-jobs.js'
import { closeHeldProviderJob, takeHeldProviderJobs } from '../../../db/provider-jobs/provider-money.js'
import { plainRef } from '../../../db/provider-jobs/provider-refs.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { untilLockAwaited } from '../../support/postgres/lock-waits.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('provider_tasks', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const fence: Fence = { generation: 1 }
const next: Fence = { generation: 2 }
const task = { provider: 'IonQ', token: '' }
let jobId: string

const take = (by: Fence = fence) => takeForSubmit(db, plainRef(jobId), by, task)
const seen = (state: 'accepted' | 'completed' | 'failed' | 'cancelled', cost: bigint | null = null) => ({
  ...{ state, status: state, queuePosition: null, predictedWaitSeconds: null, cost, failure: null }
})

beforeEach(async () => {
  jobId = await addJob(db, person, { cost: 700n, submission: { backend: 'ionq-direct-simulator' } })
  task.token = jobId
  // The price in the catalogue is zero.
  expect(await beginJob(db, jobId, fence)).toBe('begin')
})

describe('a submission to a provider', () => {
  test('is sent only by the last of many concurrent tries', async () => {
    const tries = await Promise.all(Array.from({ length: 20 }, () => take()))
    const numbers = tries.map((attempt) => attempt!.number)
    expect([...numbers].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
    const allowed = await Promise.all(numbers.map((number) => markSending(db, plainRef(jobId), fence, number, 'v1')))
    expect(numbers.filter((_, at) => allowed[at])).toEqual([20])
  })

  test('is known to later tries as possibly sent, until the earlier try takes it back', async () => {
    const first = (await take())!
    expect(first.lastSentAt).toBeNull()
    expect(await markSending(db, plainRef(jobId), fence, first.number, 'v1')).toBe(true)
    await markNotSent(db, plainRef(jobId), first)
    const second = (await take())!
    expect(second.lastSentAt).toBeNull()
    expect(await markSending(db, plainRef(jobId), fence, second.number, 'v1')).toBe(true)
    const third = (await take())!
    expect(third.lastSentAt).not.toBeNull()
    // Too late: another try may be sending by now.
    await markNotSent(db, plainRef(jobId), second)
    expect((await loadProviderJob(db, plainRef(jobId)))!.lastSentAt).not.toBeNull()
  })

  test('is not sent by a try that took it longer ago than a look-up waits, or that lost it since', async () => {
    const first = (await take())!
    await markSending(db, plainRef(jobId), fence, first.number, 'v1')
    expect(await maySend(db, plainRef(jobId), first.number, 30)).toBe(true)
    await db.execute(sql`update provider_tasks set taken_at = taken_at - interval '31 seconds' where job_id = ${jobId}`)
    expect(await maySend(db, plainRef(jobId), first.number, 30)).toBe(false)
    await take()
    expect(await maySend(db, plainRef(jobId), first.number, 30)).toBe(false)
  })

  test('cannot be sent, accepted or withdrawn by a worker whose job has a newer workflow', async () => {
    const old = (await take())!
    expect(await restartWorkflow(db, jobId, 1, 'lost')).toBe('restarted')
    expect(await markSending(db, plainRef(jobId), fence, old.number, 'v1')).toBe(false)
    expect(await markAccepted(db, plainRef(jobId), fence, 'theirs')).toBe(false)
    expect(await markWithdrawn(db, plainRef(jobId), fence, null)).toBe(false)
    expect(await take()).toBeNull()
    expect(await take(next)).toMatchObject({ number: 2, lastSentAt: null })
    expect(await markAccepted(db, plainRef(jobId), next, 'ours')).toBe(true)
  })

  test('is not sent for a job that is being cancelled, even when the try began before', async () => {
    const attempt = (await take())!
    await requestCancel(db, jobId)
    expect(await markSending(db, plainRef(jobId), fence, attempt.number, 'v1')).toBe(false)
    expect(await take()).toBeNull()
    expect(await takeForLookUp(db, plainRef(jobId), fence)).toMatchObject({ number: 2 })
  })

  test('is accepted once, and opens one attempt', async () => {
    await take()
    const answers = await Promise.all(['a', 'b', 'c'].map((id) => markAccepted(db, plainRef(jobId), fence, id)))
    expect(answers.filter(Boolean)).toHaveLength(1)
    const rows = await db.execute(sql`select number from attempts where job_id = ${jobId}`)
    expect([...rows]).toEqual([{ number: 1 }])
    expect(await take()).toBeNull()
  })
})

describe('a submission of a job that was restored from a backup', () => {
  const restoreOf = (takenAt: string) =>
    db.execute(sql`insert into restores (id, backup_id, taken_at)
      values (gen_random_uuid(), gen_random_uuid(), ${sql.raw(takenAt)})`)
  afterEach(() => db.execute(sql`delete from restores`))

  test('looks for an earlier one first, as far back as the job', async () => {
    await db.execute(sql`update jobs set created_at = now() - interval '2 days' where id = ${jobId}`)
    await restoreOf(`now() - interval '1 day'`)
    const attempt = (await take())!
    expect(attempt.lastSentAt).not.toBeNull()
    expect(attempt.secondsSinceSent).toBeLessThan(60)
    // The provider's silence counts from the restore.
    expect(attempt.secondsSilent).toBeLessThan(60)
    expect(Date.now() - attempt.createdAt.getTime()).toBeGreaterThan(40 * 3_600_000)
  })

  test('has its money held when the job ends before the look-up', async () => {
    await restoreOf('clock_timestamp()')
    await take()
    await failJob(db, jobId, fence, { code: 'internal_error', message: 'gone' })
    const [job] = await db.execute(sql`select error_code, actual_cost_micro from jobs where id = ${jobId}`)
    expect(job).toEqual({ error_code: 'provider_outcome_unknown', actual_cost_micro: null })
  })

  test('looks for none if the job was created after the restore', async () => {
    await restoreOf(`now() - interval '1 day'`)
    expect(await take()).toMatchObject({ lastSentAt: null, mayBeAnother: false })
  })
})

describe('a reported end at the moment in which the job fails', () => {
  const fail = () => failJob(db, jobId, fence, { code: 'provider_outcome_unknown', message: 'no answer' })
  const heldJobs = () => takeHeldProviderJobs(db, 100).then((held) => held.filter((one) => one.jobId === jobId))
  const cost = async () => (await db.execute(sql`select actual_cost_micro from jobs where id = ${jobId}`))[0]

  beforeEach(async () => {
    await take()
    await markAccepted(db, plainRef(jobId), fence, 'x')
  })

  test('settles the cost if it comes first', async () => {
    let failed: Promise<unknown> = Promise.resolve()
    await db.transaction(async (tx) => {
      await markSeen(tx, plainRef(jobId), seen('completed', 300n))
      failed = fail()
      await untilLockAwaited(db)
    })
    await failed
    expect(await cost()).toEqual({ actual_cost_micro: '300' })
  })

  test('is settled by the next query to the provider, which is the last one, if it comes after', async () => {
    await fail()
    await markSeen(db, plainRef(jobId), seen('completed', 300n))
    await db.execute(sql`update provider_tasks set ask_at = now() where job_id = ${jobId}`)
    const [held] = await heldJobs()
    const found = { state: 'completed', providerJobId: 'x', cost: 200n } as const
    await db.transaction(async (tx) => settleHeld(tx, jobId, (await closeHeldProviderJob(tx, held!, found)) as bigint))
    expect(await cost()).toEqual({ actual_cost_micro: '300' })
    await db.execute(sql`update provider_tasks set ask_at = now() where job_id = ${jobId} and ask_at is not null`)
    expect(await heldJobs()).toEqual([])
  })
})

test('keeps the end that the provider reported, whatever an older response says', async () => {
  await take()
  await markAccepted(db, plainRef(jobId), fence, 'x')
  expect(await markSeen(db, plainRef(jobId), seen('completed', 300n))).toBe(true)
  expect(await markSeen(db, plainRef(jobId), seen('accepted'))).toBe(false)
  expect(await markSeen(db, plainRef(jobId), seen('failed'))).toBe(false)
  expect(await loadProviderJob(db, plainRef(jobId))).toMatchObject({ state: 'completed', cost: 300n })
})

test('an attempt at a provider continues under the next workflow of its job', async () => {
  await take()
  await markAccepted(db, plainRef(jobId), fence, 'x')
  await restartWorkflow(db, jobId, 1, 'lost')
  expect(await completeOpenAttempt(db, jobId, fence, '{}')).toBeNull()
  expect(await completeOpenAttempt(db, jobId, next, '{}')).toMatch(/^[0-9a-f]{64}$/)
})

describe('a job at a provider ends with the cost of its provider job', () => {
  const paths: [string, () => Promise<unknown>, bigint | null][] = [
    ['nothing was requested', async () => {}, 0n],
    ['nothing was sent', take, 0n],
    ['it may have been sent', async () => markSending(db, plainRef(jobId), fence, (await take())!.number, 'v1'), null],
    [
      'it was refused',
      async () => {
        await take()
        await markWithdrawn(db, plainRef(jobId), fence, null)
      },
      0n
    ],
    ['it was accepted', accept, null],
    [
      'its outcome is unknown',
      async () => {
        await accept()
        await markUnknown(db, plainRef(jobId), fence)
      },
      null
    ],
    ['it ended there with a figure', () => ended('failed', 300n), 300n],
    ['it ended there without one', () => ended('cancelled', null), 700n]
  ]

  test.each(paths)('failed when %s', async (_when, lead, cost) => {
    await lead()
    expect(await failJob(db, jobId, fence, { code: 'internal_error', message: 'something broke' })).toBe('won')
    const code = cost === null ? 'provider_outcome_unknown' : 'internal_error'
    expect(await job()).toMatchObject({ status: 'failed', error_code: code, actual_cost_micro: text(cost) })
    await booksAgree(cost)
  })

  test.each(paths)('cancelled when %s', async (_when, lead, cost) => {
    await lead()
    await requestCancel(db, jobId)
    expect(await recordCancelled(db, jobId, fence, 'provider_confirmed')).toBe('won')
    const outcome = cost === null ? 'provider_unknown' : 'provider_confirmed'
    expect(await job()).toMatchObject({ status: 'cancelled', cancel_outcome: outcome, actual_cost_micro: text(cost) })
    await booksAgree(cost)
  })

  test.each([
    ['the figure that the provider reports', 950n, 950n],
    ['its estimate when the provider reports none', null, 700n]
  ])('completed: %s', async (_what, charged, cost) => {
    await ended('completed', charged)
    expect(await completeJob(db, jobId, fence, 'a'.repeat(64))).toBe('won')
    expect(await job()).toMatchObject({ status: 'completed', actual_cost_micro: text(cost) })
    await booksAgree(cost)
  })

  async function accept() {
    await take()
    await markAccepted(db, plainRef(jobId), fence, 'x')
  }

  async function ended(state: 'completed' | 'failed' | 'cancelled', cost: bigint | null) {
    await accept()
    await markSeen(db, plainRef(jobId), seen(state, cost))
  }

  const text = (cost: bigint | null) => (cost === null ? null : String(cost))

  const job = async () =>
    (
      await db.execute(
        sql`select status, error_code, cancel_outcome, actual_cost_micro::text from jobs where id = ${jobId}`
      )
    )[0]

  /** Settled in full, or held in full. */
  async function booksAgree(cost: bigint | null) {
    const rows = await db.execute<{ kind: string; amount: string }>(
      sql`select kind, amount_micro::text as amount from ledger where job_id = ${jobId}`
    )
    const amounts = Object.fromEntries(rows.map(({ kind, amount }) => [kind, BigInt(amount)]))
    expect(amounts.settle ?? null).toBe(cost)
    expect(amounts.release ?? null).toBe(cost === null || cost === 700n ? null : 700n - cost)
    expect([...(await ledgerMismatches(db))]).toEqual([])
    const asked = await db.execute(sql`select 1 from provider_tasks where job_id = ${jobId} and ask_at is not null`)
    expect(asked).toHaveLength(cost === null ? 1 : 0)
  }
})
