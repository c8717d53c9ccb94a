// `qjob profile`, `qjob password` and `qjob sessions`: the signed-in user's own account.
import { type Command, Option } from 'commander'
import { itemNamed, type List, listCommand } from '../../session/list.js'
import { readNewPassword, readPassword } from '../../session/password.js'
import {
  accountCommand,
  type ServiceOptions,
  serviceCommand,
  withService,
  withSession
} from '../../session/service-command.js'
import { forgetSession } from '../../session/session-file.js'
import { listing } from '../../terminal/layout.js'
import { print, printJson, printResult } from '../../terminal/output.js'
import { ago } from '../../terminal/readable-time.js'

interface Profile {
  username: string
  display_name: string | null
  bio: string | null
  avatar_url: string | null
  website: string | null
  location: string | null
  github_username: string | null
  twitter_username: string | null
  linkedin_url: string | null
  is_public: boolean
}

interface Session {
  id: string
  created_at: string
  last_seen_at: string
  user_agent: string | null
  current: boolean
}

interface ProfileOptions extends ServiceOptions {
  username?: string
  name?: string
  bio?: string
  avatar?: string
  website?: string
  location?: string
  github?: string
  twitter?: string
  linkedin?: string
  public?: boolean
}

const ownSessions: List<Session> = {
  path: '/api/auth/sessions',
  field: 'sessions',
  noun: 'session',
  listedBy: 'qjob sessions list',
  idOf: ({ id }) => id,
  namesOf: () => [],
  columns: [
    { heading: 'ID', id: true },
    { heading: 'CREATED', yields: 1 },
    'LAST SEEN',
    { heading: 'THIS ONE', yields: 2 },
    { heading: 'PROGRAM', least: 12, yields: 3 }
  ],
  cells: (session) => [
    session.id,
    ago(session.created_at),
    ago(session.last_seen_at),
    session.current ? 'yes' : '',
    session.user_agent ?? ''
  ],
  none: 'No sessions.'
}

export function addProfileCommands(program: Command): void {
  addProfileCommand(program)
  accountCommand(program, 'password', 'change your password; every other session ends')
    .addHelpText(
      'after',
      '\nThe passwords are read from prompts, or from two lines of standard input: the present one, then the new one.'
    )
    .action((options: ServiceOptions) =>
      withSession(options, async (api) => {
        const { text } = await api.post('/api/auth/change-password', await readNewPassword())
        printResult(options, text, () => 'The password is changed; every other session has ended.')
      })
    )
  const sessions = program.command('sessions').description('list and end your sessions, on all machines')
  listCommand(sessions, 'list your sessions', ownSessions, { sessionOnly: true })
  accountCommand(sessions, 'end', 'end one of your sessions')
    .argument('<session>', 'its id or the end of it')
    .action((named: string, options: ServiceOptions) =>
      withSession(options, async (api) => {
        const { id } = await itemNamed(api, ownSessions, named)
        await api.delete(`/api/auth/sessions/${id}`)
        printResult(options, JSON.stringify({ ended: id }), () => `the session ${id} has ended`)
      })
    )
}

function addProfileCommand(program: Command): void {
  const profile = program.command('profile').description('show and change your profile, or delete your account')
  serviceCommand(profile, 'show', "show your profile, or another user's public one")
    .argument('[username]', 'another user')
    .action((username: string | undefined, options: ServiceOptions) =>
      (username === undefined ? withSession : withService)(options, async (api) => {
        const path = username === undefined ? '/api/profile' : `/api/profiles/${encodeURIComponent(username)}`
        const { value, text } = await api.get<Profile>(path)
        printResult(options, text, () => profileText(value))
      })
    )
  accountCommand(profile, 'set', 'change your profile; an empty text removes a value')
    .option('--username <name>', 'your user name')
    .option('--name <name>', 'your display name')
    .option('--bio <text>', 'about you')
    .option('--avatar <address>', 'the address of a picture')
    .option('--website <address>', 'your web site')
    .option('--location <text>', 'where you are')
    .option('--github <name>', 'your name at GitHub')
    .option('--twitter <name>', 'your name at Twitter')
    .option('--linkedin <address>', 'your page at LinkedIn')
    .option('--public', 'show your profile to everyone, without your address')
    .addOption(new Option('--no-public', 'show your profile only to you'))
    .action((options: ProfileOptions) =>
      withSession(options, async (api) => {
        const { value, text } = await api.patch<Profile>('/api/profile', profileBody(options))
        printResult(options, text, () => profileText(value))
      })
    )
  accountCommand(profile, 'delete-account', 'delete your account and the teams that are yours alone')
    .addHelpText('after', '\nThe password is read from QJOB_PASSWORD, from a prompt, or from standard input.')
    .action((options: ServiceOptions) =>
      withSession(options, async (api) => {
        const { text } = await api.delete('/api/profile', { password: await readPassword() })
        forgetSession(api.url)
        if (options.json) printJson(text)
        else print('Your account is deleted.')
      })
    )
}

const profileBody = (options: ProfileOptions): Partial<Profile> => ({
  username: options.username,
  display_name: options.name,
  bio: options.bio,
  avatar_url: options.avatar,
  website: options.website,
  location: options.location,
  github_username: options.github,
  twitter_username: options.twitter,
  linkedin_url: options.linkedin,
  is_public: options.public
})

const profileText = (profile: Profile): string =>
  listing([
    ['username', profile.username],
    ['name', profile.display_name],
    ['bio', profile.bio],
    ['avatar', profile.avatar_url],
    ['website', profile.website],
    ['location', profile.location],
    ['GitHub', profile.github_username],
    ['Twitter', profile.twitter_username],
    ['LinkedIn', profile.linkedin_url],
    ['public', profile.is_public ? 'yes' : 'no']
  ])
