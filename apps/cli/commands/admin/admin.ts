// `qjob admin ...`: commands for operators, who work directly in the database and do not sign in. The audit log records
// the changes like those of administrators.
import { type Command, InvalidArgumentError } from 'commander'
import { makeAccessCode, makePlatformAdmin, suspendTeam, unsuspendTeam } from '../../../../db/admin/administration.js'
import { listAccessCodes, type Search, searchTeams, searchUsers } from '../../../../db/admin/administration-lists.js'
import { commandLine } from '../../../../db/audit/admin-audit.js'
import { type Page, pageView } from '../../../../domain/json/page.js'
import {
  ACCESS_CODE_USES_MAX,
  accessCodePattern,
  accessCodeView,
  SUSPENSION_REASON_MAX,
  teamView,
  userView
} from '../../../../domain/operations/administration.js'
import { jsonOption, reportingFailures } from '../../session/service-command.js'
import { CliError } from '../../terminal/cli-error.js'
import { plainLine, print, table } from '../../terminal/output.js'
import { ago, clockTime } from '../../terminal/readable-time.js'
import { databaseHelp, inDatabase } from './admin-database.js'
import { addMoneyCommands } from './admin-money.js'
import { addSigningKeyCommand } from './admin-signing.js'
import { addRotateKeysCommand } from './rotate-keys.js'

export function addAdminCommand(program: Command): void {
  const admin = program.command('admin').description("operate on the service's database directly, without signing in")
  jsonOption(admin.command('create-code').description('create an access code for sign-up'))
    .option('--uses <n>', 'how many people can sign up with it', wholeNumberWithin(1, ACCESS_CODE_USES_MAX), 1)
    .option('--code <code>', 'the code (default: a random one)', accessCode)
    .option('--expires <time>', 'ISO 8601 time at which it expires', futureTime)
    .addHelpText('after', databaseHelp)
    .action((options: { json?: boolean; uses: number; code?: string; expires?: Date }) =>
      reportingFailures(options, () => createCode(options))
    )
  jsonOption(admin.command('grant <email>').description('make a user a platform administrator'))
    .addHelpText('after', databaseHelp)
    .action((email: string, options: { json?: boolean }) => reportingFailures(options, () => grant(email, options)))
  paged(admin.command('list-codes').description('list access codes, newest first'))
    .addHelpText('after', databaseHelp)
    .action((options: ListOptions) => reportingFailures(options, () => listCodes(options)))
  paged(admin.command('teams').description('list teams, newest first'))
    .option('--q <text>', "an id (of the team or a member), or part of the name or a member's address")
    .addHelpText('after', databaseHelp)
    .action((options: ListOptions) => reportingFailures(options, () => listTeams(options)))
  paged(admin.command('users').description('list users, newest first'))
    .option('--q <text>', 'an id (of the user or a team), or part of the address, username or name')
    .addHelpText('after', databaseHelp)
    .action((options: ListOptions) => reportingFailures(options, () => listUsers(options)))
  jsonOption(
    admin.command('suspend').argument('<team-id>', '', uuid).description('make a team read-only; running jobs continue')
  )
    .requiredOption('--reason <text>', 'the reason, for the audit log', suspensionReason)
    .addHelpText('after', databaseHelp)
    .action((id: string, options: { json?: boolean; reason: string }) =>
      reportingFailures(options, () => suspend(id, options))
    )
  jsonOption(admin.command('unsuspend').argument('<team-id>', '', uuid).description("lift a team's suspension"))
    .addHelpText('after', databaseHelp)
    .action((id: string, options: { json?: boolean }) => reportingFailures(options, () => unsuspend(id, options)))
  addMoneyCommands(admin, inDatabase, databaseHelp)
  addRotateKeysCommand(admin, inDatabase, databaseHelp)
  addSigningKeyCommand(admin)
}

interface ListOptions extends Search {
  json?: boolean
}

const paged = (command: Command): Command =>
  jsonOption(command)
    .option('--limit <n>', 'how many, 1 to 100', wholeNumberWithin(1, 100), 50)
    .option('--offset <n>', 'how many to skip', wholeNumberWithin(0, 1_000_000_000), 0)

async function createCode(options: { json?: boolean; uses: number; code?: string; expires?: Date }): Promise<void> {
  const { uses, expires } = options
  const code = await inDatabase(({ db }) =>
    makeAccessCode(db, commandLine, {
      uses,
      ...(options.code !== undefined && { code: options.code }),
      expiresAt: expires ?? null
    })
  )
  const expiresAt = expires?.toISOString() ?? null
  if (options.json) return print(JSON.stringify({ code, uses, expires_at: expiresAt }))
  const until = expiresAt ? ` until ${expiresAt}` : ''
  print(
    `${code}\n${uses === 1 ? 'one person' : `${uses} people`} can sign up with it${until}: qjob sign-up EMAIL --code ${code}`
  )
}

async function grant(email: string, options: { json?: boolean }): Promise<void> {
  const granted = await inDatabase(({ db }) => makePlatformAdmin(db, commandLine, email))
  if (!granted) throw new CliError('refused', `no account has the address ${email}: sign up first`)
  print(options.json ? JSON.stringify({ email, is_platform_admin: true }) : `${email} is a platform administrator now.`)
}

async function listCodes(options: ListOptions): Promise<void> {
  const { rows, total } = await inDatabase(({ db }) => listAccessCodes(db, options))
  const codes = rows.map(accessCodeView)
  if (options.json) return print(JSON.stringify({ access_codes: codes, ...pageView(total, options) }))
  const lines = codes.map((code) => [
    code.code,
    String(code.remaining_uses),
    code.expires_at ? clockTime(code.expires_at) : 'never',
    ago(code.created_at)
  ])
  printList('access codes', table(['CODE', 'USES LEFT', 'EXPIRES', 'MADE'], lines, ['USES LEFT']), rows, total, options)
}

async function listTeams(options: ListOptions): Promise<void> {
  const { rows, total } = await inDatabase(({ db }) => searchTeams(db, options))
  const teams = rows.map(teamView)
  if (options.json) return print(JSON.stringify({ teams, ...pageView(total, options) }))
  const lines = teams.map((team) => [
    team.id,
    team.name,
    team.owner?.email ?? '',
    String(team.members),
    team.deleted_at ? 'deleted' : team.suspended ? `suspended: ${team.suspended_reason}` : 'active'
  ])
  printList('teams', table(['ID', 'NAME', 'OWNER', 'MEMBERS', 'STATE'], lines, ['MEMBERS']), rows, total, options)
}

async function listUsers(options: ListOptions): Promise<void> {
  const { rows, total } = await inDatabase(({ db }) => searchUsers(db, options))
  const users = rows.map(userView)
  if (options.json) return print(JSON.stringify({ users, ...pageView(total, options) }))
  const lines = users.map((user) => [
    user.id,
    user.email,
    user.username,
    String(user.teams),
    user.last_seen_at ? ago(user.last_seen_at) : 'never',
    user.is_platform_admin ? 'administrator' : ''
  ])
  printList(
    'users',
    table(['ID', 'EMAIL', 'USERNAME', 'TEAMS', 'LAST SEEN', 'ROLE'], lines, ['TEAMS']),
    rows,
    total,
    options
  )
}

function printList(what: string, lines: string, rows: unknown[], total: number, { limit, offset }: Page): void {
  const page = pageView(total, { limit, offset })
  const next = offset + rows.length
  const count = page.total_capped ? `more than ${page.total}` : String(page.total)
  if (total === 0) print(`No ${what}.`)
  else if (rows.length === 0) print(`No more ${what}: there are ${count}.`)
  else print(next < total ? `${lines}\n\n${offset + 1} to ${next} of ${count}; more: --offset ${next}` : lines)
}

async function suspend(id: string, options: { json?: boolean; reason: string }): Promise<void> {
  const team = teamView(await inDatabase(({ db }) => suspendTeam(db, commandLine, id, options.reason)))
  if (options.json) return print(JSON.stringify(team))
  print(`${plainLine(team.name)} is read-only since ${clockTime(team.suspended_at!)}; its running jobs continue.`)
}

async function unsuspend(id: string, options: { json?: boolean }): Promise<void> {
  const team = teamView(await inDatabase(({ db }) => unsuspendTeam(db, commandLine, id)))
  print(options.json ? JSON.stringify(team) : `${plainLine(team.name)} is no longer suspended.`)
}

function wholeNumberWithin(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
    return value
  }
}

function accessCode(text: string): string {
  if (!new RegExp(accessCodePattern).test(text))
    throw new InvalidArgumentError('It must have 1 to 64 letters, digits, hyphens or underscores.')
  return text
}

function uuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError('It must be the id of a team; qjob admin teams lists them.')
  return text
}

function suspensionReason(text: string): string {
  if (text.trim() === '' || text.length > SUSPENSION_REASON_MAX)
    throw new InvalidArgumentError(`It must have 1 to ${SUSPENSION_REASON_MAX} characters.`)
  return text
}

function futureTime(text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime()) || !/^\d{4}-\d\d-\d\d/.test(text))
    throw new InvalidArgumentError('It must be an ISO 8601 time, such as 2030-01-31T12:00:00Z.')
  if (time.getTime() <= Date.now()) throw new InvalidArgumentError('It must be in the future.')
  return time
}
