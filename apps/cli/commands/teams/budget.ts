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

interface Budget {
  team_id: string | null
  limits: { per_job_usd: number; per_suite_usd: number; daily_usd: number; monthly_usd: number }
  day: Period & { date: string }
  month: Period & { month: string }
}

interface BudgetOptions extends ServiceOptions, TeamOptions {
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
    .action((options: BudgetOptions) => {
      const { perJob, perSuite, daily, monthly } = options
      const limits = { per_job_usd: perJob, per_suite_usd: perSuite, daily_usd: daily, monthly_usd: monthly }
      if (Object.values(limits).every((limit) => limit === undefined))
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

function budgetText({ limits, day, month }: Budget): string {
  const period = (name: string, limit: number, { spent_usd, reserved_usd, remaining_usd }: Period) => [
    name,
    money(limit),
    money(spent_usd),
    money(reserved_usd),
    money(remaining_usd)
  ]
  return table(
    ['PERIOD (UTC)', ...['LIMIT', 'SPENT', 'RESERVED', 'LEFT'].map((heading) => ({ heading, right: true }))],
    [
      period(day.date, limits.daily_usd, day),
      period(month.month, limits.monthly_usd, month),
      ['one job', money(limits.per_job_usd), '', '', ''],
      ['one run of a capsule', money(limits.per_suite_usd), '', '', '']
    ]
  )
}
