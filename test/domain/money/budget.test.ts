import { describe, expect, test } from '@jest/globals'
import { mayHoldMoney } from '../../../domain/jobs/held-job.js'
import { jobStatuses } from '../../../domain/jobs/job-status.js'
import {
  budgetRefusalBody,
  checkKeyDay,
  checkOwnCap,
  checkPeriod,
  checkPerJob,
  checkPerSuite,
  defaultCeilings,
  defaultLimits,
  limitNames,
  periodsOf
} from '../../../domain/money/budget.js'

const usd = (dollars: number) => BigInt(dollars * 1e6)

describe('default limits', () => {
  test('are those of the interface specification: 100, 500, 100 and 1000 dollars', () => {
    expect(limitNames.map((name) => defaultLimits[name])).toEqual([usd(100), usd(500), usd(100), usd(1000)])
  })

  test('never exceed their ceilings', () => {
    for (const name of limitNames) expect(defaultLimits[name] <= defaultCeilings[name]).toBe(true)
  })
})

describe('the budget check of one job', () => {
  test("names the caller's own cap with all figures", () => {
    expect(checkOwnCap(usd(200), usd(150))).toEqual({
      limit: 'max_cost',
      estimate: usd(200),
      current: 0n,
      budget: usd(150)
    })
  })

  test('passes exactly at the limit and refuses one micro-dollar more', () => {
    expect(checkPerJob(usd(100), defaultLimits)).toBeNull()
    expect(checkPerJob(usd(100) + 1n, defaultLimits)?.limit).toBe('per_job')
    expect(checkOwnCap(usd(5), usd(5))).toBeNull()
    expect(checkOwnCap(usd(5) + 1n, usd(5))?.limit).toBe('max_cost')
    expect(checkOwnCap(usd(5), null)).toBeNull()
  })

  test('refuses every cost with a cap of zero', () => {
    expect(checkOwnCap(1n, 0n)?.limit).toBe('max_cost')
  })

  test("counts both spent and reserved money of a key's day", () => {
    const counter = { spent: usd(3), reserved: usd(2) }
    expect(checkKeyDay(usd(5), usd(10), counter)).toBeNull()
    expect(checkKeyDay(usd(5) + 1n, usd(10), counter)).toEqual({
      limit: 'key',
      estimate: usd(5) + 1n,
      current: usd(5),
      budget: usd(10)
    })
  })
})

describe('the budget check of a period', () => {
  const counter = { spent: usd(40), reserved: usd(20) }

  test('counts both spent and reserved money', () => {
    expect(checkPeriod('daily', usd(40), defaultLimits, counter)).toBeNull()
    expect(checkPeriod('daily', usd(40) + 1n, defaultLimits, counter)).toEqual({
      limit: 'daily',
      estimate: usd(40) + 1n,
      current: usd(60),
      budget: usd(100)
    })
  })

  test('names estimate, limit and remainder in the message and in fields', () => {
    const refusal = checkPeriod('monthly', usd(1.5), { ...defaultLimits, monthly: usd(61) }, counter)!
    expect(budgetRefusalBody(refusal)).toEqual({
      message:
        "Budget exceeded: estimated cost $1.50 exceeds what is left of the team's monthly budget ($1.00 of $61.00)",
      fields: { estimated_cost: 1.5, current_spend: 60, budget: 61, remaining_budget: 1 }
    })
  })

  test('reports a negative remainder when a limit was lowered below what is spent', () => {
    const refusal = checkPeriod('daily', 1n, { ...defaultLimits, daily: usd(10) }, counter)!
    expect(budgetRefusalBody(refusal).fields.remaining_budget).toBe(-50)
    expect(budgetRefusalBody(refusal).message).toContain('(-$50.00 of $10.00)')
  })
})

test('days and months are those of UTC, whatever the offset of the writer', () => {
  expect(periodsOf(new Date('2026-11-30T23:59:59.999Z'))).toEqual({ day: '2026-11-30', month: '2026-11-01' })
  expect(periodsOf(new Date('2026-12-01T01:00:00+02:00'))).toEqual({ day: '2026-11-30', month: '2026-11-01' })
  expect(periodsOf(new Date('2028-02-29T12:00:00Z'))).toEqual({ day: '2028-02-29', month: '2028-02-01' })
})

describe('the budget check of a suite', () => {
  test('passes exactly at the limit, and refuses more with all figures', () => {
    expect(checkPerSuite(usd(500), defaultLimits)).toBeNull()
    const refusal = checkPerSuite(usd(500) + 1n, defaultLimits)!
    expect(budgetRefusalBody(refusal)).toEqual({
      message:
        "Budget exceeded: estimated cost $500.000001 exceeds what is left of the team's limit per suite ($500.00 of $500.00)",
      fields: { estimated_cost: 500.000001, current_spend: 0, budget: 500, remaining_budget: 500 }
    })
  })
})

test('money can be held only after an unknown outcome at the provider, failed or cancelled', () => {
  const outcomes = [null, 'stopped_before_provider', 'provider_confirmed', 'provider_unknown', 'too_late'] as const
  const holding: unknown[] = []
  for (const status of jobStatuses)
    for (const errorCode of [null, 'worker_lost', 'provider_outcome_unknown'])
      for (const cancelOutcome of outcomes)
        if (mayHoldMoney({ status, errorCode, cancelOutcome })) holding.push([status, errorCode, cancelOutcome])
  expect(holding).toEqual([
    ...outcomes.map((outcome) => ['failed', 'provider_outcome_unknown', outcome]),
    ...[null, 'worker_lost', 'provider_outcome_unknown'].map((code) => ['cancelled', code, 'provider_unknown'])
  ])
})
