// Jobs that are submitted together: reserved all or none.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { newId } from '../../../db/ids.js'
import { changeTeamBudget, periodCounters, reserve, reserveSuite, settle } from '../../../db/money/budget.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { type BudgetRefusal, budgetRefusalBody } from '../../../domain/money/budget.js'
import { addKey, usd } from '../../support/jobs/money-rows.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('budget_suite', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const noon = new Date('2026-11-21T12:00:00Z')
let teamId: string
beforeEach(async () => {
  teamId = await addTeam(db, person)
})

interface Choices {
  ids?: string[]
  maxCost?: number
  key?: { id: string }
}

/** Like a submission: a refusal rolls everything back. */
async function submitSuite(dollars: number[], { ids, maxCost, key }: Choices = {}): Promise<BudgetRefusal | null> {
  const jobs = dollars.map((cost, at) => ({ id: ids?.[at] ?? newId(), estimate: usd(cost) }))
  let refusal: BudgetRefusal | null = null
  await db
    .transaction(async (tx) => {
      const cap = maxCost === undefined ? null : usd(maxCost)
      refusal = await reserveSuite(tx, {
        teamId,
        startsAt: noon,
        maxCost: cap,
        key: key ? { ...key, dailyLimit: usd(5) } : null,
        jobs
      })
      if (refusal) tx.rollback()
    })
    .catch((error) => {
      if (!refusal) throw error
    })
  return refusal
}
const counters = async () => {
  const { day, month } = await periodCounters(db, teamId, noon)
  return [day, month].map(({ spent, reserved }) => ({ spent, reserved }))
}
const entries = async () =>
  (await db.execute(sql`select count(*)::int as n from ledger where team_id = ${teamId}`))[0]!.n

describe('a suite', () => {
  test('reserves its sum in day and month, and each job has its own entry and settles separately', async () => {
    const ids = [newId(), newId(), newId(), newId()]
    expect(await submitSuite([10, 20, 0, 5], { ids })).toBeNull()
    expect(await counters()).toEqual([
      { spent: 0n, reserved: usd(35) },
      { spent: 0n, reserved: usd(35) }
    ])
    expect(await entries()).toBe(3)
    await db.transaction((tx) => settle(tx, ids[0]!, usd(9)))
    await db.transaction((tx) => settle(tx, ids[1]!, 0n))
    expect((await counters())[0]).toEqual({ spent: usd(9), reserved: usd(5) })
    await db.transaction((tx) => settle(tx, ids[3]!, 'all'))
    expect((await counters())[1]).toEqual({ spent: usd(14), reserved: 0n })
    expect(await ledgerMismatches(db)).toEqual([])
  })

  test.each([
    ['max_cost', { perJob: 5, perSuite: 5, daily: 5, monthly: 5 }, { estimate: 12, budget: 5 }],
    ['key', { perJob: 5, perSuite: 5, daily: 5, monthly: 5 }, { estimate: 12, budget: 5 }],
    ['per_job', { perJob: 5, perSuite: 5, daily: 5, monthly: 5 }, { estimate: 7, budget: 5 }],
    ['per_suite', { perSuite: 5, daily: 5, monthly: 5 }, { estimate: 12, budget: 5 }],
    ['daily', { daily: 5, monthly: 5 }, { estimate: 12, budget: 5 }],
    ['monthly', { monthly: 5 }, { estimate: 12, budget: 5 }]
  ] as const)('is refused as a whole, and %s is named before later limits', async (limit, limits, figures) => {
    await changeTeamBudget(db, teamId, Object.fromEntries(Object.entries(limits).map(([k, v]) => [k, usd(v)])))
    const key = await addKey(db, person, teamId, usd(5))
    const refusal = (await submitSuite([5, 7], {
      ...(limit === 'max_cost' && { maxCost: 5 }),
      ...((limit === 'max_cost' || limit === 'key') && { key })
    }))!
    expect(refusal).toEqual({ limit, estimate: usd(figures.estimate), current: 0n, budget: usd(figures.budget) })
    expect(Object.keys(budgetRefusalBody(refusal).fields)).toHaveLength(4)
    expect(await entries()).toBe(0)
    expect(await counters()).toEqual([
      { spent: 0n, reserved: 0n },
      { spent: 0n, reserved: 0n }
    ])
  })

  test('is refused exactly above the limit per suite', async () => {
    await changeTeamBudget(db, teamId, { perSuite: usd(30) })
    expect(await submitSuite([10, 10, 10])).toBeNull()
    const refusal = (await submitSuite([10, 10, 10.000001]))!
    expect(refusal.limit).toBe('per_suite')
    expect(budgetRefusalBody(refusal).message).toContain("the team's limit per suite ($30.00 of $30.00)")
  })

  test('is not a single job, whose limit is the one per job', async () => {
    await changeTeamBudget(db, teamId, { perSuite: usd(1) })
    expect(await submitSuite([50])).toBeNull()
    const id = newId()
    const terms = { id, teamId, startsAt: noon, maxCost: null, key: null, estimate: usd(40) }
    expect(await db.transaction((tx) => reserve(tx, terms))).toBeNull()
  })

  test('is not a job of several circuits', async () => {
    await changeTeamBudget(db, teamId, { perSuite: usd(1) })
    await addJob(db, person, { cost: usd(10), submission: { teamId, circuitCount: 4 } })
    const [row] = await db.execute(sql`select amount_micro::int as amount from ledger where team_id = ${teamId}`)
    expect(row).toEqual({ amount: 40_000_000 })
  })

  test('without a price changes nothing and is never refused', async () => {
    await changeTeamBudget(db, teamId, { perJob: 0n, perSuite: 0n, daily: 0n, monthly: 0n })
    expect(await submitSuite([0, 0])).toBeNull()
    expect(await submitSuite([])).toBeNull()
    expect(await entries()).toBe(0)
  })

  test('is accepted exactly as often as there is room for, of thirty at once', async () => {
    await changeTeamBudget(db, teamId, { daily: usd(10) })
    const answers = await Promise.all(Array.from({ length: 30 }, () => submitSuite([0.5, 0.3])))
    expect(answers.filter((answer) => answer === null)).toHaveLength(12)
    expect((await counters())[0]).toEqual({ spent: 0n, reserved: usd(9.6) })
    expect(await ledgerMismatches(db)).toEqual([])
  })
})
