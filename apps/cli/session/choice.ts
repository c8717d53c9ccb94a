// Picks one of a short list, such as a team or a key, by what people call it.
import { isIdEnd } from '../../../domain/json/short-id.js'
import { CliError } from '../terminal/cli-error.js'
import type { ApiClient } from './api-client.js'

export interface Choice<T> {
  noun: string
  /** The command that lists them. */
  listedBy: string
  idOf: (item: T) => string
  /** What names it besides its id. */
  namesOf: (item: T) => string[]
}

/** @throws CliError `refused` if the text names none of them, `usage` if it names several. */
export function chosen<T>(items: readonly T[], text: string, { noun, listedBy, idOf, namesOf }: Choice<T>): T {
  const wanted = text.toLowerCase()
  const whole = items.filter((item) => idOf(item) === wanted)
  const found =
    whole.length > 0
      ? whole
      : items.filter((item) => namesOf(item).includes(text) || (isIdEnd(text) && idOf(item).endsWith(wanted)))
  if (found.length === 0) throw new CliError('refused', `no ${noun} is called "${text}": ${listedBy} lists them`)
  if (found.length > 1)
    throw new CliError('usage', `several of them are called "${text}"; use an id: ${found.map(idOf).join(', ')}`)
  return found[0]!
}

export interface Team {
  id: string
  name: string
  role: string
  suspended: boolean
}

export interface TeamOptions {
  team?: string
}

const called = 'its name, its id or the end of its id'
/** Help of `--team`: for a command that reads, that lists, that changes a team, and that makes something in one. */
export const readTeamHelp = `the team: ${called} (default: the first that you joined)`
export const onlyTeamHelp = `only this team: ${called}`
export const writeTeamHelp = `the team: ${called}; needed if you are in several`
export const ownTeamHelp = `the team: ${called} (default: your personal team, or the key's)`

export const teamChoice: Choice<Team> = {
  noun: 'team of yours',
  listedBy: 'qjob team list',
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name]
}

export const teamsOf = async (api: ApiClient): Promise<Team[]> =>
  (await api.get<{ teams: Team[] }>('/api/teams')).value.teams

/** @throws CliError as `chosen`. */
export const teamNamed = async (api: ApiClient, text: string): Promise<Team> =>
  chosen(await teamsOf(api), text, teamChoice)

/** The id of the team that a change is about. @throws CliError `usage` if there are several and none is named. */
export async function changedTeam(api: ApiClient, { team }: TeamOptions): Promise<string> {
  if (team !== undefined) return (await teamNamed(api, team)).id
  const [only, ...others] = await teamsOf(api)
  if (only === undefined) throw new CliError('refused', 'you have no team yet: create one with qjob team create NAME')
  if (others.length > 0)
    throw new CliError('usage', '--team: is needed, because you are in several teams: qjob team list lists them')
  return only.id
}

/** The id of the team that is named; without one, the service has its default. @throws CliError as `teamNamed`. */
export const teamIdOf = async (api: ApiClient, { team }: TeamOptions): Promise<string | undefined> =>
  team === undefined ? undefined : (await teamNamed(api, team)).id

/** `?team_id=`, or nothing. @throws CliError as `teamNamed`. */
export async function teamQuery(api: ApiClient, options: TeamOptions): Promise<string> {
  const id = await teamIdOf(api, options)
  return id === undefined ? '' : `?team_id=${id}`
}
