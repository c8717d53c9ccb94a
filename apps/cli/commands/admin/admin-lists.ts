// `qjob admin list-codes`, `teams` and `users`: lists read directly from the database.
import type { Command } from 'commander'
import { listAccessCodes, type Search, searchTeams, searchUsers } from '../../../../db/admin/administration-lists.js'
import { type Page, pageView } from '../../../../domain/json/page.js'
import { accessCodeView, teamView, userView } from '../../../../domain/operations/administration.js'
import { jsonOption, reportingFailures, wholeNumberWithin } from '../../session/service-command.js'
import { type Column, table } from '../../terminal/layout.js'
import { print, printJson, totalText } from '../../terminal/output.js'
import { ago, clockTime } from '../../terminal/readable-time.js'
import { databaseHelp, inDatabase } from './admin-database.js'

export function addListCommands(admin: Command): void {
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
}

const codeColumns: Column[] = [
  { heading: 'CODE' },
  { heading: 'USES LEFT', right: true },
  { heading: 'EXPIRES', yields: 1 },
  { heading: 'MADE', yields: 2 }
]
const teamColumns: Column[] = [
  { heading: 'ID' },
  { heading: 'NAME', least: 12 },
  { heading: 'OWNER', least: 12, yields: 1 },
  { heading: 'MEMBERS', right: true, yields: 3 },
  { heading: 'STATE', least: 9, yields: 2 }
]
const userColumns: Column[] = [
  { heading: 'ID' },
  { heading: 'EMAIL', least: 16 },
  { heading: 'USERNAME', least: 10, yields: 3 },
  { heading: 'TEAMS', right: true, yields: 4 },
  { heading: 'LAST SEEN', yields: 2 },
  { heading: 'ROLE', yields: 1 }
]

interface ListOptions extends Search {
  json?: boolean
}

const paged = (command: Command): Command =>
  jsonOption(command)
    .option('--limit <n>', 'how many, 1 to 100', wholeNumberWithin(1, 100), 50)
    .option('--offset <n>', 'how many to skip', wholeNumberWithin(0, 1_000_000_000), 0)

async function listCodes(options: ListOptions): Promise<void> {
  const { rows, total } = await inDatabase(({ db }) => listAccessCodes(db, options))
  const codes = rows.map(accessCodeView)
  if (options.json) return printJson(JSON.stringify({ access_codes: codes, ...pageView(total, options) }))
  const lines = codes.map((code) => [
    code.code,
    String(code.remaining_uses),
    code.expires_at ? clockTime(code.expires_at) : 'never',
    ago(code.created_at)
  ])
  printList('access codes', table(codeColumns, lines), rows, total, options)
}

async function listTeams(options: ListOptions): Promise<void> {
  const { rows, total } = await inDatabase(({ db }) => searchTeams(db, options))
  const teams = rows.map(teamView)
  if (options.json) return printJson(JSON.stringify({ teams, ...pageView(total, options) }))
  const lines = teams.map((team) => [
    team.id,
    team.name,
    team.owner?.email ?? '',
    String(team.members),
    team.deleted_at ? 'deleted' : team.suspended ? `suspended: ${team.suspended_reason}` : 'active'
  ])
  printList('teams', table(teamColumns, lines), rows, total, options)
}

async function listUsers(options: ListOptions): Promise<void> {
  const { rows, total } = await inDatabase(({ db }) => searchUsers(db, options))
  const users = rows.map(userView)
  if (options.json) return printJson(JSON.stringify({ users, ...pageView(total, options) }))
  const lines = users.map((user) => [
    user.id,
    user.email,
    user.username,
    String(user.teams),
    user.last_seen_at ? ago(user.last_seen_at) : 'never',
    user.is_platform_admin ? 'administrator' : ''
  ])
  printList('users', table(userColumns, lines), rows, total, options)
}

function printList(what: string, lines: string, rows: unknown[], total: number, { limit, offset }: Page): void {
  const page = pageView(total, { limit, offset })
  const next = offset + rows.length
  const count = totalText(page)
  if (total === 0) print(`No ${what}.`)
  else if (rows.length === 0) print(`No more ${what}: there are ${count}.`)
  else print(next < total ? `${lines}\n\n${offset + 1} to ${next} of ${count}; more: --offset ${next}` : lines)
}
