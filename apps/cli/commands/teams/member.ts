// `qjob member`: lists the members of a team, changes their roles and removes them.
import { Argument, type Command } from 'commander'
import { assignableRoles } from '../../../../domain/teams/role.js'
import type { ApiClient } from '../../session/api-client.js'
import { changedTeam, readTeamHelp, type TeamOptions, writeTeamHelp } from '../../session/choice.js'
import { itemNamed, type List, listCommand } from '../../session/list.js'
import { accountCommand, type ServiceOptions, withSession } from '../../session/service-command.js'
import { printResult } from '../../terminal/output.js'
import { ago } from '../../terminal/readable-time.js'
import { plainLine } from '../../terminal/untrusted-text.js'

interface Member {
  user_id: string
  email: string
  name: string
  role: string
  joined_at: string
}

type Options = ServiceOptions & TeamOptions

const MEMBER = "the member's address, id or the end of it"

const members: List<Member> = {
  path: '/api/team/members',
  field: 'members',
  noun: 'member',
  listedBy: 'qjob member list',
  idOf: ({ user_id }) => user_id,
  namesOf: ({ email }) => [email],
  columns: [
    { heading: 'ID', id: true, yields: 3 },
    { heading: 'EMAIL', least: 16 },
    'ROLE',
    { heading: 'JOINED', yields: 2 },
    { heading: 'NAME', least: 10, yields: 1 }
  ],
  cells: ({ user_id, email, role, joined_at, name }) => [user_id, email, role, ago(joined_at), name],
  none: 'No members.'
}

export function addMemberCommand(program: Command): void {
  const member = program.command('member').description('list, promote and remove the members of a team')
  listCommand(member, 'list the members of a team', members, { team: readTeamHelp })
  accountCommand(member, 'role', "change a member's role (owner and admins)")
    .argument('<member>', MEMBER)
    .addArgument(new Argument('<role>', 'the new role').choices(assignableRoles))
    .option('--team <team>', writeTeamHelp)
    .action((named: string, role: string, options: Options) =>
      withSession(options, async (api) => {
        const team_id = await changedTeam(api, options)
        const { user_id, email } = await memberNamed(api, team_id, named)
        const { text } = await api.patch(`/api/team/members/${user_id}`, { team_id, role })
        printResult(options, text, () => `${plainLine(email)} has the role ${role} now`)
      })
    )
  accountCommand(member, 'remove', 'remove a member, whose API keys of this team end (owner and admins)')
    .argument('<member>', MEMBER)
    .option('--team <team>', writeTeamHelp)
    .action((named: string, options: Options) =>
      withSession(options, async (api) => {
        const team_id = await changedTeam(api, options)
        const { user_id, email } = await memberNamed(api, team_id, named)
        const { text } = await api.delete(`/api/team/members/${user_id}`, { team_id })
        printResult(options, text, () => `${plainLine(email)} is no longer a member`)
      })
    )
}

/** A member of a team. @throws CliError as `chosen`. */
export const memberNamed = (api: ApiClient, team: string, text: string): Promise<Member> =>
  itemNamed(api, members, text, team)
