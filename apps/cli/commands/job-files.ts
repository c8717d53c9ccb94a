// `qjob rerun`, `qjob source` and `qjob artifacts`: a job again, what was submitted, and the files of its result.
import type { Command } from 'commander'
import { sizeText } from '../../../domain/teams/team-storage.js'
import { resultJson } from '../jobs/job-record.js'
import { jobText } from '../jobs/job-text.js'
import { exitCodeOf, waitForJob } from '../jobs/job-wait.js'
import type { ApiClient } from '../session/api-client.js'
import { jobPage } from '../session/console-page.js'
import { jobArgument, jobIdOf } from '../session/named-ids.js'
import { type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { CliError } from '../terminal/cli-error.js'
import { table } from '../terminal/layout.js'
import { isFileName, type OverwriteOptions, writeNew } from '../terminal/new-file.js'
import { printNotice, printResult } from '../terminal/output.js'
import { idFor, outScreen } from '../terminal/screen.js'
import { plain, plainLine } from '../terminal/untrusted-text.js'

interface Artifact {
  name: string
  size_bytes: number
  media_type: string
}

interface FileOptions extends ServiceOptions, OverwriteOptions {
  output?: string
}

export function addJobFileCommands(program: Command): void {
  serviceCommand(program, 'rerun', 'submit the same source, parameters and backend again, at present prices')
    .argument('<job>', jobArgument)
    .option('--wait', 'wait for the new job and show its result; the exit code follows its status')
    .action((job: string, options: ServiceOptions & { wait?: boolean }) =>
      withService(options, async (api) => rerun(api, await jobIdOf(api, job), options))
    )
  serviceCommand(program, 'source', 'print what was submitted, exactly')
    .argument('<job>', jobArgument)
    .action((job: string, options: ServiceOptions) =>
      withService(options, async (api) => {
        const { bytes } = await api.download(`/api/jobs/${await jobIdOf(api, job)}/source`)
        if (options.json) return printResult(options, JSON.stringify({ source: bytes.toString('utf8') }), () => '')
        process.stdout.write(process.stdout.isTTY ? plain(bytes.toString('utf8')) : bytes)
      })
    )
  serviceCommand(program, 'artifacts', 'list the files of a completed job, or write one to a file')
    .argument('<job>', jobArgument)
    .argument('[name]', 'the file to download')
    .option('-o, --output <file>', 'where to write it; - is standard output (default: its name, in the present folder)')
    .option('--force', 'overwrite an existing file')
    .action((job: string, name: string | undefined, options: FileOptions) =>
      withService(options, async (api) => {
        const id = await jobIdOf(api, job)
        return name === undefined ? list(api, id, options) : download(api, id, name, options)
      })
    )
}

async function rerun(api: ApiClient, id: string, options: ServiceOptions & { wait?: boolean }): Promise<void> {
  const { value, text } = await api.post<{ job_id: string }>(`/api/jobs/${id}/rerun`)
  const again = plain(value.job_id)
  printNotice(`page: ${jobPage(api.url, value.job_id)}`)
  if (!options.wait)
    return printResult(
      options,
      text,
      () => `job ${again}\nWait for it with: qjob job ${idFor(again, outScreen())} --wait`
    )
  const job = await waitForJob(api, again)
  printResult(options, job.text, () => jobText(job.value, resultJson(job.text)))
  process.exitCode = exitCodeOf(job.value.status)
}

async function list(api: ApiClient, id: string, options: FileOptions): Promise<void> {
  const { value, text } = await api.get<{ artifacts: Artifact[] }>(`/api/jobs/${id}/artifacts`)
  printResult(options, text, () =>
    value.artifacts.length === 0
      ? 'No files.'
      : table(
          [
            { heading: 'NAME', least: 16 },
            { heading: 'SIZE', right: true },
            { heading: 'TYPE', least: 10, yields: 1 }
          ],
          value.artifacts.map(({ name, size_bytes, media_type }) => [name, sizeText(size_bytes), media_type])
        )
  )
}

async function download(api: ApiClient, id: string, name: string, options: FileOptions): Promise<void> {
  if (options.output === '-' && options.json)
    throw new CliError('usage', '--json: cannot be used with -o -, which writes the file to standard output')
  if (options.output === undefined && !isFileName(name))
    throw new CliError('usage', `${plainLine(name)}: name the file to write with -o`)
  const { bytes } = await api.download(`/api/jobs/${id}/artifacts/${encodeURIComponent(name)}`)
  if (options.output === '-') return void process.stdout.write(bytes)
  const file = options.output ?? name
  await writeNew(file, bytes, options)
  printResult(options, JSON.stringify({ file, size_bytes: bytes.length }), () => `${file}: ${bytes.length} bytes`)
}
