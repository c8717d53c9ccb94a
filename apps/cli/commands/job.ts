// `qjob job ID` and `qjob cancel ID`.
import { type Command, Option } from 'commander'
import { jsonFields } from '../../../domain/json-text.js'
import type { ApiClient } from '../api-client.js'
import { CliError, exitCodes } from '../cli-error.js'
import type { Attempt, JobRecord } from '../job-record.js'
import { attemptsText, jobText, resultText } from '../job-text.js'
import { exitCodeOf, waitForJob } from '../job-wait.js'
import { print } from '../output.js'
import { type ServiceOptions, serviceCommand, withService } from '../service-command.js'

interface JobOptions extends ServiceOptions {
  wait?: boolean
  result?: boolean
  attempts?: boolean
}

export function addJobCommands(program: Command): void {
  serviceCommand(program, 'job <id>', 'show a job')
    .option('--result', 'only its result')
    .addOption(new Option('--attempts', 'only its executions, with what became of each').conflicts('result'))
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
  if (!options.result) return print(options.json ? job.text : jobText(job.value))
  const { result, status, error } = job.value
  if (!result)
    throw new CliError('jobFailed', `job ${id} is ${status} and has no result${error ? `: ${error.message}` : ''}`, {
      status
    })
  print(options.json ? jsonFields(job.text).get('result')! : resultText(result))
}

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
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text
  throw new CliError('usage', `"${text}" is not the id of a job: qjob jobs lists them`)
}
