// `qjob budget`: the team's spending limits, and what is left of them.
import type { Command } from 'commander'
import { type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { table } from '../terminal/layout.js'
import { money, printResult } from '../terminal/output.js'

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

export function addBudgetCommand(program: Command): void {
  serviceCommand(program, 'budget', "show the team's spending limits and what is left of them").action(
    (options: ServiceOptions) =>
      withService(options, async (api) => {
        const { value, text } = await api.get<Budget>('/api/team/budget')
        printResult(options, text, () => budgetText(value))
      })
  )
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
      ['one job', money(limits.per_job_usd), '', '', '']
    ]
  )
}
