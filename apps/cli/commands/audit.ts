// `qjob audit` and `qjob signing-keys`: the team's audit trail, the proof that it is unchanged, and the keys that sign.
import type { Command } from 'commander'
import { readTeamHelp, type TeamOptions, teamIdOf, teamQuery } from '../session/choice.js'
import { capsuleIdOf } from '../session/named-ids.js'
import {
  isUuid,
  type PageOptions,
  pageOptions,
  reportingFailures,
  type ServiceOptions,
  serviceCommand,
  withService
} from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { type Column, table } from '../terminal/layout.js'
import { print, printJson, printNotice, printResult } from '../terminal/output.js'
import { clockTime } from '../terminal/readable-time.js'
import { plainLine } from '../terminal/untrusted-text.js'
import { type DatabaseReport, type TrailReport, verifyDatabase } from './admin/admin-audit.js'

interface Entry {
  seq: number
  capsule_id: string | null
  action: string
  actor: string
  at: string
  previous_state: string | null
  new_state: string | null
}

interface SigningKey {
  key_id: string
  algorithm: string
  public_key_pem: string
  created_at: string
  retired_at: string | null
}

type ServiceReport = Omit<TrailReport, 'team_id'> & {
  checkpoints_outside: { compared: boolean; checkpoints: number; reason: string | null } | null
}

interface TrailOptions extends ServiceOptions, PageOptions, TeamOptions {
  capsule?: string
}

interface VerifyOptions extends ServiceOptions, TeamOptions {
  checkpoints?: string
  database?: boolean
}

const verifyHelp =
  `\nThe service recomputes every hash of the team's trail, checks the signed checkpoints (in the database, ` +
  `and outside it where the api can read those), and checks every sealed capsule against its seal. ` +
  `With --database, qjob does this itself for all teams, in the database of DATABASE_URL or else of the ` +
  `stack running from DATA_DIR (.data). Only the checkpoints outside the database reveal a trail that was ` +
  `truncated or rewritten together with its own checkpoints. Exit code 1: something was changed.`

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('list and verify the audit trail of capsules')
  pageOptions(
    serviceCommand(audit, 'list', "list the entries of a team's audit trail, newest first")
      .option('--team <team>', readTeamHelp)
      .option('--capsule <capsule>', 'only entries about this capsule: its id, the end of its id, or latest'),
    50
  ).action((options: TrailOptions) => list(options))
  serviceCommand(audit, 'verify', "verify that a team's audit trail and sealed capsules are unchanged")
    .option('--team <team>', `${readTeamHelp}; with --database: its id (default: all)`)
    .option('--database', 'read the database directly, without signing in')
    .option(
      '--checkpoints <file>',
      'checkpoints stored outside the database; only with --database (default: the file in DATA_DIR)'
    )
    .addHelpText('after', verifyHelp)
    .action((options: VerifyOptions) => verify(options))
  serviceCommand(program, 'signing-keys', 'show the public keys that sign seals and audit checkpoints').action(
    (options: ServiceOptions) =>
      withService(options, async (api) => {
        const { value, text } = await api.get<{ keys: SigningKey[] }>('/api/meta/keys')
        printResult(options, text, () => keysText(value.keys))
      })
  )
}

const columns: Column[] = [
  { heading: 'NO', right: true },
  { heading: 'AT', yields: 3 },
  { heading: 'ACTION', least: 12 },
  { heading: 'CAPSULE', id: true, yields: 2 },
  { heading: 'BY', least: 12, yields: 1 },
  { heading: 'STATE', yields: 4 }
]

const list = (options: TrailOptions) =>
  withService(options, async (api) => {
    const query = new URLSearchParams({ limit: String(options.limit), offset: String(options.offset) })
    const team = await teamIdOf(api, options)
    if (team !== undefined) query.set('team_id', team)
    if (options.capsule) query.set('capsule_id', await capsuleIdOf(api, options.capsule))
    const { value, text } = await api.get<{ entries: Entry[]; total: number }>(`/api/team/audit?${query}`)
    if (options.json) return printJson(text)
    if (value.entries.length === 0) return print('No entries.')
    const lines = value.entries.map((entry) => [
      String(entry.seq),
      clockTime(entry.at),
      entry.action,
      entry.capsule_id ?? '',
      entry.actor,
      entry.previous_state === entry.new_state ? '' : `${entry.previous_state ?? '-'} -> ${entry.new_state ?? '-'}`
    ])
    print(table(columns, lines))
    const next = options.offset + value.entries.length
    if (next < value.total) printNotice(`${next} of ${value.total}; more: --offset ${next}`)
  })

function verify(options: VerifyOptions): Promise<void> {
  if (options.database) return reportingFailures(options, () => inDatabase(options))
  if (options.checkpoints !== undefined)
    return reportingFailures(options, async () => {
      throw new CliError('usage', '--checkpoints: needs --database')
    })
  return withService(options, async (api) => {
    const { value, text } = await api.get<ServiceReport>(`/api/team/audit/verify${await teamQuery(api, options)}`)
    printResult(options, text, () => `${trailText(value)}${outsideText(value)}`)
    if (!value.ok) process.exitCode = exitCodes.jobFailed
  })
}

async function inDatabase({ json, team, checkpoints }: VerifyOptions): Promise<void> {
  if (team !== undefined && !isUuid(team))
    throw new CliError('usage', `--team: must be the id of a team with --database (got ${JSON.stringify(team)})`)
  const report = await verifyDatabase(team, checkpoints)
  printResult({ json }, JSON.stringify(report), () => databaseText(report))
  if (!report.ok) process.exitCode = exitCodes.jobFailed
}

function outsideText({ checkpoints_outside: outside }: ServiceReport): string {
  if (!outside) return ''
  if (!outside.compared)
    return `\nNot compared with checkpoints outside the database: ${plainLine(outside.reason ?? '')}`
  return `\nCompared with ${outside.checkpoints} of its checkpoints outside the database.`
}

function databaseText({ teams, checkpoints_file: file, unreadable_lines: unreadable, ...report }: DatabaseReport) {
  const lines = teams.map((trail) => `team ${trail.team_id}: ${trailText(trail)}`)
  if (teams.length === 0) lines.push('No team has an audit trail.')
  lines.push(file ? `Checkpoints outside the database: ${file}` : 'No checkpoints outside the database were compared.')
  if (unreadable.length > 0)
    lines.push(`Lines without a checkpoint in that file: ${unreadable.slice(0, 10).join(', ')}`)
  for (const { key_id: id, reason } of report.suspect_keys) lines.push(`SUSPECT key ${id}: ${plainLine(reason)}`)
  if (!report.keys_proven) lines.push('Without SECRETS_KEYS, the signing keys in the database cannot be verified.')
  return lines.join('\n')
}

function trailText({
  ok,
  entries,
  seals,
  checkpoints,
  signed_up_to: signed,
  first_broken: broken
}: Omit<TrailReport, 'team_id'>) {
  if (broken) return `BROKEN at entry ${broken.seq}: ${plainLine(broken.reason)}`
  if (!ok) return 'NOT PROVED: the database is consistent, but the checkpoints outside it could not be read'
  const points = checkpoints === 0 ? 'no checkpoint yet' : `signed up to entry ${signed}`
  return `intact: ${entries} ${entries === 1 ? 'entry' : 'entries'}, ${points}, ${seals} sealed ${seals === 1 ? 'capsule' : 'capsules'} unchanged`
}

const keysText = (keys: SigningKey[]): string =>
  keys.length === 0
    ? 'No key yet: the service creates one at its first start with SECRETS_KEYS.'
    : keys
        .map(
          (key) =>
            `${key.key_id}  ${key.algorithm}  since ${clockTime(key.created_at)}${key.retired_at ? `, retired ${clockTime(key.retired_at)}` : ''}\n${key.public_key_pem.trimEnd()}`
        )
        .join('\n\n')
