// What an argument can name a job, a capsule or a run by: its whole id, the end of it that lists show, or `latest`. The
// service looks for the end of an id, in the caller's teams alone.
import { isIdEnd } from '../../../domain/json/short-id.js'
import { CliError } from '../terminal/cli-error.js'
import type { ApiClient } from './api-client.js'
import { isUuid } from './service-command.js'

/** How many candidates an ambiguous id names. */
const CANDIDATES_MAX = 5

/** What the help of commands says about their arguments. */
export const jobArgument = 'the id of a job, the end of its id, or latest: your newest job'
export const capsuleArgument = 'the id of a capsule, the end of its id, or latest: your newest capsule'

interface Nouns {
  noun: string
  /** The command that lists them. */
  listedBy: string
  /** The path of the list, and the field of its body. */
  list: string
  field: string
  /** The parameters of the list that select what `latest` can name. */
  latest?: Record<string, string>
}

/** The id of a job. @throws CliError `usage` if the text cannot be an id or names several, `refused` if it names none. */
export const jobIdOf = (api: ApiClient, text: string): Promise<string> =>
  namedId(api, text, { noun: 'job', listedBy: 'qjob jobs', list: '/api/jobs', field: 'jobs', latest: { mine: 'true' } })

/** The id of a capsule. @throws CliError as `jobIdOf`. */
export const capsuleIdOf = (api: ApiClient, text: string): Promise<string> =>
  namedId(api, text, {
    noun: 'capsule',
    listedBy: 'qjob capsule list',
    list: '/api/capsules',
    field: 'capsules',
    latest: { mine: 'true' }
  })

/** The id of a run of a capsule. @throws CliError as `jobIdOf`. */
export const runIdOf = (api: ApiClient, capsule: string, text: string): Promise<string> =>
  namedId(api, text, {
    noun: 'run',
    listedBy: 'qjob capsule runs',
    list: `/api/capsules/${capsule}/runs`,
    field: 'runs'
  })

async function namedId(api: ApiClient, text: string, nouns: Nouns): Promise<string> {
  const { noun, listedBy } = nouns
  if (isUuid(text)) return text.toLowerCase()
  if (text === 'latest') {
    const [newest] = await listed(api, nouns, { ...nouns.latest, limit: '1' })
    if (newest !== undefined) return newest
    throw new CliError('refused', `there is no ${noun} yet${nouns.latest ? ' of your own' : ''}: ${listedBy} lists all`)
  }
  if (!isIdEnd(text)) throw new CliError('usage', `"${text}" is not the id of a ${noun}: ${listedBy} lists them`)
  const [found, ...others] = await listed(api, nouns, { id_end: text, limit: String(CANDIDATES_MAX) })
  if (found === undefined)
    throw new CliError('refused', `no ${noun} has an id that ends with ${text}: ${listedBy} lists them`)
  if (others.length > 0)
    throw new CliError(
      'usage',
      `several ${noun}s have an id that ends with ${text}; use a whole one: ${[found, ...others].join(', ')}`
    )
  return found
}

async function listed(api: ApiClient, { list, field }: Nouns, query: Record<string, string>): Promise<string[]> {
  const { value } = await api.get<Record<string, { id: string }[]>>(`${list}?${new URLSearchParams(query)}`)
  return value[field]!.map(({ id }) => id)
}
