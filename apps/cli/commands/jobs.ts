// `qjob jobs`: lists the jobs of the caller's teams, newest first.
import { type Command, Option } from 'commander'
import { jobStatuses } from '../../../domain/jobs/job-status.js'
import type { JobRecord } from '../jobs/job-record.js'
import { scriptIdOf } from '../scripts/script-record.js'
import { onlyTeamHelp, type TeamOptions, teamIdOf } from '../session/choice.js'
import { type ServiceOptions, serviceCommand, wholeNumber, withService } from '../session/service-command.js'
import { type Column, table } from '../terminal/layout.js'
import { type ListTotal, money, printResult, totalText } from '../terminal/output.js'
import { ago, lasted } from '../terminal/readable-time.js'

interface JobsOptions extends ServiceOptions, TeamOptions {
  status?: string
  backend?: string
  script?: string
  mine?: boolean
  limit: number
  cursor?: string
}

interface JobPage extends ListTotal {
  jobs: JobRecord[]
  next_cursor: string | null
}

const columns: Column[] = [
  { heading: 'ID', id: true },
  { heading: 'STATUS', status: true },
  { heading: 'BACKEND', least: 10, yields: 3 },
  { heading: 'MODE', yields: 7 },
  { heading: 'SUBMITTED', yields: 2 },
  { heading: 'RAN', right: true, yields: 6 },
  { heading: 'COST', right: true, yields: 4 },
  { heading: 'NAME', least: 12, yields: 1 },
  { heading: 'SUMMARY', least: 16, yields: 5 }
]

export function addJobsCommand(program: Command): void {
  serviceCommand(program, 'jobs', 'list the jobs of your teams, newest first')
    .addOption(new Option('--status <status>', 'only jobs with this status').choices(jobStatuses))
    .option('--backend <slug>', 'only jobs on this backend')
    .option('--script <script>', 'only jobs that ran this saved script; its slug or id')
    .option('--mine', 'only jobs that you submitted')
    .option('--team <team>', onlyTeamHelp)
    .option('--limit <n>', 'how many, 1 to 100', wholeNumber, 20)
    .option('--cursor <cursor>', 'continue after the previous page')
    .action((options: JobsOptions) =>
      withService(options, async (api) => {
        const query = new URLSearchParams({ limit: String(options.limit) })
        for (const name of ['status', 'backend', 'cursor'] as const)
          if (options[name] !== undefined) query.set(name, options[name])
        if (options.script !== undefined) query.set('script_id', await scriptIdOf(api, options.script))
        if (options.mine) query.set('mine', 'true')
        const team = await teamIdOf(api, options)
        if (team !== undefined) query.set('team_id', team)
        const { value, text } = await api.get<JobPage>(`/api/jobs?${query}`)
        printResult(options, text, () => pageText(value))
      })
    )
}

function pageText({ jobs, next_cursor, ...total }: JobPage): string {
  if (jobs.length === 0) return 'No jobs.'
  const rows = jobs.map((job) => [
    job.id,
    job.status,
    job.backend,
    job.execution_mode,
    ago(job.created_at),
    job.started_at && job.completed_at ? lasted(job.started_at, job.completed_at) : '',
    money(job.actual_cost_usd ?? job.estimated_cost_usd),
    job.name ?? '',
    summaryLine(job)
  ])
  const list = table(columns, rows)
  return next_cursor ? `${list}\n\n${jobs.length} of ${totalText(total)}; more: --cursor ${next_cursor}` : list
}

function summaryLine({ summary }: JobRecord): string {
  return Object.entries(summary ?? {})
    .map(([label, text]) => `${label}: ${text}`)
    .join('; ')
}
