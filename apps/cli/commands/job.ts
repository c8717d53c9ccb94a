// `qjob job ID` and `qjob cancel ID`.
import { type Command, Option } from 'commander'
import { type Attempt, type JobRecord, resultJson, type Task } from '../jobs/job-record.js'
import { attemptsText, jobText } from '../jobs/job-text.js'
import { exitCodeOf, waitForJob } from '../jobs/job-wait.js'
import { resultText } from '../jobs/result-text.js'
import { isGraph, timelineText } from '../jobs/task-timeline.js'
import type { ApiClient } from '../session/api-client.js'
import { isUuid, type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { print } from '../terminal/output.js'

/** Of the timeline, where there is no terminal or a narrow one; and at most, where bars say no more for being longer. */
const COLUMNS_MIN = 80
const COLUMNS_MAX = 200

interface JobOptions extends ServiceOptions {
  wait?: boolean
  result?: boolean
  attempts?: boolean
  tasks?: boolean
}

export function addJobCommands(program: Command): void {
  serviceCommand(program, 'job <id>', 'show a job, and the tasks of its workflow on a time axis')
    .option('--result', 'only its result')
    .addOption(new Option('--attempts', 'only its executions, with what became of each').conflicts('result'))
    .addOption(new Option('--tasks', 'only its tasks, every one').conflicts(['result', 'attempts']))
    .option('--wait', 'wait for its end first; the exit code follows the job')
    .action((id: string, options: JobOptions) => withService(options, (api) => showJob(api, jobId(id), options)))
  serviceCommand(program, 'cancel <id>', 'cancel a job; what is running is stopped')
    .option('--wait', 'wait until it has ended; the exit code is 0 unless the job has failed')
    .action((id: string, options: JobOptions) => withService(options, (api) => cancelJob(api, jobId(id), options)))
}

async function showJob(api: ApiClient, id: string, options: JobOptions): Promise<void> {
  const job = options.wait ? await waitForJob(api, id) : await api.get<JobRecord>(`/api/jobs/${id}`)
  if (options.wait) process.exitCode = exitCodeOf(job.value.status)
  if (options.attempts) {
    const { value, text } = await api.get<{ attempts: Attempt[] }>(`/api/jobs/${id}/attempts`)
    return print(options.json ? text : attemptsText(value.attempts))
  }
  if (options.tasks) return showTasks(api, id, options)
  const result = resultJson(job.text)
  if (!options.result)
    return print(options.json ? job.text : [jobText(job.value, result), await timelineOf(api, id)].join(''))
  const { status, error } = job.value
  if (result === null)
    throw new CliError('jobFailed', `job ${id} is ${status} and has no result${error ? `: ${error.message}` : ''}`, {
      status
    })
  print(options.json ? result : resultText(result))
}

async function showTasks(api: ApiClient, id: string, { json }: JobOptions): Promise<void> {
  const { value, text } = await api.get<{ tasks: Task[] }>(`/api/jobs/${id}/tasks`)
  if (json) return print(text)
  const { attempts } = (await api.get<{ attempts: Attempt[] }>(`/api/jobs/${id}/attempts`)).value
  print(timelineText(value.tasks, attempts, { ...display(), all: true }))
}

/** Of a job that is a graph, below what else is said of it. */
async function timelineOf(api: ApiClient, id: string): Promise<string> {
  const { tasks } = (await api.get<{ tasks: Task[] }>(`/api/jobs/${id}/tasks`)).value
  if (!isGraph(id, tasks)) return ''
  const { attempts } = (await api.get<{ attempts: Attempt[] }>(`/api/jobs/${id}/attempts`)).value
  return `\n\n${timelineText(tasks, attempts, display())}`
}

const display = () => ({
  columns: Math.min(COLUMNS_MAX, Math.max(COLUMNS_MIN, process.stdout.columns ?? 0)),
  now: Date.now()
})

async function cancelJob(api: ApiClient, id: string, options: JobOptions): Promise<void> {
  const asked = await api.post<JobRecord>(`/api/jobs/${id}/cancel`)
  const job = options.wait ? await waitForJob(api, id) : asked
  const { status, cancel } = job.value
  if (options.json) print(job.text)
  else if (status === 'cancelled') print(`job ${id} is cancelled (${cancel?.outcome ?? 'outcome not known'})`)
  else if (status === 'cancelling') print(`job ${id} is being cancelled: qjob job ${id} --wait shows the end`)
  else print(`job ${id} ended before the cancel took hold: it is ${status}`)
  if (options.wait && status === 'failed') process.exitCode = exitCodes.jobFailed
}

function jobId(text: string): string {
  if (isUuid(text)) return text
  throw new CliError('usage', `"${text}" is not the id of a job: qjob jobs lists them`)
}
