// Jobs on a device that is billed by time: the cap that is sent, the seconds that are billed, and figures that the provider
// states only after the end. The database is real; the provider is an adapter whose calls each test sets.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { followTask } from '../../../activities/provider/follow.js'
import { settleHeldProviderJob } from '../../../activities/provider/held-money.js'
import { bookLateUsage } from '../../../activities/provider/late-usage.js'
import { prepareProgram } from '../../../activities/provider/prepare.js'
import { submitToProvider } from '../../../activities/provider/submit.js'
import { changeBackend } from '../../../db/backends/backends.js'
import { beginJob, completeJob, failJob } from '../../../db/job-steps/job-steps.js'
import { recordScriptRequest } from '../../../db/jobs/script-requests.js'
import { periodCounters } from '../../../db/money/budget.js'
import { proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import { giveUpPendingUsage, takePendingUsage } from '../../../db/provider-jobs/pending-usage.js'
import { loadProviderJob } from '../../../db/provider-jobs/provider-jobs.js'
import { takeHeldProviderJobs } from '../../../db/provider-jobs/provider-money.js'
import { plainRef, requestedRef } from '../../../db/provider-jobs/provider-refs.js'
import type { Pricing, TimePrice } from '../../../domain/money/cost.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { type ProviderAdapter, ProviderFault, type ProviderJobView } from '../../../services/providers/adapter.js'
import { storeCredentials } from '../../../services/providers/credentials.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import { requestedCircuit } from '../../support/jobs/money-scenario.js'
import { adapterWith, completedView, providerDeps, storeCompiled } from '../../support/jobs/provider-steps.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('billed_by_time')
const { db } = database
const executor = createExecutorClient('http://127.0.0.1:1', 'a-token')
const compiler = createExecutorClient(process.env.TEST_EXECUTOR_URL!, process.env.TEST_EXECUTOR_TOKEN!)
const keyRing = readKeyRing(`one:${randomBytes(32).toString('base64')}`)
afterAll(async () => {
  await Promise.all([executor.close(), compiler.close()])
  await database.drop()
})

const backend = 'ionq-direct-simulator'
/** Ten cents a second, for at most a minute: six dollars are reserved. */
const byTime = { perSecond: 100_000n, secondsMax: 60 }
const reserved = 6_000_000
const setPrice = (price: TimePrice | null) =>
  changeBackend(db, backend, { pricing: { taskFee: 0n, perShot: 0n, minimumCost: 0n, byTime: price } })

const person = await addPerson(db)
const fence = { generation: 1 }
const { signal } = new AbortController()
let jobId: string
let teamId: string
/** The caps of the paid requests. */
let caps: (number | undefined)[]
let warnings: object[]

beforeEach(async () => {
  await setPrice(byTime)
  teamId = await addTeam(db, person)
  await db.transaction((tx) =>
    storeCredentials(tx, keyRing, { teamId, provider: 'ionq' }, { api_key: 'the-key-of-the-team' })
  )
  await begin()
})

/** A running job that is compiled and not sent. */
async function begin(): Promise<void> {
  jobId = await addJob(db, person, { submission: { teamId, backend } })
  expect(await beginJob(db, jobId, fence)).toBe('begin')
  await storeCompiled(db, jobId, fence)
  caps = []
  warnings = []
}

const seconds = (amount: number): Partial<ProviderJobView> => ({ usage: { amount, unit: 'seconds' } })

const adapter = (view: Partial<ProviderJobView> | null, answer = () => `at-provider-${jobId}`): ProviderAdapter =>
  adapterWith({
    submitsOnce: true,
    place: async () => ({ account: 'account-1' }),
    stage: async (_at, { secondsMax }) => {
      return async () => {
        caps.push(secondsMax)
        return answer()
      }
    },
    find: async () => null,
    look: async () => {
      if (view === null) throw new ProviderFault('unreachable', 'the provider is away')
      return { ...completedView, ...view }
    }
  })

const depsWith = (provider: ProviderAdapter) => ({
  ...providerDeps({ db, executor, keyRing, providers: new Map([['IonQ', provider]]) }),
  log: { warn: (detail: object) => void warnings.push(detail), error: () => {} }
})
const context = () => ({ ref: plainRef(jobId), fence, signal })
const submit = (answer?: () => string) => submitToProvider(depsWith(adapter(null, answer)), context())
const follow = (view: Partial<ProviderJobView>) => followTask(depsWith(adapter(view)), context())
const complete = async () => expect(await completeJob(db, jobId, fence, 'a'.repeat(64))).toBe('won')
const fails = (kind: 'unclear' | 'offline') => () => {
  throw new ProviderFault(kind, `it is ${kind}`)
}

/** Sends the job, and completes it with what the provider states at its end. */
async function run(view: Partial<ProviderJobView>): Promise<void> {
  expect(await submit()).toEqual({ next: 'follow' })
  expect(await follow(view)).toEqual({ next: 'collect' })
  await complete()
}

/** Queries the provider about the usage of the job, as if that were due. */
async function askAgain(view: Partial<ProviderJobView> | null) {
  await db.execute(sql`update provider_tasks set usage_ask_at = now() - interval '1 second' where job_id = ${jobId}
    and usage_ask_at is not null`)
  const pending = (await takePendingUsage(db, 100)).find((one) => one.jobId === jobId)
  return pending ? bookLateUsage(depsWith(adapter(view)), pending, signal) : 'not due'
}

async function money() {
  const [job] = await db.execute<{ cost: number; created: number }>(
    sql`select actual_cost_micro::int as cost, extract(epoch from created_at)::float8 * 1000 as created
      from jobs where id = ${jobId}`
  )
  const { day } = await periodCounters(db, teamId, new Date(job!.created))
  return { cost: job!.cost, spent: Number(day.spent), reserved: Number(day.reserved) }
}
const row = async () => (await loadProviderJob(db, plainRef(jobId)))!
const wrong = async () =>
  [...(await proveRecent(db))!, ...(await proveAll(db))!].filter((finding) => !finding.includes('than was reserved'))

describe('the seconds that were used', () => {
  test('are billed at the price of the catalogue, and the rest of the reservation is released', async () => {
    await run(seconds(12.345))
    expect(caps).toEqual([60])
    expect(await money()).toEqual({ cost: 1_234_500, spent: 1_234_500, reserved: 0 })
    expect(await row()).toMatchObject({ cost: 1_234_500n, usageAmount: 12.345, usageUnit: 'seconds', note: null })
    expect([warnings, await wrong()]).toEqual([[], []])
  })

  test('are billed beyond the cap too, which is logged and noted', async () => {
    await run(seconds(75))
    expect(await money()).toEqual({ cost: 7_500_000, spent: 7_500_000, reserved: 0 })
    const note = 'used 75 seconds, although at most 60 were reserved'
    expect((await row()).note).toBe(note)
    expect(warnings).toEqual([{ jobId, note }])
    expect((await proveRecent(db))!.join()).toContain(`job ${jobId} of team ${teamId} cost $1.50 more`)
    expect(await wrong()).toEqual([])
  })

  test('are not billed where the provider states USD', async () => {
    await run({ ...seconds(12), cost: 900_000n })
    expect(await money()).toEqual({ cost: 900_000, spent: 900_000, reserved: 0 })
  })

  test('have no price without one in the catalogue: the estimate is booked, and they are shown', async () => {
    await setPrice(null)
    await begin()
    await run(seconds(12))
    expect(caps).toEqual([undefined])
    expect(await money()).toMatchObject({ cost: 0 })
    expect(await row()).toMatchObject({ cost: null, usageAmount: 12, usageUnit: 'seconds' })
  })
})

test('usage in another unit is shown, and the estimate is booked', async () => {
  await run({ usage: { amount: 12.5, unit: 'HQC' } })
  expect(await money()).toEqual({ cost: reserved, spent: reserved, reserved: 0 })
  expect(await row()).toMatchObject({ cost: null, usageAmount: 12.5, usageUnit: 'HQC', note: null })
})

describe('a figure that comes after the end', () => {
  test.each([
    ['smaller than', seconds(2.5), 250_000],
    ['larger than', seconds(80), 8_000_000],
    ['stated in USD, and smaller than', { cost: 123n }, 123]
  ])('is booked once, when it is %s the estimate', async (_what, view, cost) => {
    await run({ ...seconds(0), isUsagePending: true })
    expect(await money()).toEqual({ cost: reserved, spent: reserved, reserved: 0 })
    expect(await row()).toMatchObject({ cost: null, note: expect.stringContaining('has not stated the cost yet') })
    expect(warnings).toEqual([])
    expect(await askAgain({ isUsagePending: true })).toBe('not_yet')
    expect(await askAgain(view)).toBe('booked')
    expect(await money()).toEqual({ cost, spent: cost, reserved: 0 })
    expect(await row()).toMatchObject({ cost: BigInt(cost) })
    expect(await askAgain(seconds(1))).toBe('not due')
    expect(await wrong()).toEqual([])
  })

  test('is booked once by two sweeps that ask at the same time', async () => {
    await run({ isUsagePending: true })
    await db.execute(sql`update provider_tasks set usage_ask_at = now() - interval '1 second' where job_id = ${jobId}`)
    const [pending] = await takePendingUsage(db, 100)
    const ask = () => bookLateUsage(depsWith(adapter(seconds(2))), pending!, signal)
    expect((await Promise.all([ask(), ask()])).sort()).toEqual(['booked', 'over'])
    expect(await money()).toEqual({ cost: 200_000, spent: 200_000, reserved: 0 })
    expect(await wrong()).toEqual([])
  })

  test('is billed at the price at which the circuit was sent, whatever the catalogue says by then', async () => {
    await run({ isUsagePending: true })
    await setPrice({ perSecond: 900_000n, secondsMax: 5 })
    expect(await askAgain(seconds(10))).toBe('booked')
    expect(await money()).toMatchObject({ cost: 1_000_000 })
  })

  test('in another unit is shown, and the estimate stays booked', async () => {
    await run({ isUsagePending: true })
    expect(await askAgain({ usage: { amount: 3, unit: 'EUR' } })).toBe('recorded')
    expect(await money()).toMatchObject({ cost: reserved })
    expect(await row()).toMatchObject({ cost: null, usageAmount: 3, usageUnit: 'EUR', note: null, usageAskAt: null })
  })

  test('that never comes leaves the estimate, and the provider is asked no more after a week', async () => {
    await run({ isUsagePending: true })
    for (const view of [{ isUsagePending: true }, null, { status: 'running' } as const])
      expect(await askAgain(view)).toBe('not_yet')
    await db.execute(sql`update provider_tasks set ended_at = now() - interval '8 days',
      usage_ask_at = now() - interval '1 second' where job_id = ${jobId}`)
    expect((await giveUpPendingUsage(db, 100)).map((one) => one.jobId)).toEqual([jobId])
    expect(await askAgain(seconds(1))).toBe('not due')
    expect(await money()).toEqual({ cost: reserved, spent: reserved, reserved: 0 })
    expect((await row()).note).toBe('the provider has not stated the cost; the estimate is booked')
    expect(await wrong()).toEqual([])
  })

  test('is booked for a job whose money was held, after that is settled with the estimate', async () => {
    await submit()
    await failJob(db, jobId, fence, { code: 'provider_outcome_unknown', message: 'no answer' })
    await db.execute(sql`update provider_tasks set ask_at = now() where job_id = ${jobId}`)
    const held = (await takeHeldProviderJobs(db, 100)).find((one) => one.jobId === jobId)!
    expect(await settleHeldProviderJob(depsWith(adapter({ isUsagePending: true })), held, signal)).toBe('settled')
    expect(await money()).toEqual({ cost: reserved, spent: reserved, reserved: 0 })
    expect(await askAgain(seconds(3))).toBe('booked')
    expect(await money()).toEqual({ cost: 300_000, spent: 300_000, reserved: 0 })
    expect(await wrong()).toEqual([])
  })

  test('is billed by seconds at once for a job whose money was held', async () => {
    await submit()
    await failJob(db, jobId, fence, { code: 'provider_outcome_unknown', message: 'no answer' })
    await db.execute(sql`update provider_tasks set ask_at = now() where job_id = ${jobId}`)
    const held = (await takeHeldProviderJobs(db, 100)).find((one) => one.jobId === jobId)!
    expect(await settleHeldProviderJob(depsWith(adapter(seconds(4))), held, signal)).toBe('settled')
    expect(await money()).toEqual({ cost: 400_000, spent: 400_000, reserved: 0 })
    expect(await row()).toMatchObject({ usageAmount: 4, usageUnit: 'seconds' })
  })
})

describe('a provider that bills seconds', () => {
  const facts = { target: { format: 'ionq', num_qubits: 29 }, status: 'online', shots: null, price: null } as const
  const bySeconds = () => ({ ...adapter(null), billsSeconds: true, describe: async () => facts })
  const perShot = { taskFee: 0n, perShot: 1_000n, minimumCost: 0n, byTime: null }
  const refused = {
    next: 'fail',
    error: {
      code: 'backend_unavailable',
      message:
        `${backend} is billed by the second, and the catalogue has no price for that: an administrator sets perSecond ` +
        `and secondsMax there (qjob admin backend ${backend})`
    }
  }
  /** A job that is not compiled, at these prices. */
  async function uncompiled(pricing: Pricing): Promise<void> {
    await changeBackend(db, backend, { pricing })
    await begin()
    await db.execute(sql`delete from artifacts where job_id = ${jobId}`)
  }
  const prepare = (emulated = false) =>
    prepareProgram({ ...depsWith(bySeconds()), gate: gateTo(compiler), emulated }, context())

  test('gets no paid job while the catalogue has only a price for shots, and the record says what to set', async () => {
    await uncompiled(perShot)
    expect(await prepare()).toEqual(refused)
  })

  test.each([
    ['there is a price per second', { ...perShot, byTime }],
    ['the price is zero', { ...perShot, perShot: 0n }]
  ])('gets jobs when %s', async (_what, pricing) => {
    await uncompiled(pricing)
    expect(await prepare()).toEqual({ next: 'submit' })
  })

  test('gets jobs when it is emulated', async () => {
    await uncompiled(perShot)
    expect(await prepare(true)).toEqual({ next: 'submit' })
  })

  test('gets no job whose price per second is removed before it is sent', async () => {
    await changeBackend(db, backend, { pricing: perShot })
    expect(await submitToProvider(depsWith(bySeconds()), context())).toEqual(refused)
    expect([caps, (await row()).state]).toEqual([[], 'withdrawn'])
  })
})

describe('a price that changes between the reservation and the request', () => {
  test.each([
    ['a higher price per second', { perSecond: 100_001n, secondsMax: 60 }],
    ['a higher cap', { perSecond: 100_000n, secondsMax: 61 }]
  ])('to %s ends the job before anything is sent', async (_what, price) => {
    await setPrice(price)
    expect(await submit()).toMatchObject({
      next: 'fail',
      error: { code: 'price_changed', message: expect.stringContaining('$6.00 was reserved, $6.') }
    })
    expect([caps, (await row()).state]).toEqual([[], 'withdrawn'])
    await failJob(db, jobId, fence, { code: 'price_changed', message: 'as above' })
    expect(await money()).toEqual({ cost: 0, spent: 0, reserved: 0 })
  })

  test('to the same amount with another cap sends that cap', async () => {
    await setPrice({ perSecond: 200_000n, secondsMax: 30 })
    await run(seconds(10))
    expect(caps).toEqual([30])
    expect(await money()).toMatchObject({ cost: 2_000_000 })
  })

  test('from none, while the device takes no jobs, ends a job for which no time was reserved', async () => {
    await setPrice(null)
    await begin()
    expect(await submit(fails('offline'))).toMatchObject({ next: 'again' })
    await setPrice(byTime)
    expect(await submit()).toMatchObject({ next: 'fail', error: { code: 'price_changed' } })
    // The device was away for the one paid request so far.
    expect(caps).toEqual([undefined])
  })

  test('does not change a request whose answer was lost: it is repeated with its cap, and billed at its price', async () => {
    expect(await submit(fails('unclear'))).toMatchObject({ next: 'again' })
    await setPrice({ perSecond: 5_000_000n, secondsMax: 600 })
    expect(await submit()).toEqual({ next: 'follow' })
    expect(caps).toEqual([60, 60])
    await follow(seconds(10))
    await complete()
    expect(await money()).toEqual({ cost: 1_000_000, spent: 1_000_000, reserved: 0 })
    expect(await wrong()).toEqual([])
  })

  test('before the start ends the job there', async () => {
    const waiting = await addJob(db, person, { submission: { teamId, backend } })
    await setPrice({ perSecond: 100_001n, secondsMax: 60 })
    expect(await beginJob(db, waiting, fence)).toBe('stop')
  })

  test('holds for the circuits that a script requests from then on', async () => {
    const send = async (ask: number, answer?: () => string) => {
      const ref = requestedRef(jobId, '', ask)
      const by = { task: '', number: ask, series: 0, parkedAs: null }
      await recordScriptRequest(db, jobId, fence, by, requestedCircuit(ask))
      await storeCompiled(db, jobId, fence, ref)
      return submitToProvider(depsWith(adapter(null, answer)), { ref, fence, signal })
    }
    expect(await send(1, () => 'first')).toEqual({ next: 'follow' })
    expect(await send(2, fails('offline'))).toMatchObject({ next: 'again' })
    expect((await money()).reserved).toBe(2 * reserved)
    await setPrice({ perSecond: 200_000n, secondsMax: 40 })
    expect(await send(2)).toMatchObject({ next: 'fail', error: { code: 'price_changed' } })
    // Its six dollars are left for the next one, which needs eight.
    expect(await send(3, () => 'third')).toEqual({ next: 'follow' })
    expect([caps, (await money()).reserved]).toEqual([[60, 60, 40], 14_000_000])
    expect(await wrong()).toEqual([])
  })
})
