// `qjob sign-up | login | logout | whoami`: creates the account, and the session that other commands use.
import type { Command } from 'commander'
import { ApiClient } from '../../session/api-client.js'
import { readPassword } from '../../session/password.js'
import {
  accountCommand,
  reportingFailures,
  type ServiceOptions,
  serviceCommand,
  withService,
  withSession
} from '../../session/service-command.js'
import { isExposed, serviceUrl } from '../../session/service-url.js'
import { forgetSession, readSession, saveSession } from '../../session/session-file.js'
import { CliError } from '../../terminal/cli-error.js'
import { listing } from '../../terminal/layout.js'
import { print, printJson, printNotice, printResult } from '../../terminal/output.js'

interface User {
  email: string
  username: string
  display_name: string | null
  is_platform_admin: boolean
}

const passwordHelp =
  '\nThe password is read from QJOB_PASSWORD, from a prompt, or from the first line of standard input.'

export function addAccountCommands(program: Command): void {
  accountCommand(program, 'sign-up <email>', 'create an account with an access code, and sign in')
    .option('--code <code>', 'access code (an administrator creates them with qjob admin create-code)')
    .option('--name <name>', 'display name')
    .addHelpText('after', passwordHelp)
    .action((email: string, options: ServiceOptions & { code?: string; name?: string }) =>
      reportingFailures(options, async () => {
        const password = await readPassword({ twice: true })
        await enter(options, email, '/api/auth/sign-up', {
          email,
          password,
          ...(options.code !== undefined && { code: options.code }),
          ...(options.name !== undefined && { display_name: options.name })
        })
      })
    )
  accountCommand(program, 'login <email>', 'sign in and save the session for later commands')
    .addHelpText('after', passwordHelp)
    .action((email: string, options: ServiceOptions) =>
      reportingFailures(options, async () =>
        enter(options, email, '/api/auth/sign-in', { email, password: await readPassword() })
      )
    )
  accountCommand(program, 'logout', 'sign out, on this machine and at the service').action((options: ServiceOptions) =>
    withSession(options, (api) => leave(api, options))
  )
  accountCommand(program, 'forgot-password <email>', 'get a mail with a link that sets a new password').action(
    (email: string, options: ServiceOptions) =>
      reportingFailures(options, async () => {
        const { text } = await new ApiClient(serviceUrl(options.url), null).post('/api/auth/forgot-password', { email })
        printResult(options, text, () => `If ${email} has an account, a mail is on its way: qjob reset-password LINK`)
      })
  )
  accountCommand(program, 'reset-password <link>', 'set a new password with the link of the mail; all sessions end')
    .addHelpText('after', passwordHelp)
    .action((link: string, options: ServiceOptions) =>
      reportingFailures(options, async () => {
        const [token] = /[^/]*$/.exec(link)!
        const body = { token, password: await readPassword({ twice: true }) }
        const { text } = await new ApiClient(serviceUrl(options.url), null).post('/api/auth/reset-password', body)
        printResult(options, text, () => 'The password is set. Sign in with: qjob login EMAIL')
      })
    )
  serviceCommand(program, 'whoami', 'show the signed-in user and their teams; with a key, its team').action(
    (options: ServiceOptions) => withService(options, (api) => showUser(api, options))
  )
}

async function enter(options: ServiceOptions, email: string, path: string, body: object): Promise<void> {
  const url = serviceUrl(options.url)
  if (isExposed(url)) printNotice(`warning: the password travels to ${url} unencrypted; use https`)
  const { text, cookie } = await new ApiClient(url, null).post<{ user: User }>(path, body)
  if (!cookie) throw new CliError('unreachable', `${url} sent no session: check --url and QJOB_URL`)
  saveSession({ url, email, cookie, signed_in_at: new Date().toISOString() })
  if (options.json) printJson(text)
  else print(`Signed in to ${url} as ${email}.`)
}

async function leave(api: ApiClient, options: ServiceOptions): Promise<void> {
  const signedIn = readSession(api.url) !== null
  forgetSession(api.url)
  try {
    if (signedIn) await api.post('/api/auth/sign-out')
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    if (error.kind === 'unreachable')
      throw new CliError(
        'unreachable',
        `the session is deleted on this machine, but ${api.url} did not respond: there it expires after a week without use`
      )
    // Refused: the service had ended the session already.
  }
  if (options.json) printJson(JSON.stringify({ signed_out: signedIn }))
  else print(signedIn ? `Signed out of ${api.url}.` : `Not signed in to ${api.url}.`)
}

interface Membership {
  id: string
  name: string
  role: string
  suspended: boolean
}

/** A line for each, with the id that other commands take. */
const teamLines = (teams: Membership[]): [string, string][] =>
  teams.map(({ id, name, role, suspended }) => ['team', `${name} (${role}${suspended ? ', suspended' : ''}), ${id}`])

/** A key belongs to one team and not to a user. */
async function showKey(api: ApiClient, options: ServiceOptions): Promise<void> {
  const { value, text } = await api.get<{ teams: Membership[] }>('/api/teams')
  if (options.json) return printJson(text)
  print(listing([['service', api.url], ['signed in by', 'an API key'], ...teamLines(value.teams)]))
}

async function showUser(api: ApiClient, options: ServiceOptions): Promise<void> {
  if (api.credential && 'key' in api.credential) return showKey(api, options)
  const { value, text } = await api.get<{ user: User; teams: Membership[] }>('/api/auth/session')
  if (options.json) return printJson(text)
  const { user, teams } = value
  print(
    listing([
      ['service', api.url],
      ['e-mail', user.email],
      ['username', user.username],
      ['name', user.display_name],
      ['platform administrator', user.is_platform_admin ? 'yes' : null],
      ...teamLines(teams)
    ])
  )
}
