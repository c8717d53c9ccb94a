// `qjob member`: lists the members of a team, changes their roles and removes them.
import { Argument, type Command } from 'commander'
import { assignableRoles } from '../../../../domain/teams/role.js'
import type { ApiClient } from '../../session/api-client.js'
import { changedTeam, chosen, readTeamHelp, type TeamOptions, teamQuery, writeTeamHelp } from '../../session/choice.js'
import {
  accountCommand,
  type ServiceOptions,
  serviceCommand,
  withService,
  withSession
} from '../../session/service-command.js'
import { table } from '../../terminal/layout.js'
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

export function addMemberCommand(program: Command): void {
  const member = program.command('member').description('list, promote and remove the members of a team')
  serviceCommand(member, 'list', 'list the members of a team')
    .option('--team <team>', readTeamHelp)
    .action((options: Options) =>
      withService(options, async (api) => {
        const { value, text } = await api.get<{ members: Member[] }>(
          `/api/team/members${await teamQuery(api, options)}`
        )
        printResult(options, text, () => membersText(value.members))
      })
    )
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
export async function memberNamed(api: ApiClient, team: string, text: string): Promise<Member> {
  const { members } = (await api.get<{ members: Member[] }>(`/api/team/members?team_id=${team}`)).value
  return chosen(members, text, {
    noun: 'member',
    listedBy: 'qjob member list',
    idOf: ({ user_id }) => user_id,
    namesOf: ({ email }) => [email]
  })
}

const membersText = (members: Member[]): string =>
  members.length === 0
    ? 'No members.'
    : table(
        [
          { heading: 'ID', id: true, yields: 3 },
          { heading: 'EMAIL', least: 16 },
          'ROLE',
          { heading: 'JOINED', yields: 2 },
          { heading: 'NAME', least: 10, yields: 1 }
        ],
        members.map(({ user_id, email, role, joined_at, name }) => [user_id, email, role, ago(joined_at), name])
      )
