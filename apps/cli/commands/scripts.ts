// `qjob scripts`: saves, lists, analyses, runs and deletes scripts.
import { createHash } from 'node:crypto'
import { basename, extname } from 'node:path'
import { type Command, Option } from 'commander'
import { isIdEnd } from '../../../domain/json/short-id.js'
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
import { onlyTeamHelp, ownTeamHelp, readTeamHelp, type TeamOptions, teamIdOf } from '../session/choice.js'
import { jobArgument, jobIdOf } from '../session/named-ids.js'
import {
  collect,
  isUuid,
  type PageOptions,
  pageOptions,
  type ServiceOptions,
  serviceCommand,
  wholeNumber,
  withService
} from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { print, printJson, printResult } from '../terminal/output.js'
import { idFor, outScreen } from '../terminal/screen.js'
import { readText } from '../terminal/text-file.js'
import { plain } from '../terminal/untrusted-text.js'
import { type RunOptions, runJob, runOptions } from './run.js'

const SCRIPT = 'the slug of a script, its id, or the end of its id'
const type = () => new Option('--type <type>', 'the type of script').choices(scriptTypes)

export function addScriptsCommand(program: Command): void {
  const scripts = program.command('scripts').description('save, share, show and run scripts')
  addReadCommands(scripts)
  addWriteCommands(scripts)
  runOptions(serviceCommand(scripts, 'run', 'run a script and print its result, like qjob run --script-slug'))
    .argument('<script>', SCRIPT)
    .option('--analysis <id>', 'refuse to run if the script has changed since this analysis (qjob scripts analyse)')
    .option('--consent <check>', 'accept this warning of the analysis, by the id of its check; repeatable', collect, [])
    .action((script: string, options: RunOptions) =>
      withService(options, async (api) => {
        if (options.consent?.length && options.analysis === undefined)
          throw new CliError('usage', '--consent: needs --analysis')
        const byId = isUuid(script) || isIdEnd(script)
        await runJob(api, byId ? { scriptId: await scriptIdOf(api, script) } : { scriptSlug: script }, options)
      })
    )
}

interface ListOptions extends ServiceOptions, PageOptions, TeamOptions {
  type?: string
  mine?: boolean
}

function addReadCommands(scripts: Command): void {
  pageOptions(
    serviceCommand(scripts, 'list', 'list the scripts that you can see, newest first')
      .addOption(type())
      .option('--mine', 'only your own scripts')
      .option('--team <team>', onlyTeamHelp),
    50
  ).action((options: ListOptions) =>
    withService(options, async (api) => {
      const { value, text } = await api.get<ScriptPage>(`/api/scripts?${await listQuery(api, options)}`)
      printResult(options, text, () => scriptPageText(value, options.offset))
    })
  )
  serviceCommand(scripts, 'templates', 'list the templates that the platform includes').action(
    (options: ServiceOptions) =>
      withService(options, async (api) => {
        const templates = (await allScripts(api)).filter((script) => script.is_hardcoded)
        printResult(options, JSON.stringify({ scripts: templates }), () => templatesText(templates))
      })
  )
  serviceCommand(scripts, 'show', 'show a script and its last runs')
    .argument('<script>', SCRIPT)
    .option('--source', 'show only its source, exactly as stored')
    .action((script: string, options: ServiceOptions & { source?: boolean }) =>
      withService(options, async (api) => {
        const { value, text } = await api.get<ScriptRecord>(`/api/scripts/${await scriptIdOf(api, script)}`)
        if (options.json) printJson(text)
        else if (options.source)
          process.stdout.write(process.stdout.isTTY ? plain(value.script_content) : value.script_content)
        else print(scriptText(value))
      })
    )
  serviceCommand(scripts, 'options', 'show where a script can run, and the cost')
    .argument('<script>', SCRIPT)
    .option('--shots <n>', 'the number of shots', wholeNumber, 1024)
    .option('--team <team>', readTeamHelp)
    .action((script: string, options: ServiceOptions & TeamOptions & { shots: number }) =>
      withService(options, async (api) => {
        const query = new URLSearchParams({ shots: String(options.shots) })
        const team = await teamIdOf(api, options)
        if (team !== undefined) query.set('team_id', team)
        const path = `/api/scripts/${await scriptIdOf(api, script)}/execution-options?${query}`
        const { value, text } = await api.get<ExecutionOptions>(path)
        printResult(options, text, () => optionsText(value))
      })
    )
  serviceCommand(
    scripts,
    'analyse',
    'check a script for a backend without running it; exit code 1 if it cannot run there'
  )
    .argument('<script>', SCRIPT)
    .option('--backend <slug>', 'the backend to check it for', 'local')
    .option('--shots <n>', 'the number of shots', wholeNumber, 1024)
    .option('--circuit-count <n>', 'the number of circuits that it runs there', wholeNumber)
    .option('--team <team>', ownTeamHelp)
    .action((script: string, options: AnalyseOptions) => withService(options, (api) => analyse(api, script, options)))
}

async function listQuery(api: ApiClient, { type, mine, limit, offset, team }: ListOptions): Promise<URLSearchParams> {
  const query = new URLSearchParams({ limit: String(limit), offset: String(offset) })
  const teamId = await teamIdOf(api, { team })
  if (teamId !== undefined) query.set('team_id', teamId)
  if (type !== undefined) query.set('script_type', type)
  if (mine) query.set('user_only', 'true')
  return query
}

interface AnalyseOptions extends ServiceOptions, TeamOptions {
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
    circuit_count: options.circuitCount,
    team_id: await teamIdOf(api, options)
  })
  printResult(options, text, () => analysisText(value))
  if (!value.can_run) process.exitCode = exitCodes.jobFailed
}

interface WriteOptions extends ServiceOptions, TeamOptions {
  name?: string
  description?: string
  /** `false` removes the present requirements. */
  requirements?: string | false
  type?: string
  framework?: string
  content?: string
  slug?: string
}

function addWriteCommands(scripts: Command): void {
  serviceCommand(scripts, 'upload <file>', 'check a program and save it as a script; - reads standard input')
    .option('--name <name>', "the script's name (default: the file's)")
    .option('--description <text>', 'a description')
    .option('--requirements <file>', 'a requirements.txt; packages are checked, not installed')
    .addOption(type())
    .option('--team <team>', ownTeamHelp)
    .action((file: string, options: WriteOptions) => withService(options, (api) => upload(api, file, options)))
  serviceCommand(scripts, 'from-job', 'save the code of a completed job as a script')
    .argument('<job>', jobArgument)
    .requiredOption('--name <name>', "the script's name")
    .requiredOption('--description <text>', 'a description')
    .option('--slug <slug>', "the script's slug (default: made from the name)")
    .action((jobId: string, options: WriteOptions) => withService(options, (api) => saveJob(api, jobId, options)))
  serviceCommand(scripts, 'update', 'change one of your scripts; new content makes a new version')
    .argument('<script>', SCRIPT)
    .option('--content <file>', 'the new source; - reads standard input')
    .option('--name <name>', 'the new name')
    .option('--description <text>', 'a description')
    .option('--requirements <file>', 'a requirements.txt; packages are checked, not installed')
    .option('--no-requirements', 'remove the requirements')
    .option('--framework <name>', 'the framework of the code')
    .action((script: string, options: WriteOptions) => withService(options, (api) => update(api, script, options)))
  serviceCommand(scripts, 'publish', 'make a script public; it can no longer be changed')
    .argument('<script>', SCRIPT)
    .action((script: string, options: ServiceOptions) =>
      withService(options, async (api) => {
        const id = await scriptIdOf(api, script)
        const { text } = await api.post(`/api/scripts/${id}/publish`)
        printResult(options, text, () => `script ${id} is published`)
      })
    )
  serviceCommand(scripts, 'delete', 'delete one of your scripts; its jobs remain')
    .argument('<script>', SCRIPT)
    .action((script: string, options: ServiceOptions) =>
      withService(options, async (api) => {
        const id = await scriptIdOf(api, script)
        const { text } = await api.delete(`/api/scripts/${id}`)
        printResult(options, text, () => `script ${id} is deleted`)
      })
    )
}

async function upload(api: ApiClient, file: string, options: WriteOptions): Promise<void> {
  const name = options.name ?? (file === '-' ? undefined : basename(file, extname(file)))
  if (name === undefined) throw new CliError('usage', '--name: is required for a script from standard input')
  const { value, text } = await api.post<Uploaded>('/api/scripts/upload', {
    name,
    description: options.description,
    script_content: await readText(file),
    requirements: await requirementsOf(options),
    script_type: options.type,
    team_id: await teamIdOf(api, options)
  })
  printResult(options, text, () => uploadedText(value))
}

async function saveJob(api: ApiClient, jobId: string, options: WriteOptions): Promise<void> {
  const { value, text } = await api.post<{ script_id: string }>('/api/scripts', {
    job_id: await jobIdOf(api, jobId),
    name: options.name,
    description: options.description,
    slug: options.slug ?? slugOf(options.name!)
  })
  printResult(
    options,
    text,
    () =>
      `script ${plain(value.script_id)}\nRun it with: qjob scripts run ${idFor(plain(value.script_id), outScreen())}`
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
    throw new CliError(
      'usage',
      'nothing to change: pass --content, --name, --description, --requirements or --framework'
    )
  const { value, text } = await api.patch<Updated>(`/api/scripts/${await scriptIdOf(api, script)}`, changes)
  printResult(options, text, () => updatedText(value))
}

const requirementsOf = async ({ requirements }: WriteOptions): Promise<string | null | undefined> =>
  requirements === undefined ? undefined : requirements === false ? null : await readText(requirements)
