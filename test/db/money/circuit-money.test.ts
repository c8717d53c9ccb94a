// The money of circuits that a job requests while it runs: reserved once each, before anything is sent, within every
// limit; settled together at the job's end.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { loadMoney } from '../../../db/admin/held-money.js'
import { changeBackend } from '../../../db/backends/backends.js'
import { beginJob, completeJob, failJob, recordCancelled } from '../../../db/job-steps/job-steps.js'
import { listAttempts, openAttempt } from '../../../db/jobs/attempts.js'
import { answerScriptRequest, recordScriptRequest } from '../../../db/jobs/script-requests.js'
import { changeTeamBudget, periodCounters, settleHeld } from '../../../db/money/budget.js'
import { proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import {
  markAccepted,
  markSeen,
  markSending,
  markUnknown,
  markWithdrawn,
  openCircuits,
  takeForSubmit
} from '../../../db/provider-jobs/provider-jobs.js'
import {
  closeHeldProviderJob,
  type HeldProviderJob,
  takeHeldProviderJobs
} from '../../../db/provider-jobs/provider-money.js'
import { requestedRef } from '../../../db/provider-jobs/provider-refs.js'
import { addKey } from '../../support/jobs/money-rows.js'
import { addJob, addPerson, addTeam, type JobChoices } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('circuit_money', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
await changeBackend(db, 'ionq-direct-simulator', { pricing: { taskFee: 0n, perShot: 0n, minimumCost: 0n } })
const fence = { generation: 1 }
const error = { code: 'execution_error', message: 'it broke' } as const
let teamId: string
let jobId: string

/** Of every job, and of the day that is looked at: midnight can pass meanwhile. */
const now = new Date()

/** A running job with this much reserved, in a team of its own. */
async function begin(reserved: bigint, choices: JobChoices = {}): Promise<void> {
  jobId = await addJob(db, person, {
    cost: reserved,
    at: now,
    ...choices,
    submission: { teamId, backend: 'ionq-direct-simulator', ...choices.submission }
  })
  expect(await beginJob(db, jobId, fence)).toBe('begin')
}

beforeEach(async () => {
  teamId = await addTeam(db, person)
})

const ref = (ask: number, task = '') => requestedRef(jobId, task, ask)

async function ask(number: number, task = ''): Promise<void> {
  const circuit = { number, digest: 'd', shots: 1, openqasm3: '', facts: {}, registers: [] }
  const by = { task, number, series: 0, parkedAs: null }
  await recordScriptRequest(db, jobId, fence, by, { kind: 'circuit', final: false, ...circuit })
}

/** Requests a circuit of this price, and takes it for a try. */
async function take(number: number, estimate: bigint, task = '') {
  await ask(number, task)
  return takeForSubmit(db, ref(number, task), fence, { provider: 'IonQ', token: `${jobId}${task}${number}`, estimate })
}

async function accept(number: number, estimate: bigint, task = ''): Promise<void> {
  const attempt = await take(number, estimate, task)
  await markSending(db, ref(number, task), fence, attempt!.number, 'v1')
  await markAccepted(db, ref(number, task), fence, `at-${task}${number}`)
}

async function run(number: number, estimate: bigint, cost: bigint | null, task = ''): Promise<void> {
  await accept(number, estimate, task)
  const seen = { status: 'completed', queuePosition: null, predictedWaitSeconds: null, failure: null }
  await markSeen(db, ref(number, task), { ...seen, state: 'completed', cost })
  await answerScriptRequest(db, jobId, task, number, fence, '{"counts":{}}')
}

const reserved = async () => (await periodCounters(db, teamId, now)).day.reserved
const spent = async () => (await periodCounters(db, teamId, now)).day.spent
const wrong = async () => [...(await proveRecent(db))!, ...(await proveAll(db))!]

test('a circuit that a script requests after a restore may be another one than the provider has, until it is sent again', async () => {
  await begin(20n)
  await ask(1)
  await db.execute(
    sql`insert into restores (id, backup_id, taken_at) values (gen_random_uuid(), gen_random_uuid(), now())`
  )
  const take = async (number: number) =>
    takeForSubmit(db, ref(number), fence, { provider: 'IonQ', token: `${jobId}${number}`, estimate: 1n })
  // Requested before the backup: the same circuit.
  expect(await take(1)).toMatchObject({ mayBeAnother: false, lastSentAt: expect.any(Date) })
  await ask(2)
  const again = await take(2)
  expect(again).toMatchObject({ mayBeAnother: true, lastSentAt: expect.any(Date) })
  await markSending(db, ref(2), fence, again!.number, 'v1')
  expect(await take(2)).toMatchObject({ mayBeAnother: false })
  await db.execute(sql`delete from restores`)
})

describe('the reservation for a requested circuit', () => {
  test('is the job’s own while it suffices, and then each circuit’s missing part, once', async () => {
    await begin(20n)
    await accept(1, 8n)
    await accept(2, 8n)
    expect(await reserved()).toBe(20n)
    await take(3, 8n)
    await take(3, 8n)
    expect(await reserved()).toBe(24n)
    await take(4, 1n)
    expect(await reserved()).toBe(25n)
  })

  test('is reused when a circuit was not accepted, or cost less than its price', async () => {
    await begin(10n)
    await take(1, 10n)
    await markWithdrawn(db, ref(1), fence, null)
    await run(2, 10n, 4n)
    await take(3, 6n)
    expect(await reserved()).toBe(10n)
    await take(4, 5n)
    expect(await reserved()).toBe(15n)
  })

  test('is nothing for a circuit that is free', async () => {
    await changeTeamBudget(db, teamId, { daily: 0n })
    await begin(0n)
    expect(await take(1, 0n)).not.toBeNull()
    expect([...(await db.execute(sql`select 1 from ledger where job_id = ${jobId}`))]).toEqual([])
  })

  test('counts against the day of the job’s own reservation', async () => {
    const at = new Date('2026-03-31T23:59:59Z')
    await begin(5n, { at })
    await take(1, 9n)
    expect(await reserved()).toBe(0n)
    const { day, month } = await periodCounters(db, teamId, at)
    expect([day.reserved, month.reserved]).toEqual([9n, 9n])
  })

  test('is nothing for a request that has its answer', async () => {
    await begin(5n)
    await ask(1)
    await answerScriptRequest(db, jobId, '', 1, fence, '{"counts":{}}')
    expect(await take(1, 9n)).toBeNull()
    expect(await reserved()).toBe(5n)
  })
})

describe('a circuit that does not fit is refused by the first limit that it exceeds, and leaves no trace', () => {
  const refusals: [string, bigint, RegExp, () => Promise<void>][] = [
    ['max_cost', 20n, /max_cost_usd/, () => begin(10n, { submission: { maxCost: 20n } })],
    ['key', 20n, /API key's own daily limit/, async () => begin(10n, { key: await addKey(db, person, teamId, 20n) })],
    [
      'per_job',
      20n,
      /limit per job/,
      async () => {
        await changeTeamBudget(db, teamId, { perJob: 20n, daily: 20n })
        await begin(10n)
      }
    ],
    [
      'daily',
      20n,
      /daily budget/,
      async () => {
        await changeTeamBudget(db, teamId, { daily: 20n, monthly: 20n })
        await begin(10n)
      }
    ],
    [
      'monthly',
      20n,
      /monthly budget/,
      async () => {
        await changeTeamBudget(db, teamId, { monthly: 20n })
        await begin(10n)
      }
    ]
  ]

  test.each(refusals)('%s', async (_name, limit, message, prepare) => {
    await prepare()
    await accept(1, 10n)
    await expect(take(2, limit - 10n + 1n)).rejects.toThrow(message)
    expect(await reserved()).toBe(10n)
    expect((await openCircuits(db, jobId)).map(({ attempt }) => attempt)).toEqual([1])
    // Exactly up to the limit.
    await take(3, limit - 10n)
    expect(await reserved()).toBe(limit)
    expect(await wrong()).toEqual([])
  })

  test('of twenty concurrent tasks, exactly as many are accepted as the budget has room for', async () => {
    await changeTeamBudget(db, teamId, { daily: 35n })
    await begin(10n)
    const tasks = Array.from({ length: 20 }, (_, n) => `task_${n}`)
    const taken = await Promise.allSettled(tasks.map((task) => take(1, 10n, task)))
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(await reserved()).toBe(30n)
  })
})

describe('the cost of a job with circuits', () => {
  test('is the sum over its circuits when it completes, with the price of one without a figure; the rest is released', async () => {
    await begin(10n)
    await run(1, 10n, 7n)
    await run(2, 10n, null)
    await run(1, 10n, 12n, 'task_0001')
    await take(3, 10n)
    await markWithdrawn(db, ref(3), fence, null)
    expect(await completeJob(db, jobId, fence, 'a'.repeat(64))).toBe('won')
    expect([await spent(), await reserved()]).toEqual([29n, 0n])
    expect(await wrong()).toEqual([])
  })

  test('is nothing when it completes without a circuit', async () => {
    await begin(10n)
    await completeJob(db, jobId, fence, 'a'.repeat(64))
    expect([await spent(), await reserved()]).toEqual([0n, 0n])
  })

  test.each<[string, () => Promise<unknown>]>([
    ['failed', () => failJob(db, jobId, fence, error)],
    ['cancelled', () => recordCancelled(db, jobId, fence, 'provider_confirmed')]
  ])('is the certain part when %s; an intent that was never sent costs nothing', async (_how, end) => {
    await begin(10n)
    await run(1, 10n, 7n)
    await take(2, 10n)
    await end()
    expect([await spent(), await reserved()]).toEqual([7n, 0n])
    expect(await wrong()).toEqual([])
  })

  test('is held while the outcome of one circuit is unknown, and settled with the sum once each has ended', async () => {
    await begin(10n)
    await run(1, 10n, 7n)
    await accept(2, 10n)
    await accept(3, 10n)
    await markUnknown(db, ref(3), fence)
    await failJob(db, jobId, fence, error)
    expect([await spent(), await reserved()]).toEqual([0n, 27n])
    const { held } = await loadMoney(db, 10)
    expect(held.rows.find((row) => row.jobId === jobId)).toMatchObject({ amount: 27n })

    await db.execute(sql`update provider_tasks set ask_at = now() where ask_at is not null`)
    const due = (await takeHeldProviderJobs(db, 10)).filter((held) => held.jobId === jobId)
    expect(due.map(({ attempt }) => attempt).sort()).toEqual([2, 3])
    const close = (held: HeldProviderJob, cost: bigint) =>
      db.transaction(async (tx) => {
        const all = await closeHeldProviderJob(tx, held, { state: 'completed', providerJobId: 'x', cost })
        return all === 'held' ? all : settleHeld(tx, jobId, all)
      })
    expect(await Promise.all([close(due[0]!, 10n), close(due[1]!, 11n)]).then((ends) => ends.sort())).toEqual([
      'held',
      'settled'
    ])
    expect([await spent(), await reserved()]).toEqual([28n, 0n])
    expect((await wrong()).filter((finding) => !finding.includes('more than was reserved'))).toEqual([])
  })
})

test('of an attempt is that of the circuits that it requested', async () => {
  await begin(30n)
  await openAttempt(db, jobId, fence, { task: 'task_0001' })
  await run(1, 10n, 7n, 'task_0001')
  await run(2, 10n, 8n, 'task_0001')
  expect(await listAttempts(db, jobId)).toMatchObject([
    { task: 'task_0001', number: 1, providerJobId: null, cost: 15n }
  ])
})
