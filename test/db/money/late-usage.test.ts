// Costs that a provider states after the end: the difference to what the job was settled with is booked once, in every
// counter of the job, and the provider is not queried for ever. MONEY_PROPERTY_RUNS sets how many random histories are tried.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { loadMoney, settleByAdministrator } from '../../../db/admin/held-money.js'
import { beginJob, completeJob, failJob } from '../../../db/job-steps/job-steps.js'
import { answerScriptRequest, recordScriptRequest } from '../../../db/jobs/script-requests.js'
import { adjust } from '../../../db/money/adjust.js'
import { periodCounters, settleHeld } from '../../../db/money/budget.js'
import { proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import { bookUsage, giveUpPendingUsage, takePendingUsage } from '../../../db/provider-jobs/pending-usage.js'
import {
  loadProviderJob,
  markAccepted,
  markSeen,
  markSending,
  takeForSubmit
} from '../../../db/provider-jobs/provider-jobs.js'
import {
  closeHeldProviderJob,
  type HeldProviderJob,
  takeHeldProviderJobs
} from '../../../db/provider-jobs/provider-money.js'
import { plainRef, requestedRef } from '../../../db/provider-jobs/provider-refs.js'
import { addAcceptedJob, addHeldJob, addKey, usd } from '../../support/jobs/money-rows.js'
import { requestedCircuit } from '../../support/jobs/money-scenario.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { everything } from '../../support/lane.js'
import { createTestDatabase } from '../../support/stack/database.js'

const RUNS = Number(process.env.MONEY_PROPERTY_RUNS ?? (everything ? 8 : 3))

const database = await createTestDatabase('late_usage', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const fence = { generation: 1 }
let teamId: string
beforeEach(async () => {
  // Provider jobs of earlier tests are due no more.
  await db.execute(sql`update provider_tasks set usage_ask_at = null`)
  teamId = await addTeam(db, person)
})

/** Of every job, and of the day that is looked at: midnight can pass meanwhile. */
const now = new Date()
const priced = (dollars: number) => ({ cost: usd(dollars), at: now, submission: { teamId } })
const ended = { state: 'completed', status: 'completed', queuePosition: null, predictedWaitSeconds: null } as const
const pending = { ...ended, cost: null, failure: null, isUsagePending: true }
const charge = (dollars: number) => ({ cost: usd(dollars), usage: { amount: 3, unit: 'seconds' }, note: null })
const book = (jobId: string, dollars: number, handle = db) => bookUsage(handle, plainRef(jobId), charge(dollars))

/** A completed job of ten dollars whose provider has not stated its cost. */
async function addPendingJob(choices: Parameters<typeof addAcceptedJob>[2] = priced(10)): Promise<string> {
  const jobId = await addAcceptedJob(db, person, choices)
  await markSeen(db, plainRef(jobId), pending)
  expect(await completeJob(db, jobId, fence, 'a'.repeat(64))).toBe('won')
  return jobId
}

const costOf = async (jobId: string) => {
  const [row] = await db.execute(sql`select actual_cost_micro::int as cost from jobs where id = ${jobId}`)
  return row!.cost
}
const corrections = async (jobId: string) => {
  const rows = await db.execute(
    sql`select task, attempt, amount_micro::int as amount from ledger where job_id = ${jobId} and kind = 'adjust'`
  )
  return [...rows]
}
const counters = async (at = now) => {
  const { day, month } = await periodCounters(db, teamId, at)
  expect(month).toMatchObject({ spent: day.spent, reserved: day.reserved })
  return { spent: day.spent, reserved: day.reserved }
}
/** Ledger, counters and jobs agree; what exceeds a reservation is listed and is no fault. */
const wrong = async () =>
  [...(await proveRecent(db))!, ...(await proveAll(db))!].filter((finding) => !finding.includes('than was reserved'))
const makeDue = (jobId: string) =>
  db.execute(sql`update provider_tasks set usage_ask_at = now() - interval '1 second' where job_id = ${jobId}`)

describe('a cost that comes after the end', () => {
  test.each([
    ['less than the estimate', 4.25, -5_750_000],
    ['nothing', 0, -10_000_000],
    ['more than the estimate', 12.5, 2_500_000]
  ])('of %s is what the job costs in the end, on the day of its reservation', async (_what, dollars, difference) => {
    const at = new Date('2026-03-31T23:59:59Z')
    const jobId = await addPendingJob({ ...priced(10), at })
    expect([await counters(at), await costOf(jobId)]).toEqual([{ spent: usd(10), reserved: 0n }, 10_000_000])
    expect(await book(jobId, dollars)).toBe('booked')
    expect(await counters(at)).toEqual({ spent: usd(dollars), reserved: 0n })
    expect(await costOf(jobId)).toBe(Number(usd(dollars)))
    expect(await corrections(jobId)).toEqual([{ task: '', attempt: 1, amount: difference }])
    expect(await loadProviderJob(db, plainRef(jobId))).toMatchObject({
      cost: usd(dollars),
      usageAmount: 3,
      usageUnit: 'seconds',
      usageAskAt: null,
      note: null
    })
    expect(await wrong()).toEqual([])
  })

  test('that equals the estimate needs no entry', async () => {
    const jobId = await addPendingJob()
    expect(await book(jobId, 10)).toBe('booked')
    expect([await corrections(jobId), await costOf(jobId)]).toEqual([[], 10_000_000])
  })

  test('is booked once by twenty at once, and never again', async () => {
    const jobId = await addPendingJob()
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => book(jobId, n)))
    expect(outcomes.sort()).toEqual(['booked', ...Array(19).fill('over')])
    expect(await corrections(jobId)).toHaveLength(1)
    expect(await counters()).toEqual({ spent: BigInt((await costOf(jobId)) as number), reserved: 0n })
    expect(await book(jobId, 1)).toBe('over')
    expect(await wrong()).toEqual([])
  })

  test('is refused by the ledger itself when it has one already', async () => {
    const jobId = await addPendingJob()
    await book(jobId, 4)
    await expect(db.transaction((tx) => adjust(tx, plainRef(jobId), 1n))).rejects.toThrow()
    expect(await counters()).toEqual({ spent: usd(4), reserved: 0n })
  })

  test('leaves no trace when its transaction is lost, and is booked by the next query', async () => {
    const jobId = await addPendingJob()
    const lost = db.transaction(async (tx) => {
      expect(await book(jobId, 4, tx as never)).toBe('booked')
      throw new Error('the worker died')
    })
    await expect(lost).rejects.toThrow('the worker died')
    expect([await costOf(jobId), await corrections(jobId)]).toEqual([10_000_000, []])
    await makeDue(jobId)
    expect((await takePendingUsage(db, 10)).map((row) => row.jobId)).toEqual([jobId])
    expect(await book(jobId, 4)).toBe('booked')
    expect(await wrong()).toEqual([])
  })

  test("counts for its key's day", async () => {
    const key = await addKey(db, person, teamId, usd(50))
    const jobId = await addPendingJob({ ...priced(10), key })
    await book(jobId, 4)
    const [day] = await db.execute(
      sql`select spent_micro::int as spent, reserved_micro::int as reserved from api_key_days where key_id = ${key.id}`
    )
    expect(day).toEqual({ spent: 4_000_000, reserved: 0 })
    expect(await wrong()).toEqual([])
  })

  test('counts for a job that was free, whose counters begin with it', async () => {
    const key = await addKey(db, person, teamId, usd(50))
    const jobId = await addPendingJob({ ...priced(0), key })
    expect(await counters()).toEqual({ spent: 0n, reserved: 0n })
    expect(await book(jobId, 2)).toBe('booked')
    expect([await counters(), await costOf(jobId)]).toEqual([{ spent: usd(2), reserved: 0n }, 2_000_000])
    expect(await wrong()).toEqual([])
  })

  test('above the reservation lists the job, until a correction takes it below', async () => {
    const jobId = await addPendingJob()
    await book(jobId, 12.5)
    const { over } = await loadMoney(db, 100)
    expect(over.find((job) => job.jobId === jobId)).toMatchObject({ reserved: usd(10), settled: usd(12.5) })
    expect(await proveRecent(db)).toContain(`job ${jobId} of team ${teamId} cost $2.50 more than was reserved for it`)

    const low = await addAcceptedJob(db, person, priced(10))
    await markSeen(db, plainRef(low), { ...pending, cost: usd(11) })
    await completeJob(db, low, fence, 'a'.repeat(64))
    expect((await proveRecent(db))!.join()).toContain(low)
    await book(low, 3)
    expect((await proveRecent(db))!.join()).not.toContain(low)
  })

  test('of a job that still runs is what it is settled with', async () => {
    const jobId = await addAcceptedJob(db, person, priced(10))
    await markSeen(db, plainRef(jobId), pending)
    expect(await book(jobId, 4)).toBe('recorded')
    expect(await counters()).toEqual({ spent: 0n, reserved: usd(10) })
    await failJob(db, jobId, fence, { code: 'provider_failed', message: 'its result cannot be read' })
    expect([await counters(), await costOf(jobId), await corrections(jobId)]).toEqual([
      { spent: usd(4), reserved: 0n },
      4_000_000,
      []
    ])
  })

  test('of each circuit of a script is booked for itself, also while the money of the job is held', async () => {
    const jobId = await addJob(db, person, priced(30))
    await beginJob(db, jobId, fence)
    const run = async (ask: number, end: boolean) => {
      await recordScriptRequest(
        db,
        jobId,
        fence,
        { task: '', number: ask, series: 0, parkedAs: null },
        requestedCircuit(ask)
      )
      const ref = requestedRef(jobId, '', ask)
      const terms = { provider: 'ionq', token: `${jobId}${ask}`, estimate: usd(10) }
      const attempt = await takeForSubmit(db, ref, fence, terms)
      await markSending(db, ref, fence, attempt!.number, 'v1')
      await markAccepted(db, ref, fence, `at-${jobId}-${ask}`)
      if (!end) return
      await markSeen(db, ref, pending)
      await answerScriptRequest(db, jobId, '', ask, fence, '{"counts":{}}')
    }
    await run(1, true)
    await run(2, true)
    await run(3, false)
    await failJob(db, jobId, fence, { code: 'provider_outcome_unknown', message: 'no answer' })
    expect(await bookUsage(db, requestedRef(jobId, '', 1), charge(4))).toBe('recorded')
    expect(await counters()).toEqual({ spent: 0n, reserved: usd(30) })

    await db.execute(sql`update provider_tasks set ask_at = now() where ask_at is not null and job_id = ${jobId}`)
    const held = (await takeHeldProviderJobs(db, 100)).find((one) => one.jobId === jobId)!
    await db.transaction(async (tx) => {
      const found = { state: 'completed', providerJobId: 'x', cost: null, isUsagePending: true } as const
      expect(await settleHeld(tx, jobId, (await closeHeldProviderJob(tx, held, found)) as bigint)).toBe('settled')
    })
    expect(await counters()).toEqual({ spent: usd(24), reserved: 0n })
    expect(await bookUsage(db, requestedRef(jobId, '', 2), charge(1))).toBe('booked')
    expect(await bookUsage(db, requestedRef(jobId, '', 3), charge(2))).toBe('booked')
    expect([await counters(), await costOf(jobId)]).toEqual([{ spent: usd(7), reserved: 0n }, 7_000_000])
    expect(await wrong()).toEqual([])
  })

  test('does not correct what an administrator settled with the bill', async () => {
    const jobId = await addHeldJob(db, person, priced(10))
    await markSeen(db, plainRef(jobId), pending)
    const actor = { id: person.userId, email: person.email }
    await db.transaction((tx) => settleByAdministrator(tx, actor, jobId, { cost: usd(7), note: 'the bill' }))
    expect(await book(jobId, 4)).toBe('over')
    // Even when the end is reported after the settlement.
    await db.execute(sql`update provider_tasks set usage_ask_at = now() where job_id = ${jobId}`)
    expect(await book(jobId, 4)).toBe('recorded')
    expect([await counters(), await costOf(jobId)]).toEqual([{ spent: usd(7), reserved: 0n }, 7_000_000])
    expect(await wrong()).toEqual([])
  })

  test('in a unit that has no price is recorded, and the estimate stays booked', async () => {
    const jobId = await addPendingJob()
    const hqc = { cost: null, usage: { amount: 12.5, unit: 'HQC' }, note: null }
    expect(await bookUsage(db, plainRef(jobId), hqc)).toBe('recorded')
    expect(await loadProviderJob(db, plainRef(jobId))).toMatchObject({
      cost: null,
      usageAmount: 12.5,
      usageUnit: 'HQC',
      usageAskAt: null
    })
    expect([await counters(), await costOf(jobId)]).toEqual([{ spent: usd(10), reserved: 0n }, 10_000_000])
  })
})

describe('a provider is queried about usage', () => {
  const secondsUntilNext = async (jobId: string) => {
    const [row] = await db.execute<{ seconds: number }>(sql`select
      extract(epoch from usage_ask_at - clock_timestamp())::float8 as seconds from provider_tasks where job_id = ${jobId}`)
    return row!.seconds
  }
  const endedAgo = (jobId: string, time: string) =>
    db.execute(sql`update provider_tasks set ended_at = now() - ${time}::interval where job_id = ${jobId}`)

  test.each([
    ['10 seconds', 60],
    ['10 minutes', 600],
    ['3 days', 3_600]
  ])('%s after the end, and then after %p seconds', async (ago, seconds) => {
    const jobId = await addPendingJob()
    expect(await takePendingUsage(db, 10)).toEqual([])
    await endedAgo(jobId, ago)
    await makeDue(jobId)
    expect(await takePendingUsage(db, 10)).toMatchObject([{ jobId, providerJobId: `at-provider-${jobId}`, teamId }])
    const next = await secondsUntilNext(jobId)
    expect(next).toBeGreaterThan(seconds - 30)
    expect(next).toBeLessThan(seconds + 30)
    expect(await takePendingUsage(db, 10)).toEqual([])
  })

  test('by turns of the teams, and each provider job by one of two sweeps at once', async () => {
    const mine = [await addPendingJob(), await addPendingJob(), await addPendingJob()]
    teamId = await addTeam(db, person)
    const theirs = await addPendingJob()
    for (const [place, jobId] of [...mine, theirs].entries())
      await db.execute(sql`update provider_tasks set usage_ask_at = now() - make_interval(secs => ${100 - place})
        where job_id = ${jobId}`)
    const first = await takePendingUsage(db, 2)
    expect(first.map(({ jobId }) => jobId).sort()).toEqual([mine[0]!, theirs].sort())
    for (const { jobId } of first) await makeDue(jobId)
    const [one, other] = await Promise.all([takePendingUsage(db, 10), takePendingUsage(db, 10)])
    expect([...one, ...other].map(({ jobId }) => jobId).sort()).toEqual([...mine, theirs].sort())
  })

  test('for a week, and a last time when the service was stopped for longer', async () => {
    const [over, stopped] = [await addPendingJob(), await addPendingJob()]
    for (const jobId of [over, stopped]) await endedAgo(jobId, '8 days')
    await makeDue(over)
    await db.execute(sql`update provider_tasks set usage_ask_at = now() - interval '3 days' where job_id = ${stopped}`)
    expect(await giveUpPendingUsage(db, 10)).toEqual([{ jobId: over, provider: 'ionq' }])
    expect(await loadProviderJob(db, plainRef(over))).toMatchObject({
      usageAskAt: null,
      note: 'the provider has not stated the cost; the estimate is booked'
    })
    expect((await takePendingUsage(db, 10)).map(({ jobId }) => jobId)).toEqual([stopped])
    expect(await giveUpPendingUsage(db, 10)).toEqual([])
    await makeDue(stopped)
    expect(await giveUpPendingUsage(db, 10)).toMatchObject([{ jobId: stopped }])
    expect(await book(stopped, 1)).toBe('over')
    expect(await costOf(stopped)).toBe(10_000_000)
  })
})

const lifeArb = fc.record({
  price: fc.nat(12),
  byKey: fc.boolean(),
  end: fc.constantFrom('completed' as const, 'failed' as const, 'held' as const),
  /** What the provider states at the end. */
  atEnd: fc.option(fc.nat(15)),
  /** What it states later, and whether the job still runs then. */
  later: fc.option(fc.record({ cost: fc.nat(25), running: fc.boolean() }), { freq: 4 })
})
type Life = typeof lifeArb extends fc.Arbitrary<infer T> ? T : never

/** @returns the job, and what it must have cost. */
async function live({ price, byKey, end, atEnd, later }: Life, key: Awaited<ReturnType<typeof addKey>>) {
  const jobId = await addAcceptedJob(db, person, {
    cost: BigInt(price),
    at: now,
    ...(byKey && { key }),
    submission: { teamId }
  })
  const cost = atEnd === null ? null : BigInt(atEnd)
  const stated = { cost, isUsagePending: later !== null }
  const bookLater = () =>
    Promise.all(
      [1, 2, 3].map(() => bookUsage(db, plainRef(jobId), { cost: BigInt(later!.cost), usage: null, note: null }))
    )
  if (end === 'held') {
    await failJob(db, jobId, fence, { code: 'provider_outcome_unknown', message: 'no answer' })
    const held = { jobId, task: '', attempt: 1 } as HeldProviderJob
    await db.transaction(async (tx) => {
      const found = { ...stated, state: 'completed', providerJobId: 'x' } as const
      await settleHeld(tx, jobId, (await closeHeldProviderJob(tx, held, found)) as bigint)
    })
  } else {
    await markSeen(db, plainRef(jobId), { ...ended, ...stated, state: end, failure: null })
    if (later?.running) await bookLater()
    if (end === 'completed') await completeJob(db, jobId, fence, 'a'.repeat(64))
    else await failJob(db, jobId, fence, { code: 'provider_failed', message: 'it broke' })
  }
  if (later) await bookLater()
  return { jobId, cost: later?.cost ?? atEnd ?? price }
}

test(
  'many concurrent jobs each cost what was stated last, and ledger, counters and jobs agree',
  () =>
    fc.assert(
      fc.asyncProperty(fc.array(lifeArb, { minLength: 8, maxLength: 24 }), async (lives) => {
        teamId = await addTeam(db, person)
        const key = await addKey(db, person, teamId, usd(50))
        const jobs = await Promise.all(lives.map((life) => live(life, key)))
        expect(await Promise.all(jobs.map(({ jobId }) => costOf(jobId)))).toEqual(jobs.map(({ cost }) => cost))
        expect(await counters()).toEqual({ spent: BigInt(jobs.reduce((sum, { cost }) => sum + cost, 0)), reserved: 0n })
        expect(await wrong()).toEqual([])
      }),
      { numRuns: RUNS, endOnFailure: true }
    ),
  60_000 + RUNS * 5_000
)
