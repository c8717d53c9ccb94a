// `qjob capsule`: creates, lists, seals, publishes and deletes capsules.
import { readFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { capsuleStates } from '../../../domain/capsules/capsule-state.js'
import { isIdEnd } from '../../../domain/json/short-id.js'
import type { CapsulePage, CapsuleRecord, PublicCapsule, PublicPage } from '../capsules/capsule-record.js'
import { capsulePageText, capsuleText, publicCapsuleText, publicPageText } from '../capsules/capsule-text.js'
import type { ApiClient } from '../session/api-client.js'
import { onlyTeamHelp, ownTeamHelp, type TeamOptions, teamIdOf, teamQuery } from '../session/choice.js'
import { capsulePage } from '../session/console-page.js'
import { capsuleArgument, capsuleIdOf, jobArgument, jobIdOf } from '../session/named-ids.js'
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
import { CliError } from '../terminal/cli-error.js'
import { printNotice, printResult } from '../terminal/output.js'
import { idFor, outScreen } from '../terminal/screen.js'
import { readText } from '../terminal/text-file.js'
import { plain } from '../terminal/untrusted-text.js'
import { addCapsuleEditCommands } from './capsule-edit.js'
import { addCapsulePackageCommands } from './capsule-package.js'
import { addCapsuleRunCommands } from './capsule-run.js'

export function addCapsuleCommand(program: Command): void {
  const capsule = program.command('capsule').description('create, seal, verify and publish capsules')
  addReadCommands(capsule)
  addCreateCommands(capsule)
  addCapsuleRunCommands(capsule)
  addChangeCommands(capsule)
  addCapsuleEditCommands(capsule)
  addCapsulePackageCommands(capsule)
}

interface ListOptions extends ServiceOptions, PageOptions, TeamOptions {
  state?: string
  search?: string
  tag?: string
  mine?: boolean
  published?: boolean
}

function addReadCommands(capsule: Command): void {
  pageOptions(
    serviceCommand(capsule, 'list', 'list the capsules of your teams, newest first')
      .addOption(new Option('--state <state>', 'only capsules in this state').choices(capsuleStates))
      .option('--search <text>', 'only capsules whose name or description contains this text')
      .option('--tag <tag>', 'only capsules with this tag')
      .option('--mine', 'only your own capsules')
      .option('--team <team>', onlyTeamHelp)
      .addOption(new Option('--published', 'published capsules of all teams').conflicts(['state', 'mine', 'team'])),
    50
  ).action((options: ListOptions) => withService(options, (api) => list(api, options)))
  serviceCommand(capsule, 'show', 'show a capsule')
    .argument('<capsule>', `${capsuleArgument}; or the slug of a published one`)
    .action((name: string, options: ServiceOptions) =>
      withService(options, async (api) => {
        if (!isUuid(name) && !isIdEnd(name) && name !== 'latest' && /^[a-z0-9-]{1,200}$/.test(name)) {
          const { value, text } = await api.get<PublicCapsule>(`/api/capsules/public/${name}`)
          return printResult(options, text, () => publicCapsuleText(value))
        }
        const { value, text } = await api.get<CapsuleRecord>(`/api/capsules/${await capsuleIdOf(api, name)}`)
        printResult(options, text, () => capsuleText(value))
      })
    )
}

async function list(api: ApiClient, options: ListOptions): Promise<void> {
  const query = new URLSearchParams({ limit: String(options.limit), offset: String(options.offset) })
  if (options.state !== undefined) query.set('state', options.state)
  if (options.search !== undefined) query.set('q', options.search)
  if (options.tag !== undefined) query.set('tag', options.tag)
  if (options.mine) query.set('mine', 'true')
  const team = await teamIdOf(api, options)
  if (team !== undefined) query.set('team_id', team)
  if (!options.published) {
    const { value, text } = await api.get<CapsulePage>(`/api/capsules?${query}`)
    return printResult(options, text, () => capsulePageText(value, options.offset))
  }
  const { value, text } = await api.get<PublicPage>(`/api/capsules/public?${query}`)
  printResult(options, text, () => publicPageText(value, options.offset))
}

interface MakeOptions extends ServiceOptions, TeamOptions {
  name?: string
  description?: string
  tag: string[]
}

function addCreateCommands(capsule: Command): void {
  serviceCommand(capsule, 'create <file>', 'create a draft from a YAML file; - reads standard input')
    .option('--team <team>', ownTeamHelp)
    .addHelpText('after', '\nThe file has name, description, tags and tasks; docs/capsules/capsules.md has an example.')
    .action((file: string, options: MakeOptions) =>
      withService(options, async (api) => {
        const bytes = Buffer.from(await readText(file))
        const path = `/api/capsules/upload${await teamQuery(api, options)}`
        made(api, await api.send<Made>(path, { bytes, type: 'application/yaml' }), options)
      })
    )
  serviceCommand(capsule, 'from-job', 'create a capsule from a completed job, with its results')
    .argument('<job>', jobArgument)
    .option('--name <name>', "the capsule's name (default: the job's)")
    .option('--description <text>', 'a description')
    .option('--tag <tag>', 'a tag; repeatable', collect, [])
    .action((jobId: string, options: MakeOptions) =>
      withService(options, async (api) => {
        const { name, description, tag } = options
        const body = { job_id: await jobIdOf(api, jobId), name, description, ...(tag.length > 0 && { tags: tag }) }
        made(api, await api.post<Made>('/api/capsules/from-job', body), options)
      })
    )
  serviceCommand(capsule, 'clone', 'create your own draft from a capsule, without its results')
    .argument('<capsule>', capsuleArgument)
    .option('--name <name>', 'its name')
    .option('--team <team>', "the team, as elsewhere (default: the capsule's, or your personal team)")
    .action((id: string, options: MakeOptions) =>
      withService(options, async (api) => {
        const path = `/api/capsules/${await capsuleIdOf(api, id)}/clone`
        const body = { name: options.name, team_id: await teamIdOf(api, options) }
        made(api, await api.post<Made>(path, body), options)
      })
    )
}

interface Made {
  capsule_id: string
  /** Of a capsule of a job. */
  warnings?: string[]
}

function made(api: ApiClient, { value, text }: { value: Made; text: string }, { json }: ServiceOptions): void {
  const id = plain(value.capsule_id)
  printNotice(`page: ${capsulePage(api.url, id)}`)
  for (const warning of value.warnings ?? []) printNotice(`warning: ${plain(warning)}`)
  printResult({ json }, text, () => `capsule ${id}\nShow it with: qjob capsule show ${idFor(id, outScreen())}`)
}

interface ChangeOptions extends ServiceOptions {
  exitCode: number
  exitMessage?: string
  margin?: number
  title?: string
  description?: string
  readme?: string
  license?: string
  category?: string
  tag: string[]
}

function addChangeCommands(capsule: Command): void {
  serviceCommand(capsule, 'seal', 'seal a capsule permanently with digests, signature and time')
    .argument('<capsule>', capsuleArgument)
    .requiredOption('--exit-code <n>', 'the outcome; 0 means success', wholeNumber)
    .option('--exit-message <text>', 'the outcome in words')
    .option('--margin <tvd>', 'the total variation distance that a verification tolerates, 0 to 1', fraction)
    .action((id: string, { exitCode, exitMessage, margin, ...options }: ChangeOptions) =>
      change(id, 'seal', { exit_code: exitCode, exit_message: exitMessage, margin }, options)
    )
  serviceCommand(capsule, 'publish', 'make a sealed capsule public')
    .argument('<capsule>', capsuleArgument)
    .requiredOption('--title <text>', 'the title in the public list')
    .requiredOption('--description <text>', 'a description')
    .option('--readme <file>', 'a file with a longer description')
    .option('--license <name>', 'a license, such as Apache-2.0')
    .option('--category <name>', 'the kind of work')
    .option('--tag <tag>', 'a tag; repeatable', collect, [])
    .action(async (id: string, { title, description, readme, license, category, tag, ...options }: ChangeOptions) =>
      change(
        id,
        'publish',
        async () => ({
          title,
          description,
          license,
          category,
          readme: readme === undefined ? undefined : await readFileText(readme),
          ...(tag.length > 0 && { tags: tag })
        }),
        options
      )
    )
  serviceCommand(capsule, 'archive', 'archive a sealed capsule')
    .argument('<capsule>', capsuleArgument)
    .action((id: string, options: ServiceOptions) => change(id, 'archive', {}, options))
  serviceCommand(capsule, 'delete', 'delete one of your capsules that is not sealed')
    .argument('<capsule>', capsuleArgument)
    .action((text: string, options: ServiceOptions) =>
      withService(options, async (api) => {
        const id = await capsuleIdOf(api, text)
        const answer = await api.delete(`/api/capsules/${id}`)
        printResult(options, answer.text, () => `capsule ${id} is deleted`)
      })
    )
}

/** @param body the fields, or a function that reads them. */
const change = (
  id: string,
  action: 'seal' | 'publish' | 'archive',
  body: object | (() => Promise<object>),
  options: ServiceOptions
): Promise<void> =>
  withService(options, async (api) => {
    const path = `/api/capsules/${await capsuleIdOf(api, id)}/${action}`
    const { value, text } = await api.post<CapsuleRecord>(path, typeof body === 'function' ? await body() : body)
    printResult(options, text, () => capsuleText(value))
  })

async function readFileText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CliError('usage', `--readme ${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function fraction(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('It must be a number from 0 to 1.')
  return value
}
