// `qjob invitation`: invites people into a team, and accepts invitations.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type AssignableRole, assignableRoles } from '../../../../domain/teams/role.js'
import type { ApiClient } from '../../session/api-client.js'
import { changedTeam, readTeamHelp, type TeamOptions, writeTeamHelp } from '../../session/choice.js'
import { itemNamed, type List, listCommand } from '../../session/list.js'
import { accountCommand, type ServiceOptions, withSession } from '../../session/service-command.js'
import { listing } from '../../terminal/layout.js'
import { printResult } from '../../terminal/output.js'
import { ago, clockTime } from '../../terminal/readable-time.js'
import { plainLine } from '../../terminal/untrusted-text.js'

interface Invitation {
  id: string
  email: string
  role: string
  status: string
  created_at: string
  expires_at: string
}

type Options = ServiceOptions & TeamOptions
type SendOptions = Options & { role: AssignableRole; message?: string }

const INVITATION = 'the address that was invited, the id of the invitation or the end of it'
const LINK = 'the link of the mail, or its last part'

const invitations: List<Invitation> = {
  path: '/api/team/invitations',
  field: 'invitations',
  noun: 'pending invitation',
  listedBy: 'qjob invitation list',
  idOf: ({ id }) => id,
  namesOf: ({ email }) => [email],
  columns: [
    { heading: 'ID', id: true, yields: 3 },
    { heading: 'EMAIL', least: 16 },
    'ROLE',
    { heading: 'SENT', yields: 1 },
    { heading: 'EXPIRES', yields: 2 }
  ],
  cells: ({ id, email, role, created_at, expires_at }) => [id, email, role, ago(created_at), clockTime(expires_at)],
  none: 'No pending invitations.'
}

export function addInvitationCommand(program: Command): void {
  const invitation = program.command('invitation').description('invite people into a team, and accept invitations')
  addManagingCommands(invitation)
  accountCommand(invitation, 'show', 'show the team and the role that an invitation offers')
    .argument('<link>', LINK, token)
    .action((link: string, options: ServiceOptions) =>
      withSession(options, async (api) => {
        const { value, text } = await api.get<{
          team: { name: string }
          role: string
          email: string
          expires_at: string
        }>(`/api/invitations/${link}`)
        printResult(options, text, () =>
          listing([
            ['team', value.team.name],
            ['role', value.role],
            ['for', value.email],
            ['expires', clockTime(value.expires_at)]
          ])
        )
      })
    )
  accountCommand(invitation, 'accept', 'join the team; you have to be signed in with the address that was invited')
    .argument('<link>', LINK, token)
    .action((link: string, options: ServiceOptions) =>
      withSession(options, async (api) => {
        const { value, text } = await api.post<{ team_id: string; role: string }>(`/api/invitations/${link}/accept`)
        printResult(options, text, () => `you belong to team ${value.team_id}, with the role ${value.role}`)
      })
    )
}

function addManagingCommands(invitation: Command): void {
  listCommand(invitation, 'list the pending invitations of a team', invitations, { team: readTeamHelp })
  accountCommand(invitation, 'send <email>', 'invite a person by mail (owner and admins)')
    .addOption(new Option('--role <role>', 'the role in the team').choices(assignableRoles).default('member'))
    .option('--message <text>', 'a text for the mail')
    .option('--team <team>', writeTeamHelp)
    .action((email: string, { role, message, ...options }: SendOptions) =>
      withSession(options, async (api) => {
        const body = { team_id: await changedTeam(api, options), email, role, message }
        const { text } = await api.post('/api/team/invitations', body)
        printResult(options, text, () => `${plainLine(email)} is invited, with the role ${role}`)
      })
    )
  accountCommand(invitation, 'resend', 'send a pending invitation again, with a new link (owner and admins)')
    .argument('<invitation>', INVITATION)
    .option('--team <team>', writeTeamHelp)
    .action((named: string, options: Options) =>
      change(
        options,
        named,
        (api, { id }) => api.patch(`/api/team/invitations/${id}`, { action: 'resend' }),
        'sent again'
      )
    )
  accountCommand(invitation, 'role', 'change the role that a pending invitation offers (owner and admins)')
    .argument('<invitation>', INVITATION)
    .addOption(new Option('--role <role>', 'the new role').choices(assignableRoles).makeOptionMandatory())
    .option('--team <team>', writeTeamHelp)
    .action((named: string, { role, ...options }: SendOptions) =>
      change(
        options,
        named,
        (api, { id }) => api.patch(`/api/team/invitations/${id}`, { role }),
        `for the role ${role}`
      )
    )
  accountCommand(invitation, 'cancel', 'cancel a pending invitation (owner and admins)')
    .argument('<invitation>', INVITATION)
    .option('--team <team>', writeTeamHelp)
    .action((named: string, options: Options) =>
      change(options, named, (api, { id }) => api.delete(`/api/team/invitations/${id}`), 'cancelled')
    )
}

const change = (
  options: Options,
  named: string,
  work: (api: ApiClient, invitation: Invitation) => Promise<{ text: string }>,
  now: string
): Promise<void> =>
  withSession(options, async (api) => {
    const invitation = await itemNamed(api, invitations, named, await changedTeam(api, options))
    const { text } = await work(api, invitation)
    printResult(options, text, () => `the invitation of ${plainLine(invitation.email)} is ${now}`)
  })

/** The token at the end of a link. */
function token(text: string): string {
  const [last] = /[A-Za-z0-9_-]{1,64}$/.exec(text) ?? []
  if (last === undefined) throw new InvalidArgumentError('It must be the link of an invitation.')
  return last
}
