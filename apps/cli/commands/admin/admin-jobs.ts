// `qjob admin jobs`, `cancel` and `takedown`: jobs and published capsules of any team.
import { type Command, Option } from 'commander'
import { jobStatuses } from '../../../../domain/jobs/job-status.js'
import type { JobRecord } from '../../jobs/job-record.js'
import { type ListView, listText } from '../../session/list.js'
import { idArgument, type PageOptions, type ServiceOptions, wholeNumberWithin } from '../../session/service-command.js'
import { type ListTotal, money, pageFooter, printResult, totalText } from '../../terminal/output.js'
import { ago } from '../../terminal/readable-time.js'
import { plainLine } from '../../terminal/untrusted-text.js'
import { administratorCommand, withAdministrator } from './administrator.js'

interface AnyJob extends JobRecord {
  team_name: string
  user_email: string | null
}

interface JobPage extends ListTotal {
  jobs: AnyJob[]
}

type JobsOptions = ServiceOptions & PageOptions & { status?: string; q?: string }

// Ids are shown whole: nothing but a whole id names a job of another team.
const jobs: ListView<AnyJob> = {
  columns: [
    { heading: 'ID' },
    { heading: 'STATUS', status: true },
    { heading: 'TEAM', least: 10, yields: 2 },
    { heading: 'USER', least: 12, yields: 1 },
    { heading: 'BACKEND', least: 10, yields: 3 },
    { heading: 'SUBMITTED', yields: 4 },
    { heading: 'COST', right: true, yields: 5 },
    { heading: 'NAME', least: 12, yields: 6 }
  ],
  cells: (job) => [
    job.id,
    job.status,
    job.team_name,
    job.user_email ?? '',
    job.backend,
    ago(job.created_at),
    money(job.actual_cost_usd ?? job.estimated_cost_usd),
    job.name ?? ''
  ],
  none: 'No jobs.'
}

export function addAdminJobCommands(admin: Command): void {
  administratorCommand(admin, 'jobs', 'list the jobs of all teams, newest first')
    .option('--q <text>', "an id (of a job, team or user), or part of the name, backend, team's name or user's address")
    .addOption(new Option('--status <status>', 'only jobs with this status').choices(jobStatuses))
    .option('--limit <n>', 'how many, 1 to 100', wholeNumberWithin(1, 100), 50)
    .option('--offset <n>', 'how many to skip', wholeNumberWithin(0, 1_000_000_000), 0)
    .action(({ q, status, limit, offset, ...options }: JobsOptions) =>
      withAdministrator(options, async (api) => {
        const query = new URLSearchParams({ limit: String(limit), offset: String(offset) })
        if (q !== undefined) query.set('q', q)
        if (status !== undefined) query.set('status', status)
        const { value, text } = await api.get<JobPage>(`/api/admin/jobs?${query}`)
        printResult(options, text, () => pageText(value, offset))
      })
    )
  administratorCommand(admin, 'cancel', 'cancel a job of any team, and stop what is running')
    .argument('<job-id>', '', idArgument('job', 'qjob admin jobs'))
    .action((id: string, options: ServiceOptions) =>
      withAdministrator(options, async (api) => {
        const { value, text } = await api.post<JobRecord>(`/api/admin/jobs/${id}/cancel`)
        printResult(options, text, () => `job ${id} is ${value.status}`)
      })
    )
  administratorCommand(admin, 'takedown', 'take a published capsule out of the public catalogue')
    .argument('<capsule-id>', '', idArgument('capsule', 'qjob capsule list --published'))
    .requiredOption('--reason <text>', 'the reason, which its team sees')
    .action((id: string, { reason, ...options }: ServiceOptions & { reason: string }) =>
      withAdministrator(options, async (api) => {
        const { value, text } = await api.post<{ name: string }>(`/api/admin/capsules/${id}/takedown`, { reason })
        printResult(options, text, () => `${plainLine(value.name)} is out of the public catalogue`)
      })
    )
}

function pageText(page: JobPage, offset: number): string {
  if (page.jobs.length === 0 && offset > 0) return `No more jobs: there are ${totalText(page)}.`
  return listText(page.jobs, jobs) + (page.jobs.length > 0 ? pageFooter(offset + page.jobs.length, page) : '')
}
