// `qjob scripts`: saved scripts, from keeping one to running it.
import { createHash } from 'node:crypto'
import { basename, extname } from 'node:path'
import { type Command, Option } from 'commander'
import { scriptTypes, slugOf } from '../../../domain/scripts/script.js'
import { allScripts, type ScriptPage, type ScriptRecord, scriptIdOf } from '../scripts/script-record.js'
import {
  type Analysis,
  analysisText,
  type ExecutionOptions,
  optionsText,
  scriptPageText,
  scriptText,
  templatesText,
  type Updated,
  type Uploaded,
  updatedText,
  uploadedText
} from '../scripts/script-text.js'
import type { ApiClient } from '../session/api-client.js'
import {
  collect,
  isUuid,
  type ServiceOptions,
  serviceCommand,
  wholeNumber,
  withService
} from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { plain, print } from '../terminal/output.js'
import { readText } from '../terminal/text-file.js'
import { type RunOptions, runJob, runOptions } from './run.js'

const SCRIPT = 'the id or the slug of a script'
const type = () => new Option('--type <type>', 'what kind of script').choices(scriptTypes)

export function addScriptsCommand(program: Command): void {
  const scripts = program.command('scripts').description('saved scripts: keep, share, look at and run them')
  addReading(scripts)
  addWriting(scripts)
  runOptions(serviceCommand(scripts, 'run', 'run a script and print its result; as qjob run --script-slug'))
    .argument('<script>', SCRIPT)
    .option('--analysis <id>', 'refuse it if it is not as qjob scripts analyse has seen it')
    .option('--consent <check>', 'the id of a check of the analysis that warns; repeatable', collect, [])
    .action((script: string, options: RunOptions) =>
      withService(options, async (api) => {
        if (options.consent?.length && options.analysis === undefined)
          throw new CliError('usage', '--consent: belongs to an analysis, which --analysis names')
        await runJob(api, isUuid(script) ? { scriptId: script } : { scriptSlug: script }, options)
      })
    )
}

interface ListOptions extends ServiceOptions {
  type?: string
  mine?: boolean
  limit: number
  offset: number
}

function addReading(scripts: Command): void {
  serviceCommand(scripts, 'list', 'list the scripts that you see, newest first')
    .addOption(type())
    .option('--mine', 'only your own')
    .option('--limit <n>', 'how many, 1 to 100', wholeNumber, 50)
    .option('--offset <n>', 'how many to pass over', wholeNumber, 0)
    .action((options: ListOptions) =>
      withService(options, async (api) => {
        const { value, text } = await api.get<ScriptPage>(`/api/scripts?${listQuery(options)}`)
        print(options.json ? text : scriptPageText(value, options.offset))
      })
    )
  serviceCommand(scripts, 'templates', 'list the scripts that the platform brings along').action(
    (options: ServiceOptions) =>
      withService(options, async (api) => {
        const templates = (await allScripts(api)).filter((script) => script.is_hardcoded)
        print(options.json ? JSON.stringify({ scripts: templates }) : templatesText(templates))
      })
  )
  serviceCommand(scripts, 'show', 'show a script and its last runs')
    .argument('<script>', SCRIPT)
    .option('--source', 'only its source, as it is kept')
    .action((script: string, options: ServiceOptions & { source?: boolean }) =>
      withService(options, async (api) => {
        const { value, text } = await api.get<ScriptRecord>(`/api/scripts/${await scriptIdOf(api, script)}`)
        if (options.json) print(text)
        else if (options.source)
          process.stdout.write(process.stdout.isTTY ? plain(value.script_content) : value.script_content)
        else print(scriptText(value))
      })
    )
  serviceCommand(scripts, 'options', 'where a script can run, and for how much')
    .argument('<script>', SCRIPT)
    .option('--shots <n>', 'how often it is measured', wholeNumber, 1024)
    .action((script: string, options: ServiceOptions & { shots: number }) =>
      withService(options, async (api) => {
        const path = `/api/scripts/${await scriptIdOf(api, script)}/execution-options?shots=${options.shots}`
        const { value, text } = await api.get<ExecutionOptions>(path)
        print(options.json ? text : optionsText(value))
      })
    )
  serviceCommand(scripts, 'analyse', 'check a script for a backend without running it; 1 if it cannot run there')
    .argument('<script>', SCRIPT)
    .option('--backend <slug>', 'where it is to run', 'local')
    .option('--shots <n>', 'how often it is to be measured', wholeNumber, 1024)
    .option('--circuit-count <n>', 'how many circuits it runs there', wholeNumber)
    .action((script: string, options: AnalyseOptions) => withService(options, (api) => analyse(api, script, options)))
}

function listQuery({ type, mine, limit, offset }: ListOptions): URLSearchParams {
  const query = new URLSearchParams({ limit: String(limit), offset: String(offset) })
  if (type !== undefined) query.set('script_type', type)
  if (mine) query.set('user_only', 'true')
  return query
}

interface AnalyseOptions extends ServiceOptions {
  backend: string
  shots: number
  circuitCount?: number
}

async function analyse(api: ApiClient, script: string, options: AnalyseOptions): Promise<void> {
  const id = await scriptIdOf(api, script)
  const content = (await api.get<ScriptRecord>(`/api/scripts/${id}`)).value.script_content
  const { value, text } = await api.post<Analysis>(`/api/scripts/${id}/analyse`, {
    backend: options.backend,
    shots: options.shots,
    content,
    content_hash: createHash('sha256').update(content).digest('hex'),
    circuit_count: options.circuitCount
  })
  print(options.json ? text : analysisText(value))
  if (!value.can_run) process.exitCode = exitCodes.jobFailed
}

interface WriteOptions extends ServiceOptions {
  name?: string
  description?: string
  /** `false`: those that there are go. */
  requirements?: string | false
  type?: string
  framework?: string
  content?: string
  slug?: string
}

function addWriting(scripts: Command): void {
  serviceCommand(scripts, 'upload <file>', 'check a program and keep it as a script; - reads standard input')
    .option('--name <name>', "its name (default: the file's)")
    .option('--description <text>', 'what it does')
    .option('--requirements <file>', 'a requirements.txt; packages are checked, not installed')
    .addOption(type())
    .action((file: string, options: WriteOptions) => withService(options, (api) => upload(api, file, options)))
  serviceCommand(scripts, 'from-job <job-id>', 'keep the code of a completed job as a script')
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--description <text>', 'what it does')
    .option('--slug <slug>', 'its slug (default: made of the name)')
    .action((jobId: string, options: WriteOptions) => withService(options, (api) => saveJob(api, jobId, options)))
  serviceCommand(scripts, 'update', 'change a script of your own; another content is a new version')
    .argument('<script>', SCRIPT)
    .option('--content <file>', 'its new source; - reads standard input')
    .option('--name <name>', 'its new name')
    .option('--description <text>', 'what it does')
    .option('--requirements <file>', 'a requirements.txt; packages are checked, not installed')
    .option('--no-requirements', 'without the requirements that it has')
    .option('--framework <name>', 'what the code is written with')
    .action((script: string, options: WriteOptions) => withService(options, (api) => update(api, script, options)))
  serviceCommand(scripts, 'publish', 'let everybody see and run a script; it cannot be changed any more')
    .argument('<script>', SCRIPT)
    .action((script: string, options: ServiceOptions) =>
      withService(options, async (api) => {
        const id = await scriptIdOf(api, script)
        const { text } = await api.post(`/api/scripts/${id}/publish`)
        print(options.json ? text : `script ${id} is published`)
      })
    )
  serviceCommand(scripts, 'delete', 'delete a script of your own; its jobs stay')
    .argument('<script>', SCRIPT)
    .action((script: string, options: ServiceOptions) =>
      withService(options, async (api) => {
        const id = await scriptIdOf(api, script)
        const { text } = await api.delete(`/api/scripts/${id}`)
        print(options.json ? text : `script ${id} is deleted`)
      })
    )
}

async function upload(api: ApiClient, file: string, options: WriteOptions): Promise<void> {
  const name = options.name ?? (file === '-' ? undefined : basename(file, extname(file)))
  if (name === undefined) throw new CliError('usage', '--name: a script from standard input needs a name')
  const { value, text } = await api.post<Uploaded>('/api/scripts/upload', {
    name,
    description: options.description,
    script_content: await readText(file),
    requirements: await requirementsOf(options),
    script_type: options.type
  })
  print(options.json ? text : uploadedText(value))
}

async function saveJob(api: ApiClient, jobId: string, options: WriteOptions): Promise<void> {
  if (!isUuid(jobId)) throw new CliError('usage', `"${jobId}" is not the id of a job: qjob jobs lists them`)
  const { value, text } = await api.post<{ script_id: string }>('/api/scripts', {
    job_id: jobId,
    name: options.name,
    description: options.description,
    slug: options.slug ?? slugOf(options.name!)
  })
  print(
    options.json ? text : `script ${plain(value.script_id)}\nRun it with: qjob scripts run ${plain(value.script_id)}`
  )
}

async function update(api: ApiClient, script: string, options: WriteOptions): Promise<void> {
  const changes = {
    name: options.name,
    description: options.description,
    script_content: options.content === undefined ? undefined : await readText(options.content),
    requirements: await requirementsOf(options),
    framework: options.framework
  }
  if (Object.values(changes).every((change) => change === undefined))
    throw new CliError('usage', 'nothing to change: --content, --name, --description, --requirements, --framework')
  const { value, text } = await api.patch<Updated>(`/api/scripts/${await scriptIdOf(api, script)}`, changes)
  print(options.json ? text : updatedText(value))
}

const requirementsOf = async ({ requirements }: WriteOptions): Promise<string | null | undefined> =>
  requirements === undefined ? undefined : requirements === false ? null : await readText(requirements)
