// Budget rules: which limit a cost would exceed, in the order of the checks, and what the refusal says. The counters
// are updated in db/money/budget.ts; this file does not access the database.
import { ServiceError } from '../errors.js'
import { formatUsd, type MicroUsd, usdFromMicro } from './money.js'

export interface BudgetLimits {
  perJob: MicroUsd
  perSuite: MicroUsd
  daily: MicroUsd
  monthly: MicroUsd
}

export const limitNames = ['perJob', 'perSuite', 'daily', 'monthly'] as const satisfies (keyof BudgetLimits)[]

const usd = (dollars: number): MicroUsd => BigInt(dollars) * 1_000_000n

/** The limits of a team for which none were set (interface specification 8.2). */
export const defaultLimits: BudgetLimits = {
  perJob: usd(100),
  perSuite: usd(500),
  daily: usd(100),
  monthly: usd(1000)
}

/** How far a team's owner can raise each limit. A platform administrator can change these too. */
export const defaultCeilings: BudgetLimits = {
  perJob: usd(1000),
  perSuite: usd(5000),
  daily: usd(1000),
  monthly: usd(10_000)
}

/** What was spent and reserved in one UTC day or month. */
export interface PeriodCounter {
  spent: MicroUsd
  reserved: MicroUsd
}

/** The limit that a cost would exceed, with the three figures of a 402 response. */
export interface BudgetRefusal {
  limit: 'max_cost' | 'key' | 'per_job' | 'per_suite' | 'capsule' | 'daily' | 'monthly'
  estimate: MicroUsd
  current: MicroUsd
  budget: MicroUsd
}

export const nothingSpent: PeriodCounter = { spent: 0n, reserved: 0n }

/** What all runs of a capsule have spent and reserved, and their limit; `null` when the capsule sets none. */
export interface CapsuleCounter extends PeriodCounter {
  max: MicroUsd | null
}

/**
 * Limits are checked in this order: the request's own cap, the key's day, the team's limits per job and per suite, the
 * capsule's budget, the team's day, its month.
 */
export const checkOwnCap = (estimate: MicroUsd, maxCost: MicroUsd | null, current = 0n): BudgetRefusal | null =>
  maxCost !== null && current + estimate > maxCost ? { limit: 'max_cost', estimate, current, budget: maxCost } : null

/** @param current what the same job has spent and reserved already. */
export const checkPerJob = (estimate: MicroUsd, { perJob }: BudgetLimits, current = 0n): BudgetRefusal | null =>
  current + estimate > perJob ? { limit: 'per_job', estimate, current, budget: perJob } : null

/** @param total the estimate of all jobs that are submitted as one suite. */
export function checkPerSuite(total: MicroUsd, { perSuite }: BudgetLimits): BudgetRefusal | null {
  return total > perSuite ? { limit: 'per_suite', estimate: total, current: 0n, budget: perSuite } : null
}

export function checkKeyDay(estimate: MicroUsd, dailyLimit: MicroUsd, counter: PeriodCounter): BudgetRefusal | null {
  const current = counter.spent + counter.reserved
  return current + estimate > dailyLimit ? { limit: 'key', estimate, current, budget: dailyLimit } : null
}

export function checkCapsule(estimate: MicroUsd, { max, spent, reserved }: CapsuleCounter): BudgetRefusal | null {
  const current = spent + reserved
  return max !== null && current + estimate > max ? { limit: 'capsule', estimate, current, budget: max } : null
}

export function checkPeriod(
  period: 'daily' | 'monthly',
  estimate: MicroUsd,
  limits: BudgetLimits,
  counter: PeriodCounter
): BudgetRefusal | null {
  const current = counter.spent + counter.reserved
  const budget = limits[period]
  return current + estimate > budget ? { limit: period, estimate, current, budget } : null
}

/**
 * Every limit that the cost of a single job would exceed, in the order of the checks. A cost of zero exceeds none.
 * @param maxCost the request's own cap.
 */
export function brokenLimits(
  cost: MicroUsd,
  standing: {
    limits: BudgetLimits
    day: PeriodCounter
    month: PeriodCounter
    keyDay: { limit: MicroUsd; counter: PeriodCounter } | null
  },
  maxCost: MicroUsd | null = null
): BudgetRefusal[] {
  if (cost === 0n) return []
  const { limits, day, month, keyDay } = standing
  return [
    checkOwnCap(cost, maxCost),
    keyDay && checkKeyDay(cost, keyDay.limit, keyDay.counter),
    checkPerJob(cost, limits),
    checkPeriod('daily', cost, limits, day),
    checkPeriod('monthly', cost, limits, month)
  ].filter((refusal) => refusal !== null)
}

const limitTexts: Record<BudgetRefusal['limit'], string> = {
  max_cost: "the request's own max_cost_usd",
  key: "this API key's own daily limit",
  per_job: "the team's limit per job",
  per_suite: "the team's limit per suite",
  capsule: "the capsule's max_budget_usd",
  daily: "the team's daily budget",
  monthly: "the team's monthly budget"
}

/** The message names estimate, limit and remainder, since many clients show their users only the message. */
export function budgetRefusalBody(refusal: BudgetRefusal) {
  const remaining = refusal.budget - refusal.current
  return {
    message:
      `Budget exceeded: estimated cost ${formatUsd(refusal.estimate)} exceeds what is left of ` +
      `${limitTexts[refusal.limit]} (${formatUsd(remaining)} of ${formatUsd(refusal.budget)})`,
    fields: {
      estimated_cost: usdFromMicro(refusal.estimate),
      current_spend: usdFromMicro(refusal.current),
      budget: usdFromMicro(refusal.budget),
      remaining_budget: usdFromMicro(remaining)
    }
  }
}

/** The refusal as an error for the caller, with the refusal as its cause. */
export function budgetError(refusal: BudgetRefusal): ServiceError {
  const { message, fields } = budgetRefusalBody(refusal)
  const code = refusal.limit === 'key' ? 'spend_limit_exceeded' : 'budget_exceeded'
  return new ServiceError(code, message, fields, { cause: refusal })
}

/** The UTC day (`2026-11-21`) and month (`2026-11-01`, its first day) that a start at `at` counts against. */
export function periodsOf(at: Date): { day: string; month: string } {
  const day = at.toISOString().slice(0, 10)
  return { day, month: `${day.slice(0, 7)}-01` }
}
