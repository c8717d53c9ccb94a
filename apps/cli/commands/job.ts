// `qjob job ID` shows a job; `qjob cancel ID` cancels one.
import { type Command, Option } from 'commander'
import { type Attempt, type JobRecord, resultJson, type Task } from '../jobs/job-record.js'
import { attemptsText, jobText } from '../jobs/job-text.js'
import { exitCodeOf, waitForJob } from '../jobs/job-wait.js'
import { resultText } from '../jobs/result-text.js'
import { isGraph, timelineText } from '../jobs/task-timeline.js'
import type { ApiClient } from '../session/api-client.js'
import { jobArgument, jobIdOf } from '../session/named-ids.js'
import { type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { print, printJson, printResult } from '../terminal/output.js'
import { idFor, outScreen } from '../terminal/screen.js'

/** The greatest width of a timeline: beyond it, bars show no more. */
const COLUMNS_MAX = 200

interface JobOptions extends ServiceOptions {
  wait?: boolean
  result?: boolean
  attempts?: boolean
  tasks?: boolean
}

export function addJobCommands(program: Command): void {
  serviceCommand(program, 'job', 'show a job, with a timeline of its tasks')
    .argument('<job>', jobArgument)
    .option('--result', 'show only its result')
    .addOption(new Option('--attempts', 'show only its attempts and their outcomes').conflicts('result'))
    .addOption(new Option('--tasks', 'show only its tasks, all of them').conflicts(['result', 'attempts']))
    .option('--wait', 'wait until the job has finished; the exit code follows its status')
    .action((id: string, options: JobOptions) =>
      withService(options, async (api) => showJob(api, await jobIdOf(api, id), options))
    )
  serviceCommand(program, 'cancel', 'cancel a job, and stop what is running')
    .argument('<job>', jobArgument)
    .option('--wait', 'wait until the job has finished; the exit code is 0 unless it failed')
    .action((id: string, options: JobOptions) =>
      withService(options, async (api) => cancelJob(api, await jobIdOf(api, id), options))
    )
}

async function showJob(api: ApiClient, id: string, options: JobOptions): Promise<void> {
  const job = options.wait ? await waitForJob(api, id) : await api.get<JobRecord>(`/api/jobs/${id}`)
  if (options.wait) process.exitCode = exitCodeOf(job.value.status)
  if (options.attempts) {
    const { value, text } = await api.get<{ attempts: Attempt[] }>(`/api/jobs/${id}/attempts`)
    return printResult(options, text, () => attemptsText(value.attempts))
  }
  if (options.tasks) return showTasks(api, id, options)
  const result = resultJson(job.text)
  if (!options.result)
    return options.json ? printJson(job.text) : print(jobText(job.value, result) + (await timelineOf(api, id)))
  const { status, error, removed } = job.value
  if (removed?.results)
    throw new CliError(
      'refused',
      `the result of job ${id} was removed on ${removed.results.slice(0, 10)}; see qjob retention`
    )
  if (result === null)
    throw new CliError('jobFailed', `job ${id} is ${status} and has no result${error ? `: ${error.message}` : ''}`, {
      status
    })
  printResult(options, result, () => resultText(result))
}

async function showTasks(api: ApiClient, id: string, { json }: JobOptions): Promise<void> {
  const { value, text } = await api.get<{ tasks: Task[] }>(`/api/jobs/${id}/tasks`)
  if (json) return printJson(text)
  const { attempts } = (await api.get<{ attempts: Attempt[] }>(`/api/jobs/${id}/attempts`)).value
  print(timelineText(value.tasks, attempts, { ...display(), all: true }))
}

/** The timeline of a job with tasks, below its other facts. */
async function timelineOf(api: ApiClient, id: string): Promise<string> {
  const { tasks } = (await api.get<{ tasks: Task[] }>(`/api/jobs/${id}/tasks`)).value
  if (!isGraph(id, tasks)) return ''
  const { attempts } = (await api.get<{ attempts: Attempt[] }>(`/api/jobs/${id}/attempts`)).value
  return `\n\n${timelineText(tasks, attempts, display())}`
}

function display(): { columns: number; now: number } {
  const { columns } = outScreen()
  return { columns: columns === Number.POSITIVE_INFINITY ? columns : Math.min(COLUMNS_MAX, columns), now: Date.now() }
}

async function cancelJob(api: ApiClient, id: string, options: JobOptions): Promise<void> {
  const asked = await api.post<JobRecord>(`/api/jobs/${id}/cancel`)
  const job = options.wait ? await waitForJob(api, id) : asked
  const { status, cancel } = job.value
  if (options.json) printJson(job.text)
  else if (status === 'cancelled') print(`job ${id} is cancelled (${cancel?.outcome ?? 'outcome unknown'})`)
  else if (status === 'cancelling')
    print(`job ${id} is being cancelled. Follow it with: qjob job ${idFor(id, outScreen())} --wait`)
  else print(`job ${id} finished before it could be cancelled: it is ${status}`)
  if (options.wait && status === 'failed') process.exitCode = exitCodes.jobFailed
}
