// A team's budget as the API shows it.

import type { DbOrTx } from '../../../db/client.js'
import { periodCounters, type TeamBudget, teamBudget } from '../../../db/money/budget.js'
import { type BudgetLimits, limitNames, type PeriodCounter, periodsOf } from '../../../domain/money/budget.js'
import { type MicroUsd, usdFromMicro } from '../../../domain/money/money.js'

/** The names of the limits in bodies. */
export const fieldOf = {
  perJob: 'per_job_usd',
  perSuite: 'per_suite_usd',
  daily: 'daily_usd',
  monthly: 'monthly_usd'
} as const satisfies Record<keyof BudgetLimits, string>

/** @param teamId `null` for a caller without any team yet: the limits that their personal team will have. */
export async function budgetView(db: DbOrTx, teamId: string | null, at: Date) {
  const nobody = '00000000-0000-0000-0000-000000000000'
  const [{ limits, ceilings }, counters] = await Promise.all([
    teamBudget(db, teamId ?? nobody),
    periodCounters(db, teamId ?? nobody, at)
  ])
  const { day, month } = periodsOf(at)
  return {
    team_id: teamId,
    limits: limitView(limits),
    ceilings: limitView(ceilings),
    day: { date: day, ...counterView(counters.day, limits.daily) },
    month: { month: month.slice(0, 7), ...counterView(counters.month, limits.monthly) }
  }
}

/** Limits and ceilings alone, as the audit notes them. */
export const auditView = ({ limits, ceilings }: TeamBudget) => ({ ...limitView(limits), ceilings: limitView(ceilings) })

const limitView = (limits: BudgetLimits) =>
  Object.fromEntries(limitNames.map((name) => [fieldOf[name], usdFromMicro(limits[name])]))

const counterView = ({ spent, reserved }: PeriodCounter, limit: MicroUsd) => ({
  spent_usd: usdFromMicro(spent),
  reserved_usd: usdFromMicro(reserved),
  remaining_usd: usdFromMicro(limit - spent - reserved)
})
