import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { newId } from '../../../db/ids.js'
import { changeTeamBudget, periodCounters, reserve, settle, teamBudget } from '../../../db/money/budget.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { type BudgetRefusal, defaultCeilings, defaultLimits } from '../../../domain/money/budget.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('budget', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const usd = (dollars: number) => BigInt(Math.round(dollars * 1e6))
const noon = new Date('2026-11-21T12:00:00Z')
let teamId: string
beforeEach(async () => {
  teamId = await addTeam(db, person)
})

/** Like a submission: a refusal rolls everything back. */
async function reserveOne(
  estimate: bigint,
  options: { at?: Date; maxCost?: bigint; id?: string } = {}
): Promise<BudgetRefusal | null> {
  const { id = newId(), at: startsAt = noon, maxCost = null } = options
  let refusal: BudgetRefusal | null = null
  await db
    .transaction(async (tx) => {
      refusal = await reserve(tx, { id, teamId, estimate, startsAt, maxCost, key: null })
      if (refusal) throw new Error('rolled back')
    })
    .catch((error) => {
      if (!refusal) throw error
    })
  return refusal
}
const settleOne = (id: string, spent: bigint) => db.transaction((tx) => settle(tx, id, spent))
const counters = (at = noon) => periodCounters(db, teamId, at)
const noMismatch = async () => expect([...(await ledgerMismatches(db))]).toEqual([])

describe('reserving', () => {
  test('changes day and month together, with a ledger entry', async () => {
    expect(await reserveOne(usd(30))).toBeNull()
    expect(await counters()).toEqual({
      day: expect.objectContaining({ spent: 0n, reserved: usd(30) }),
      month: expect.objectContaining({ spent: 0n, reserved: usd(30) })
    })
    await noMismatch()
  })

  test('zero changes no counter and is never refused', async () => {
    await changeTeamBudget(db, teamId, { perJob: 0n, daily: 0n, monthly: 0n })
    expect(await reserveOne(0n, { maxCost: 0n })).toBeNull()
    expect([...(await db.execute(sql`select 1 from budget_counters where team_id = ${teamId}`))]).toEqual([])
    expect((await reserveOne(1n))?.limit).toBe('per_job')
  })

  test.each([
    ['max_cost', { perJob: usd(5), daily: usd(5), monthly: usd(5) }, usd(5)],
    ['per_job', { perJob: usd(5), daily: usd(5), monthly: usd(5) }, undefined],
    ['daily', { daily: usd(5), monthly: usd(5) }, undefined],
    ['monthly', { monthly: usd(5) }, undefined]
  ])('checks the limits in order: %s is named first', async (limit, limits, maxCost) => {
    await changeTeamBudget(db, teamId, limits)
    expect(await reserveOne(usd(6), { ...(maxCost && { maxCost }) })).toMatchObject({
      limit,
      budget: usd(5),
      current: 0n
    })
  })

  test('stops exactly at the limit', async () => {
    await changeTeamBudget(db, teamId, { daily: usd(10) })
    expect(await reserveOne(usd(9.999999))).toBeNull()
    expect(await reserveOne(2n)).toMatchObject({ limit: 'daily', current: usd(9.999999), budget: usd(10) })
    expect(await reserveOne(1n)).toBeNull()
    expect((await reserveOne(1n))?.limit).toBe('daily')
  })

  test('concurrently, sixty times, succeeds exactly as often as there is room for', async () => {
    await changeTeamBudget(db, teamId, { daily: usd(3.7) })
    const at = new Date()
    const jobs = await Promise.allSettled(
      Array.from({ length: 60 }, () => addJob(db, person, { cost: usd(0.1), at, submission: { teamId } }))
    )
    expect(jobs.filter((job) => job.status === 'fulfilled')).toHaveLength(37)
    expect((await counters(at)).day.reserved).toBe(usd(3.7))
    const [row] = await db.execute(sql`select count(*)::int as jobs from jobs where team_id = ${teamId}`)
    expect(row).toEqual({ jobs: 37 })
    await noMismatch()
  })

  test('counts against the day and month of the start, on both sides of midnight', async () => {
    const before = new Date('2026-11-30T23:59:59.999Z')
    const after = new Date('2026-12-01T00:00:00.000Z')
    await changeTeamBudget(db, teamId, { daily: usd(1), monthly: usd(1) })
    expect(await reserveOne(usd(1), { at: before })).toBeNull()
    expect(await reserveOne(usd(1), { at: after })).toBeNull()
    expect((await reserveOne(1n, { at: before }))?.limit).toBe('daily')
    expect((await counters(after)).month.reserved).toBe(usd(1))
    expect((await counters(before)).month.reserved).toBe(usd(1))
    await noMismatch()
  })

  test('for a later start counts then, and not today', async () => {
    const notBefore = new Date(Date.now() + 5 * 86_400_000)
    await changeTeamBudget(db, teamId, { daily: usd(1) })
    await addJob(db, person, { cost: usd(1), submission: { teamId, notBefore } })
    expect((await counters(notBefore)).day.reserved).toBe(usd(1))
    expect((await counters(new Date())).day.reserved).toBe(0n)
    await expect(addJob(db, person, { cost: 1n, submission: { teamId, notBefore } })).rejects.toMatchObject({
      code: 'budget_exceeded'
    })
    await addJob(db, person, { cost: usd(1), submission: { teamId } })
  })
})

describe('settling', () => {
  test.each([
    ['all of it', 10, 10, 0],
    ['a part of it', 10, 4, 0],
    ['nothing', 10, 0, 0],
    ['more than was reserved', 10, 13, 0]
  ])('%s: the spent part stays, and the rest is released', async (_what, reserved, spent, left) => {
    const id = newId()
    await reserveOne(usd(reserved), { id })
    await settleOne(id, usd(spent))
    expect((await counters()).day).toMatchObject({ spent: usd(spent), reserved: usd(left) })
    expect((await counters()).month).toMatchObject({ spent: usd(spent), reserved: usd(left) })
    await noMismatch()
  })

  test('twice with the same figure changes nothing, and with another figure is refused and reported', async () => {
    for (const first of [0, 4, 10]) {
      const [id, other] = [newId(), newId()]
      await reserveOne(usd(10), { id })
      // Room that a wrong second settlement could use unnoticed.
      await reserveOne(usd(10), { id: other })
      await settleOne(id, usd(first))
      const before = await counters()
      await settleOne(id, usd(first))
      for (const second of [0, 4, 10, 12].filter((figure) => figure !== first))
        await expect(settleOne(id, usd(second))).rejects.toThrow('was settled before')
      expect(await counters()).toEqual(before)
      await settleOne(other, 0n)
    }
    await noMismatch()
  })

  test('concurrently, ten times, happens once', async () => {
    const id = newId()
    await reserveOne(usd(10), { id })
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => settleOne(id, usd(3))))
    expect(results.some((result) => result.status === 'fulfilled')).toBe(true)
    expect((await counters()).day).toMatchObject({ spent: usd(3), reserved: 0n })
    await noMismatch()
  })

  test('without a reservation records nothing', async () => {
    await settleOne(newId(), 0n)
    expect([...(await db.execute(sql`select 1 from ledger where team_id = ${teamId}`))]).toEqual([])
  })
})

describe('limits', () => {
  test('are the defaults until they are set, and omitted ones stay unchanged', async () => {
    expect(await teamBudget(db, teamId)).toEqual({ limits: defaultLimits, ceilings: defaultCeilings })
    await changeTeamBudget(db, teamId, { daily: usd(7) })
    await changeTeamBudget(db, teamId, { monthly: usd(9) }, { perJob: usd(2000) })
    expect(await teamBudget(db, teamId)).toEqual({
      limits: { ...defaultLimits, daily: usd(7), monthly: usd(9) },
      ceilings: { ...defaultCeilings, perJob: usd(2000) }
    })
    await changeTeamBudget(db, teamId, {})
  })

  test('follow a lowered ceiling at once, and return when it is raised', async () => {
    await changeTeamBudget(db, teamId, { perJob: usd(50) }, { perJob: usd(20) })
    expect((await teamBudget(db, teamId)).limits.perJob).toBe(usd(20))
    await changeTeamBudget(db, teamId, {}, { perJob: usd(80) })
    expect((await teamBudget(db, teamId)).limits.perJob).toBe(usd(50))
  })
})

test('are proved: an unexplained counter and a ledger row without a counter are found', async () => {
  await reserveOne(usd(1))
  await db.execute(sql`update budget_counters set reserved_micro = 5 where team_id = ${teamId} and period = 'day'`)
  expect(await ledgerMismatches(db)).toHaveLength(1)
  await db.execute(sql`delete from budget_counters where team_id = ${teamId}`)
  expect(await ledgerMismatches(db)).toHaveLength(2)
})
