// A short list of the service, declared once: the command that shows it, and how people name one of its items.
import type { Command } from 'commander'
import { type Column, table } from '../terminal/layout.js'
import { printResult } from '../terminal/output.js'
import type { ApiClient } from './api-client.js'
import { type Choice, chosen, type TeamOptions, teamQuery } from './choice.js'
import { accountCommand, type ServiceOptions, serviceCommand, withService, withSession } from './service-command.js'

/** How a list is shown. */
export interface ListView<T> {
  columns: readonly (Column | string)[]
  cells: (item: T) => string[]
  /** Shown in place of a table without rows. */
  none: string
}

export interface List<T> extends ListView<T>, Choice<T> {
  path: string
  /** The field of the body that has the items. */
  field: string
}

export const listText = <T>(items: readonly T[], { columns, cells, none }: ListView<T>): string =>
  items.length === 0 ? none : table(columns, items.map(cells))

interface ListCommand {
  /** The help of `--team`, for a list that belongs to a team. */
  team?: string
  /** API keys cannot read it. */
  sessionOnly?: true
}

/** Adds the command `list`. */
export function listCommand<T>(
  parent: Command,
  description: string,
  list: List<T>,
  { team, sessionOnly }: ListCommand
): void {
  const command = (sessionOnly ? accountCommand : serviceCommand)(parent, 'list', description)
  if (team !== undefined) command.option('--team <team>', team)
  command.action((options: ServiceOptions & TeamOptions) =>
    (sessionOnly ? withSession : withService)(options, async (api) => {
      const { value, text } = await api.get<Record<string, T[]>>(list.path + (await teamQuery(api, options)))
      printResult(options, text, () => listText(value[list.field]!, list))
    })
  )
}

/** The item that a text names. @param team the id of the team whose list it is. @throws CliError as `chosen`. */
export async function itemNamed<T>(api: ApiClient, list: List<T>, text: string, team?: string): Promise<T> {
  const { value } = await api.get<Record<string, T[]>>(list.path + (team === undefined ? '' : `?team_id=${team}`))
  return chosen(value[list.field]!, text, list)
}
