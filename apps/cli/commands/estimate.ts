// `qjob estimate`: what a job would cost, before it is submitted.
import type { Command } from 'commander'
import { readTeamHelp, type TeamOptions, teamIdOf } from '../session/choice.js'
import { type ServiceOptions, serviceCommand, wholeNumber, withService } from '../session/service-command.js'
import { listing } from '../terminal/layout.js'
import { money, printResult } from '../terminal/output.js'

interface Estimate {
  estimated_cost_usd: number
  breakdown: {
    task_fee: number
    per_shot: number
    shots: number
    tasks: number
    minimum_cost: number
    per_second?: number
    seconds_max?: number
  }
  budget: { day: { remaining_usd: number }; month: { remaining_usd: number } }
}

interface EstimateOptions extends ServiceOptions, TeamOptions {
  shots: number
  circuits: number
}

export function addEstimateCommand(program: Command): void {
  serviceCommand(program, 'estimate', 'show what a job would cost')
    .argument('<backend>', 'the slug of a backend (qjob backends lists them)')
    .option('--shots <n>', 'the number of shots', wholeNumber, 1024)
    .option('--circuits <n>', 'the number of circuits', wholeNumber, 1)
    .option('--team <team>', readTeamHelp)
    .action((backend: string, { shots, circuits, ...options }: EstimateOptions) =>
      withService(options, async (api) => {
        const query = new URLSearchParams({ backend, shots: String(shots), tasks: String(circuits) })
        const team = await teamIdOf(api, options)
        if (team !== undefined) query.set('team_id', team)
        const { value, text } = await api.get<Estimate>(`/api/jobs/estimate?${query}`)
        printResult(options, text, () => estimateText(value))
      })
    )
}

const estimateText = ({ estimated_cost_usd, breakdown, budget }: Estimate): string =>
  listing([
    ['estimate', money(estimated_cost_usd)],
    ['circuits', `${breakdown.tasks} at ${money(breakdown.task_fee)}`],
    ['shots', `${breakdown.shots} at ${money(breakdown.per_shot)} each, for every circuit`],
    ['time', timeText(breakdown)],
    ['at least', breakdown.minimum_cost > 0 ? money(breakdown.minimum_cost) : null],
    ['left today', money(budget.day.remaining_usd)],
    ['left this month', money(budget.month.remaining_usd)]
  ])

const timeText = ({ per_second, seconds_max }: Estimate['breakdown']): string | null =>
  per_second === undefined ? null : `at most ${seconds_max} s at ${money(per_second)} each, for every circuit`
