// `qjob run`: submits a program or a saved script, shows its progress, and prints its result.
import type { Command } from 'commander'
import { type JobRecord, resultJson } from '../jobs/job-record.js'
import { waitForJob } from '../jobs/job-wait.js'
import { resultText } from '../jobs/result-text.js'
import { type Source, type SubmitOptions, submissionBody } from '../jobs/submission-body.js'
import { submissionOptions } from '../jobs/submission-options.js'
import type { ApiClient } from '../session/api-client.js'
import { teamIdOf } from '../session/choice.js'
import { jobPage } from '../session/console-page.js'
import { isUuid, type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { CliError } from '../terminal/cli-error.js'
import { printNotice, printResult } from '../terminal/output.js'
import { lasted } from '../terminal/readable-time.js'
import { errScreen, idFor, outScreen } from '../terminal/screen.js'
import { plain } from '../terminal/untrusted-text.js'

export interface RunOptions extends ServiceOptions, SubmitOptions {
  wait: boolean
  scriptId?: string
  scriptSlug?: string
}

export function addRunCommand(program: Command): void {
  runOptions(serviceCommand(program, 'run [file]', 'run a program or a saved script, and print its result'))
    .option('--script-slug <slug>', "instead of a file: the slug of one of your team's scripts or of a template")
    .option('--script-id <id>', 'instead of a file: the id of a saved script')
    .addHelpText(
      'after',
      '\n.qasm files are OpenQASM 2 or 3; any other file is Python, run as marqov unless it names a framework; - reads standard input.'
    )
    .action((file: string | undefined, options: RunOptions) =>
      withService(options, (api) => runJob(api, sourceOf(file, options), options))
    )
}

/** The options of `qjob run` and `qjob scripts run`. */
export const runOptions = (command: Command): Command =>
  submissionOptions(command).option('--no-wait', 'print the id of the job and do not wait for its result')

function sourceOf(file: string | undefined, { scriptId, scriptSlug }: RunOptions): Source {
  if ([file, scriptId, scriptSlug].filter((source) => source !== undefined).length !== 1)
    throw new CliError('usage', 'name one thing to run: FILE, --script-slug or --script-id')
  if (file !== undefined) return { files: [file] }
  if (scriptSlug !== undefined) return { scriptSlug }
  if (!isUuid(scriptId!))
    throw new CliError('usage', `--script-id: must be an id from qjob scripts list (got ${scriptId})`)
  return { scriptId: scriptId! }
}

/** Submits, waits and prints. With --json, stdout has the result exactly as stored, or an error. */
export async function runJob(api: ApiClient, source: Source, options: RunOptions): Promise<void> {
  const { value, text } = await api.post<{ job_id: string }>(
    '/api/jobs/submit',
    await submissionBody(source, options, { teamId: await teamIdOf(api, options), otherwise: 'marqov' })
  )
  const id = plain(value.job_id)
  if (options.wait) printNotice(`job ${id} is submitted`)
  printNotice(`page: ${jobPage(api.url, value.job_id)}`)
  if (!options.wait)
    return printResult(options, text, () => `job ${id}\nWait for it with: qjob job ${idFor(id, outScreen())} --wait`)
  const job = await waitForJob(api, id, { lines: true })
  const result = resultJson(job.text)
  if (job.value.status !== 'completed' || result === null) {
    printNotice(`Show the job with: qjob job ${idFor(id, errScreen())}`)
    throw failureOf(job.value)
  }
  printNotice(endText(job.value))
  printResult(options, result, () => resultText(result))
}

const endText = ({ id, created_at, completed_at }: JobRecord): string =>
  `job ${id} completed${completed_at ? ` after ${lasted(created_at, completed_at)}` : ''}: qjob job ${idFor(id, errScreen())}`

function failureOf({ id, status, status_reason, error }: JobRecord): CliError {
  const reason = error ? `${error.code}: ${error.message}` : (status_reason ?? 'it has no result')
  return new CliError('jobFailed', `job ${id} is ${status}: ${reason}`, {
    job_id: id,
    status,
    ...(error && { code: error.code })
  })
}
