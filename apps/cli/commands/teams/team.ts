// `qjob team`: creates, lists, renames, hands over, leaves and deletes teams.
import type { Command } from 'commander'
import type { ApiClient } from '../../session/api-client.js'
import { type Team, teamChoice, teamNamed } from '../../session/choice.js'
import { type List, listCommand } from '../../session/list.js'
import { accountCommand, type ServiceOptions, withSession } from '../../session/service-command.js'
import { printResult } from '../../terminal/output.js'
import { plainLine } from '../../terminal/untrusted-text.js'
import { memberNamed } from './member.js'

const TEAM = 'a team: its name, its id or the end of its id'

const teams: List<Team> = {
  ...teamChoice,
  path: '/api/teams',
  field: 'teams',
  columns: [{ heading: 'ID', id: true }, 'ROLE', { heading: 'STATE', yields: 1 }, { heading: 'NAME', least: 12 }],
  cells: ({ id, role, suspended, name }) => [id, role, suspended ? 'suspended' : 'active', name],
  none: 'No team yet: qjob team create NAME, or submit a job.'
}

export function addTeamCommand(program: Command): void {
  const team = program.command('team').description('create, list, rename, hand over, leave and delete teams')
  listCommand(team, 'list your teams, in the order of joining', teams, {})
  accountCommand(team, 'create <name>', 'create a team, whose owner you become').action(
    (name: string, options: ServiceOptions) =>
      withSession(options, async (api) => {
        const { value, text } = await api.post<Team>('/api/teams', { name })
        printResult(options, text, () => `team ${plainLine(value.name)}, ${value.id}`)
      })
  )
  accountCommand(team, 'rename', 'rename a team (owner and admins)')
    .argument('<team>', TEAM)
    .argument('<name>', 'the new name')
    .action((named: string, name: string, options: ServiceOptions) =>
      change(options, named, async (api, { id }) => {
        const { text } = await api.patch(`/api/teams/${id}`, { name })
        return [text, `is called ${plainLine(name)} now`]
      })
    )
  accountCommand(team, 'transfer', 'make another member the owner; you become an admin (owner)')
    .argument('<team>', TEAM)
    .argument('<member>', "the member's address, id or the end of it")
    .action((named: string, member: string, options: ServiceOptions) =>
      change(options, named, async (api, { id }) => {
        const { user_id, email } = await memberNamed(api, id, member)
        const { text } = await api.post(`/api/teams/${id}/transfer`, { user_id })
        return [text, `belongs to ${plainLine(email)} now`]
      })
    )
  accountCommand(team, 'leave', 'leave a team')
    .argument('<team>', TEAM)
    .action((named: string, options: ServiceOptions) =>
      change(options, named, async (api, { id }) => [(await api.post(`/api/teams/${id}/leave`)).text, 'is left'])
    )
  accountCommand(team, 'delete', 'delete a team with its jobs, scripts and capsules (owner)')
    .argument('<team>', TEAM)
    .action((named: string, options: ServiceOptions) =>
      change(options, named, async (api, { id }) => [(await api.delete(`/api/teams/${id}`)).text, 'is deleted'])
    )
}

/** @param work returns the text of the service, and what is true of the team then. */
const change = (
  options: ServiceOptions,
  named: string,
  work: (api: ApiClient, team: Team) => Promise<[text: string, now: string]>
): Promise<void> =>
  withSession(options, async (api) => {
    const team = await teamNamed(api, named)
    const [text, now] = await work(api, team)
    printResult(options, text, () => `team ${plainLine(team.name)} ${now}`)
  })
