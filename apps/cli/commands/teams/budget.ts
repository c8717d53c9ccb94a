// `qjob budget`: a team's spending limits, what is left of them, and their change.
import type { Command } from 'commander'
import { changedTeam, readTeamHelp, type TeamOptions, teamQuery } from '../../session/choice.js'
import {
  dollars,
  type ServiceOptions,
  serviceCommand,
  withService,
  withSession
} from '../../session/service-command.js'
import { table } from '../../terminal/layout.js'
import { money, printResult } from '../../terminal/output.js'

interface Period {
  spent_usd: number
  reserved_usd: number
  remaining_usd: number
}

interface Limits {
  per_job_usd: number
  per_suite_usd: number
  daily_usd: number
  monthly_usd: number
}

export interface Budget {
  team_id: string | null
  limits: Limits
  ceilings: Limits
  day: Period & { date: string }
  month: Period & { month: string }
}

export interface LimitOptions {
  perJob?: number
  perSuite?: number
  daily?: number
  monthly?: number
}

export function addBudgetCommand(program: Command): void {
  serviceCommand(
    program,
    'budget',
    "show a team's spending limits and what is left of them, or change the limits (owner)"
  )
    .option('--per-job <usd>', 'the most that one job can cost', dollars)
    .option('--per-suite <usd>', 'the most that one run of a capsule can cost', dollars)
    .option('--daily <usd>', 'the limit of a day', dollars)
    .option('--monthly <usd>', 'the limit of a month', dollars)
    .option('--team <team>', `${readTeamHelp}; to change limits, needed if you are in several`)
    .action((options: ServiceOptions & TeamOptions & LimitOptions) => {
      const limits = limitsBody(options)
      if (Object.keys(limits).length === 0)
        return withService(options, async (api) => {
          const { value, text } = await api.get<Budget>(`/api/team/budget${await teamQuery(api, options)}`)
          printResult(options, text, () => budgetText(value))
        })
      return withSession(options, async (api) => {
        const body = { team_id: await changedTeam(api, options), ...limits }
        const { value, text } = await api.patch<Budget>('/api/team/budget', body)
        printResult(options, text, () => budgetText(value))
      })
    })
}

/** The fields of a body that sets limits: those that were given. */
export const limitsBody = ({ perJob, perSuite, daily, monthly }: LimitOptions): Partial<Limits> => ({
  ...(perJob !== undefined && { per_job_usd: perJob }),
  ...(perSuite !== undefined && { per_suite_usd: perSuite }),
  ...(daily !== undefined && { daily_usd: daily }),
  ...(monthly !== undefined && { monthly_usd: monthly })
})

export function budgetText({ limits, ceilings, day, month }: Budget): string {
  const period = (name: string, field: keyof Limits, { spent_usd, reserved_usd, remaining_usd }: Period) => [
    name,
    money(limits[field]),
    money(spent_usd),
    money(reserved_usd),
    money(remaining_usd),
    money(ceilings[field])
  ]
  const alone = (name: string, field: keyof Limits) => [name, money(limits[field]), '', '', '', money(ceilings[field])]
  return table(
    [
      'PERIOD (UTC)',
      ...['LIMIT', 'SPENT', 'RESERVED', 'LEFT'].map((heading) => ({ heading, right: true })),
      { heading: 'CEILING', right: true, yields: 1 }
    ],
    [
      period(day.date, 'daily_usd', day),
      period(month.month, 'monthly_usd', month),
      alone('one job', 'per_job_usd'),
      alone('one run of a capsule', 'per_suite_usd')
    ]
  )
}
