// A team's budget as the API shows it.
import { type Static, Type } from 'typebox'
import type { DbOrTx } from '../../../db/client.js'
import type { TeamBudget as TeamLimits } from '../../../db/money/budget.js'
import { type BudgetStanding, budgetStanding } from '../../../db/money/budget-standing.js'
import { type BudgetLimits, type PeriodCounter, periodsOf } from '../../../domain/money/budget.js'
import type { MoneyState } from '../../../domain/money/held-money.js'
import { type MicroUsd, usdFromMicro } from '../../../domain/money/money.js'
import { count, nullable, text, time, usd, uuid } from '../http/response.js'

const limits = Type.Object({ per_job_usd: usd, per_suite_usd: usd, daily_usd: usd, monthly_usd: usd })
const period = {
  spent_usd: usd,
  reserved_usd: usd,
  remaining_usd: Type.Number({ description: 'USD; below 0 when the limit was lowered' })
}

/** How many held jobs a team's budget names. */
export const HELD_MAX = 50

export const Budget = Type.Object(
  {
    team_id: nullable(uuid, 'null for a caller who has no team yet'),
    limits,
    ceilings: limits,
    day: Type.Object({ date: Type.String({ format: 'date' }), ...period }),
    month: Type.Object({ month: Type.String({ pattern: '^\\d{4}-\\d{2}$' }), ...period })
  },
  { $id: 'Budget' }
)

export const TeamBudget = Type.Object(
  {
    ...Budget.properties,
    held: Type.Object(
      {
        total_usd: usd,
        jobs: count,
        oldest: Type.Array(
          Type.Object({
            job_id: uuid,
            backend: text,
            provider: text,
            reason: nullable(text, 'Why the cost is not known, as in the job'),
            held_usd: usd,
            since: time,
            asks_provider_at: nullable(time, 'When the provider is queried next; null when it no longer is')
          }),
          { description: `The ${HELD_MAX} oldest` }
        )
      },
      { description: 'Reservations of jobs that ended before their cost was known' }
    )
  },
  { $id: 'TeamBudget' }
)

export const heldView = ({ rows, jobs, amount }: MoneyState['held']): Static<typeof TeamBudget>['held'] => ({
  total_usd: usdFromMicro(amount),
  jobs,
  oldest: rows.map((job) => ({
    job_id: job.jobId,
    backend: job.backend,
    provider: job.provider,
    reason: job.reason,
    held_usd: usdFromMicro(job.amount),
    since: job.since.toISOString(),
    asks_provider_at: job.asksAt?.toISOString() ?? null
  }))
})

/** The names of the limits in bodies. */
export const fieldOf = {
  perJob: 'per_job_usd',
  perSuite: 'per_suite_usd',
  daily: 'daily_usd',
  monthly: 'monthly_usd'
} as const satisfies Record<keyof BudgetLimits, string>

/** @param teamId `null` for a caller without a team: the limits that their personal team will have. */
export async function budgetView(db: DbOrTx, teamId: string | null, at: Date): Promise<Static<typeof Budget>> {
  return standingView(teamId, await budgetStanding(db, teamId, null, at), at)
}

export function standingView(teamId: string | null, standing: BudgetStanding, at: Date): Static<typeof Budget> {
  const { limits, ceilings } = standing
  const { day, month } = periodsOf(at)
  return {
    team_id: teamId,
    limits: limitView(limits),
    ceilings: limitView(ceilings),
    day: { date: day, ...counterView(standing.day, limits.daily) },
    month: { month: month.slice(0, 7), ...counterView(standing.month, limits.monthly) }
  }
}

/** Only limits and ceilings, as the audit trail records them. */
export const auditView = ({ limits, ceilings }: TeamLimits) => ({ ...limitView(limits), ceilings: limitView(ceilings) })

const limitView = (limits: BudgetLimits): Static<typeof Budget>['limits'] => ({
  per_job_usd: usdFromMicro(limits.perJob),
  per_suite_usd: usdFromMicro(limits.perSuite),
  daily_usd: usdFromMicro(limits.daily),
  monthly_usd: usdFromMicro(limits.monthly)
})

const counterView = ({ spent, reserved }: PeriodCounter, limit: MicroUsd) => ({
  spent_usd: usdFromMicro(spent),
  reserved_usd: usdFromMicro(reserved),
  remaining_usd: usdFromMicro(limit - spent - reserved)
})
