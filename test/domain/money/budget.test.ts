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

describe('defaults', () => {
  test('are those of the interface specification: 100, 500, 100 and 1000 dollars', () => {
    expect(limitNames.map((name) => defaultLimits[name])).toEqual([usd(100), usd(500), usd(100), usd(1000)])
  })

  test('no limit begins above its ceiling', () => {
    for (const name of limitNames) expect(defaultLimits[name] <= defaultCeilings[name]).toBe(true)
  })
})

describe('one job', () => {
  test("of the caller's own cap says which limit, and all figures", () => {
    expect(checkOwnCap(usd(200), usd(150))).toEqual({
      limit: 'max_cost',
      estimate: usd(200),
      current: 0n,
      budget: usd(150)
    })
  })

  test('passes at exactly the limit and is refused one micro-dollar above', () => {
    expect(checkPerJob(usd(100), defaultLimits)).toBeNull()
    expect(checkPerJob(usd(100) + 1n, defaultLimits)?.limit).toBe('per_job')
    expect(checkOwnCap(usd(5), usd(5))).toBeNull()
    expect(checkOwnCap(usd(5) + 1n, usd(5))?.limit).toBe('max_cost')
    expect(checkOwnCap(usd(5), null)).toBeNull()
  })

  test('a cap of zero lets nothing through that costs anything', () => {
    expect(checkOwnCap(1n, 0n)?.limit).toBe('max_cost')
  })

  test("a key's day counts what its jobs have spent and reserved", () => {
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

describe('a period', () => {
  const counter = { spent: usd(40), reserved: usd(20) }

  test('counts what is reserved as well as what is spent', () => {
    expect(checkPeriod('daily', usd(40), defaultLimits, counter)).toBeNull()
    expect(checkPeriod('daily', usd(40) + 1n, defaultLimits, counter)).toEqual({
      limit: 'daily',
      estimate: usd(40) + 1n,
      current: usd(60),
      budget: usd(100)
    })
  })

  test('the refusal names estimate, limit and what is left, in words and in figures', () => {
    const refusal = checkPeriod('monthly', usd(1.5), { ...defaultLimits, monthly: usd(61) }, counter)!
    expect(budgetRefusalBody(refusal)).toEqual({
      message:
        "Budget exceeded: estimated cost $1.50 is above what is left of the team's monthly budget ($1.00 of $61.00)",
      fields: { estimated_cost: 1.5, current_spend: 60, budget: 61, remaining_budget: 1 }
    })
  })

  test('a limit that was lowered below what is spent leaves a negative rest, said as such', () => {
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

describe('a suite', () => {
  test('passes at exactly the limit; above, the refusal names it with all figures', () => {
    expect(checkPerSuite(usd(500), defaultLimits)).toBeNull()
    const refusal = checkPerSuite(usd(500) + 1n, defaultLimits)!
    expect(budgetRefusalBody(refusal)).toEqual({
      message:
        "Budget exceeded: estimated cost $500.000001 is above what is left of the team's limit per suite ($500.00 of $500.00)",
      fields: { estimated_cost: 500.000001, current_spend: 0, budget: 500, remaining_budget: 500 }
    })
  })
})

test('money may be held after exactly two ends: an outcome at the provider that nobody knows, failed or cancelled', () => {
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
