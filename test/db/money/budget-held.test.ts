// Money of jobs whose provider has not reported how they ended: it stays reserved until it is settled, once.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob, failJob, recordCancelled, requestCancel } from '../../../db/job-steps/job-steps.js'
import { periodCounters, settle, settleHeld } from '../../../db/money/budget.js'
import { ledgerMismatches, proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import { addAcceptedJob, addHeldJob, addKey, usd } from '../../support/jobs/money-rows.js'
import { addJob, addPerson, addTeam, newLease } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('budget_held', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const fence = { generation: 1 }
let teamId: string
beforeEach(async () => {
  teamId = await addTeam(db, person)
})

/** Of every job, and of the day that is looked at: midnight can pass meanwhile. */
const at = new Date()
const priced = (dollars: number) => ({ cost: usd(dollars), at, submission: { teamId } })
const today = async () => (await periodCounters(db, teamId, at)).day
const settleLate = (jobId: string, dollars: number) => db.transaction((tx) => settleHeld(tx, jobId, usd(dollars)))
const actualCost = async (jobId: string) => {
  const [row] = await db.execute(sql`select actual_cost_micro::int as cost from jobs where id = ${jobId}`)
  return row!.cost
}
/** The ledger, counters and jobs of this team agree. */
const booksAreRight = async () => {
  const found = [...(await proveRecent(db))!, ...(await proveAll(db))!]
  expect(found.filter((finding) => finding.includes(teamId) && !finding.includes('than was reserved'))).toEqual([])
  expect(await ledgerMismatches(db)).toEqual([])
}

describe('a job that ends with its money held', () => {
  test('by failing keeps its reservation without a cost, and its provider is queried again', async () => {
    const jobId = await addHeldJob(db, person, priced(10))
    expect(await today()).toMatchObject({ reserved: usd(10), spent: 0n })
    expect(await actualCost(jobId)).toBeNull()
    const [task] = await db.execute(sql`select ask_at is not null as asked from provider_tasks where job_id = ${jobId}`)
    expect(task).toEqual({ asked: true })
    await booksAreRight()
  })

  test('by a cancel does the same', async () => {
    const jobId = await addAcceptedJob(db, person, priced(10))
    await requestCancel(db, jobId)
    expect(await recordCancelled(db, jobId, fence, 'provider_unknown')).toBe('won')
    expect(await today()).toMatchObject({ reserved: usd(10), spent: 0n })
    expect(await actualCost(jobId)).toBeNull()
    await settleLate(jobId, 3)
    expect(await today()).toMatchObject({ reserved: 0n, spent: usd(3) })
    await booksAreRight()
  })

  test('still counts against the limits of its day', async () => {
    await addHeldJob(db, person, priced(90))
    await expect(addJob(db, person, priced(20))).rejects.toMatchObject({ code: 'budget_exceeded' })
  })

  test('reports whether there is money to hold, and changes nothing', async () => {
    const [jobId, free] = [await addJob(db, person, priced(1)), await addJob(db, person, priced(0))]
    const hold = (id: string) => db.transaction((tx) => settle(tx, id, 'held'))
    expect([await hold(jobId), await hold(free)]).toEqual(['held', 'free'])
    expect(await today()).toMatchObject({ reserved: usd(1), spent: 0n })
    await db.transaction((tx) => settle(tx, jobId, usd(1)))
    await expect(hold(jobId)).rejects.toThrow('was settled before')
  })
})

describe('settling held money', () => {
  test.each([
    ['the estimate', 10],
    ['less', 4.2],
    ['nothing', 0],
    ['more than was reserved', 12]
  ])('with %s spends it, releases the rest, and records the cost', async (_what, dollars) => {
    const jobId = await addHeldJob(db, person, priced(10))
    expect(await settleLate(jobId, dollars)).toBe('settled')
    expect(await today()).toMatchObject({ reserved: 0n, spent: usd(dollars) })
    expect(await actualCost(jobId)).toBe(Number(usd(dollars)))
    const [task] = await db.execute(sql`select ask_at from provider_tasks where job_id = ${jobId}`)
    expect(task).toEqual({ ask_at: null })
    await booksAreRight()
  })

  test('again with the same figure changes nothing, and with another figure is refused', async () => {
    const jobId = await addHeldJob(db, person, priced(10))
    await settleLate(jobId, 4)
    expect(await settleLate(jobId, 4)).toBe('already')
    for (const other of [0, 3.999999, 10])
      await expect(settleLate(jobId, other)).rejects.toMatchObject({
        code: 'conflict',
        message: 'this job was settled before, with $4.00; another figure is a correction, not a settlement'
      })
    expect(await today()).toMatchObject({ reserved: 0n, spent: usd(4) })
  })

  test('by ten at once with different figures succeeds once', async () => {
    const jobId = await addHeldJob(db, person, priced(10))
    const results = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => settleLate(jobId, n)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await today()).spent).toBe(BigInt((await actualCost(jobId)) as number))
    await booksAreRight()
  })

  test('is refused for every job whose money is not held', async () => {
    const pending = await addJob(db, person, priced(1))
    const running = await addAcceptedJob(db, person, priced(1))
    const completed = await addJob(db, person, priced(1))
    await beginJob(db, completed, fence)
    await completeJob(db, completed, fence, 'a'.repeat(64))
    const failed = await addJob(db, person, priced(1))
    await failJob(db, failed, undefined, { code: 'execution_error', message: 'x' })
    const cancelled = await addJob(db, person, priced(1))
    await requestCancel(db, cancelled)
    const before = await today()
    for (const jobId of [pending, running, completed, failed, cancelled])
      await expect(settleLate(jobId, 1)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('is not held')
      })
    await expect(settleLate(newLease(), 1)).rejects.toMatchObject({ code: 'not_found' })
    expect(await today()).toEqual(before)
  })
})

describe('the charge of a job without an estimate', () => {
  test('is spent on the day of its start and of its key, and reported', async () => {
    const key = await addKey(db, person, teamId, usd(5))
    const jobId = await addHeldJob(db, person, { cost: 0n, at, key, submission: { teamId } })
    expect(await settleLate(jobId, 2)).toBe('settled')
    expect(await today()).toMatchObject({ reserved: 0n, spent: usd(2) })
    const [day] = await db.execute(
      sql`select spent_micro::int as spent, reserved_micro::int as reserved from api_key_days where key_id = ${key.id}`
    )
    expect(day).toEqual({ spent: 2_000_000, reserved: 0 })
    expect(await proveRecent(db)).toContain(`job ${jobId} of team ${teamId} cost $2.00 more than was reserved for it`)
    await booksAreRight()
  })
})

test('of two concurrent settlements with different figures, one is refused, whatever the figures are', async () => {
  for (const [first, second] of [
    [0, 10],
    [10, 0],
    [0, 4],
    [10, 12]
  ] as const) {
    const jobId = await addJob(db, person, priced(10))
    // Room that a second settlement could use unnoticed.
    const other = await addJob(db, person, priced(10))
    const settleOne = (dollars: number) => db.transaction((tx) => settle(tx, jobId, usd(dollars)))
    const results = await Promise.allSettled([settleOne(first), settleOne(second)])
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await today()).reserved).toBe(usd(10))
    await db.transaction((tx) => settle(tx, other, 0n))
  }
  expect(await ledgerMismatches(db)).toEqual([])
})
