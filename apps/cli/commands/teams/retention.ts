// `qjob retention`: how long a team keeps results, values of tasks and output of its jobs, and the change of it.
import { type Command, InvalidArgumentError } from 'commander'
import { changedTeam, readTeamHelp, type TeamOptions, teamQuery } from '../../session/choice.js'
import { type ServiceOptions, serviceCommand, withService, withSession } from '../../session/service-command.js'
import { table } from '../../terminal/layout.js'
import { printResult } from '../../terminal/output.js'
import { clockTime } from '../../terminal/readable-time.js'

interface Kept {
  days: number | null
  team_days: number | null
  team_days_from: string | null
  platform_days: number | null
}

interface Retention {
  results: Kept
  task_values: Kept
  output: Kept
}

/** A parser of commander cannot return `null`. */
const FOREVER = 'forever'
type Days = number | typeof FOREVER

interface RetentionOptions {
  results?: Days
  taskValues?: Days
  output?: Days
}

export function addRetentionCommand(program: Command): void {
  serviceCommand(
    program,
    'retention',
    'show how many days a team keeps results, task values and output of its jobs, or change it (owner)'
  )
    .option('--results <days>', "results and files of jobs; 'forever': as long as the platform keeps them", days)
    .option('--task-values <days>', 'functions, arguments and return values of tasks', days)
    .option('--output <days>', 'what programs and tasks printed', days)
    .option('--team <team>', `${readTeamHelp}; to change it, needed if you are in several`)
    .action((options: ServiceOptions & TeamOptions & RetentionOptions) => {
      const { results, taskValues, output } = options
      const changes = {
        ...(results !== undefined && { results_days: numberOf(results) }),
        ...(taskValues !== undefined && { task_values_days: numberOf(taskValues) }),
        ...(output !== undefined && { output_days: numberOf(output) })
      }
      if (Object.keys(changes).length === 0)
        return withService(options, async (api) => {
          const { value, text } = await api.get<Retention>(`/api/team/retention${await teamQuery(api, options)}`)
          printResult(options, text, () => retentionText(value))
        })
      return withSession(options, async (api) => {
        const body = { team_id: await changedTeam(api, options), ...changes }
        const { value, text } = await api.patch<Retention>('/api/team/retention', body)
        printResult(options, text, () => retentionText(value))
      })
    })
}

const numberOf = (days: Days): number | null => (days === FOREVER ? null : days)

function days(text: string): Days {
  if (text === FOREVER) return FOREVER
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError("must be a number of days, or 'forever'")
  return Number(text)
}

export function retentionText({ results, task_values, output }: Retention): string {
  const row = (name: string, kept: Kept): string[] => [
    name,
    daysText(kept.days),
    kept.team_days === null ? '' : daysText(kept.team_days),
    kept.team_days_from === null ? '' : clockTime(kept.team_days_from),
    kept.platform_days === null ? '' : daysText(kept.platform_days)
  ]
  return table(
    ['CONTENT', 'KEPT', 'TEAM', { heading: 'FROM', yields: 1 }, 'PLATFORM'],
    [row('results', results), row('task values', task_values), row('output', output)]
  )
}

const daysText = (count: number | null): string =>
  count === null ? 'forever' : count === 1 ? '1 day' : `${count} days`
