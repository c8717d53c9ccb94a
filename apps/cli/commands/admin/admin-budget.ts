// `qjob admin budget`: the limits of a team, and the ceilings up to which its owner can set them.
import type { Command } from 'commander'
import { dollars, type ServiceOptions } from '../../session/service-command.js'
import { printResult } from '../../terminal/output.js'
import { type Budget, budgetText, type LimitOptions, limitsBody } from '../teams/budget.js'
import { teamId } from './admin-database.js'
import { administratorCommand, withAdministrator } from './administrator.js'

interface CeilingOptions {
  ceilingPerJob?: number
  ceilingPerSuite?: number
  ceilingDaily?: number
  ceilingMonthly?: number
}

export function addAdminBudgetCommand(admin: Command): void {
  administratorCommand(
    admin,
    'budget',
    "show a team's limits, ceilings and what is left of them, or change limits and ceilings"
  )
    .argument('<team-id>', '', teamId)
    .option('--per-job <usd>', 'the most that one job can cost', dollars)
    .option('--per-suite <usd>', 'the most that one run of a capsule can cost', dollars)
    .option('--daily <usd>', 'the limit of a day', dollars)
    .option('--monthly <usd>', 'the limit of a month', dollars)
    .option('--ceiling-per-job <usd>', 'the most that the owner can set for --per-job', dollars)
    .option('--ceiling-per-suite <usd>', 'the same for --per-suite', dollars)
    .option('--ceiling-daily <usd>', 'the same for --daily', dollars)
    .option('--ceiling-monthly <usd>', 'the same for --monthly', dollars)
    .action((id: string, options: ServiceOptions & LimitOptions & CeilingOptions) =>
      withAdministrator(options, async (api) => {
        const path = `/api/admin/teams/${id}/budgets`
        const limits = limitsBody(options)
        const ceilings = limitsBody({
          perJob: options.ceilingPerJob,
          perSuite: options.ceilingPerSuite,
          daily: options.ceilingDaily,
          monthly: options.ceilingMonthly
        })
        const changed = { ...limits, ...(Object.keys(ceilings).length > 0 && { ceilings }) }
        const { value, text } = await (Object.keys(changed).length > 0
          ? api.put<Budget>(path, changed)
          : api.get<Budget>(path))
        printResult(options, text, () => budgetText(value))
      })
    )
}
