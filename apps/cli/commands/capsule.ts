// `qjob capsule`: reproducible packages of what was run, from making one to sealing and publishing it.
import { readFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { capsuleStates } from '../../../domain/capsules/capsule-state.js'
import {
  type CapsulePage,
  type CapsuleRecord,
  capsuleId,
  type PublicCapsule,
  type PublicPage
} from '../capsules/capsule-record.js'
import { capsulePageText, capsuleText, publicCapsuleText, publicPageText } from '../capsules/capsule-text.js'
import type { ApiClient } from '../session/api-client.js'
import {
  collect,
  isUuid,
  type ServiceOptions,
  serviceCommand,
  wholeNumber,
  withService
} from '../session/service-command.js'
import { CliError } from '../terminal/cli-error.js'
import { plain, print } from '../terminal/output.js'
import { readText } from '../terminal/text-file.js'
import { addCapsulePackageCommands } from './capsule-package.js'
import { addCapsuleRunCommands } from './capsule-run.js'

const CAPSULE = 'the id of a capsule'

export function addCapsuleCommand(program: Command): void {
  const capsule = program.command('capsule').description('capsules: package what was run, seal, verify, publish it')
  addReading(capsule)
  addMaking(capsule)
  addCapsuleRunCommands(capsule)
  addChanging(capsule)
  addCapsulePackageCommands(capsule)
}

interface ListOptions extends ServiceOptions {
  state?: string
  search?: string
  tag?: string
  mine?: boolean
  published?: boolean
  limit: number
  offset: number
}

function addReading(capsule: Command): void {
  serviceCommand(capsule, 'list', 'list the capsules of your teams, newest first')
    .addOption(new Option('--state <state>', 'only those in this state').choices(capsuleStates))
    .option('--search <text>', 'only those whose name or description holds this')
    .option('--tag <tag>', 'only those with this tag')
    .option('--mine', 'only your own')
    .addOption(new Option('--published', 'the published ones of everybody').conflicts(['state', 'mine']))
    .option('--limit <n>', 'how many, 1 to 100', wholeNumber, 50)
    .option('--offset <n>', 'how many to pass over', wholeNumber, 0)
    .action((options: ListOptions) => withService(options, (api) => list(api, options)))
  serviceCommand(capsule, 'show', 'show a capsule')
    .argument('<capsule>', `${CAPSULE}, or the slug of a published one`)
    .action((name: string, options: ServiceOptions) =>
      withService(options, async (api) => {
        if (!isUuid(name) && /^[a-z0-9-]{1,200}$/.test(name)) {
          const { value, text } = await api.get<PublicCapsule>(`/api/capsules/public/${name}`)
          return print(options.json ? text : publicCapsuleText(value))
        }
        const { value, text } = await api.get<CapsuleRecord>(`/api/capsules/${capsuleId(name)}`)
        print(options.json ? text : capsuleText(value))
      })
    )
}

async function list(api: ApiClient, options: ListOptions): Promise<void> {
  const query = new URLSearchParams({ limit: String(options.limit), offset: String(options.offset) })
  if (options.state !== undefined) query.set('state', options.state)
  if (options.search !== undefined) query.set('q', options.search)
  if (options.tag !== undefined) query.set('tag', options.tag)
  if (options.mine) query.set('mine', 'true')
  if (!options.published) {
    const { value, text } = await api.get<CapsulePage>(`/api/capsules?${query}`)
    return print(options.json ? text : capsulePageText(value, options.offset))
  }
  const { value, text } = await api.get<PublicPage>(`/api/capsules/public?${query}`)
  print(options.json ? text : publicPageText(value, options.offset))
}

interface MakeOptions extends ServiceOptions {
  name?: string
  description?: string
  tag: string[]
  team?: string
}

function addMaking(capsule: Command): void {
  serviceCommand(capsule, 'create <file>', 'make a draft of what a YAML file describes; - reads standard input')
    .option('--team <id>', 'the team that it is to belong to')
    .addHelpText('after', '\nThe file: name, description, tags, tasks; docs/capsules/capsules.md shows one.')
    .action((file: string, options: MakeOptions) =>
      withService(options, async (api) => {
        const bytes = Buffer.from(await readText(file))
        const query = options.team === undefined ? '' : `?team_id=${encodeURIComponent(options.team)}`
        made(await api.send<Made>(`/api/capsules/upload${query}`, { bytes, type: 'application/yaml' }), options)
      })
    )
  serviceCommand(capsule, 'from-job <job-id>', 'make a capsule of a completed job, with its results')
    .option('--name <name>', "its name (default: the job's)")
    .option('--description <text>', 'what it is about')
    .option('--tag <tag>', 'a tag; repeatable', collect, [])
    .action((jobId: string, options: MakeOptions) =>
      withService(options, async (api) => {
        if (!isUuid(jobId)) throw new CliError('usage', `"${jobId}" is not the id of a job: qjob jobs lists them`)
        const { name, description, tag } = options
        const body = { job_id: jobId, name, description, ...(tag.length > 0 && { tags: tag }) }
        made(await api.post<Made>('/api/capsules/from-job', body), options)
      })
    )
  serviceCommand(capsule, 'clone', 'make a draft of your own from a capsule, without its results')
    .argument('<capsule>', CAPSULE)
    .option('--name <name>', 'its name')
    .action((id: string, options: MakeOptions) =>
      withService(options, async (api) => {
        made(await api.post<Made>(`/api/capsules/${capsuleId(id)}/clone`, { name: options.name }), options)
      })
    )
}

interface Made {
  capsule_id: string
}

function made({ value, text }: { value: Made; text: string }, { json }: ServiceOptions): void {
  const id = plain(value.capsule_id)
  print(json ? text : `capsule ${id}\nLook at it with: qjob capsule show ${id}`)
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

function addChanging(capsule: Command): void {
  serviceCommand(capsule, 'seal', 'fix a capsule for good: digests, signature, time; there is no way back')
    .argument('<capsule>', CAPSULE)
    .requiredOption('--exit-code <n>', 'what came of it; 0 stands for success', wholeNumber)
    .option('--exit-message <text>', 'the same in words')
    .option('--margin <tvd>', 'the total variation distance that a verification tolerates, 0 to 1', fraction)
    .action((id: string, { exitCode, exitMessage, margin, ...options }: ChangeOptions) =>
      change(id, 'seal', { exit_code: exitCode, exit_message: exitMessage, margin }, options)
    )
  serviceCommand(capsule, 'publish', 'let everybody see a sealed capsule')
    .argument('<capsule>', CAPSULE)
    .requiredOption('--title <text>', 'as the public list shows it')
    .requiredOption('--description <text>', 'what it is about')
    .option('--readme <file>', 'a file that tells more')
    .option('--license <name>', 'such as Apache-2.0')
    .option('--category <name>', 'what kind of work it is')
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
  serviceCommand(capsule, 'archive', 'put a sealed capsule away')
    .argument('<capsule>', CAPSULE)
    .action((id: string, options: ServiceOptions) => change(id, 'archive', {}, options))
  serviceCommand(capsule, 'delete', 'delete a capsule of your own that is not sealed')
    .argument('<capsule>', CAPSULE)
    .action((text: string, options: ServiceOptions) =>
      withService(options, async (api) => {
        const id = capsuleId(text)
        const answer = await api.delete(`/api/capsules/${id}`)
        print(options.json ? answer.text : `capsule ${id} is deleted`)
      })
    )
}

/** @param body the fields, or where they have to be read first, how. */
const change = (
  id: string,
  action: 'seal' | 'publish' | 'archive',
  body: object | (() => Promise<object>),
  options: ServiceOptions
): Promise<void> =>
  withService(options, async (api) => {
    const path = `/api/capsules/${capsuleId(id)}/${action}`
    const { value, text } = await api.post<CapsuleRecord>(path, typeof body === 'function' ? await body() : body)
    print(options.json ? text : capsuleText(value))
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
