// `qjob audit` and `qjob keys`: what was done to the team's capsules, the proof that nobody changed the record of it, and
// the keys that sign.
import { type Command, InvalidArgumentError } from 'commander'
import {
  isUuid,
  reported,
  type ServiceOptions,
  serviceCommand,
  wholeNumber,
  withService
} from '../session/service-command.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { plainLine, print, say, table } from '../terminal/output.js'
import { clockTime } from '../terminal/readable-time.js'
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

interface VerifyOptions extends ServiceOptions {
  team?: string
  checkpoints?: string
  database?: boolean
}

const verifyHelp = `
Asked of the service, it recomputes every hash of the team's trail, checks the signed checkpoints, in the database and in the
file outside it where the api can read that, and every sealed capsule against its seal. With --database it does so itself for all teams, in the database that DATABASE_URL names,
else that of the stack running from DATA_DIR (.data), and also checks the checkpoints that were kept outside: a trail that
was cut off or rewritten together with its checkpoints is found by those alone. Exit code 1: something was changed.`

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('what was done to capsules, and the proof that it is all there')
  serviceCommand(audit, 'list', 'list what was done to the capsules of a team, newest first')
    .option('--team <id>', 'the team (default: the first that you joined)', uuid)
    .option('--capsule <id>', 'of one capsule', uuid)
    .option('--limit <n>', 'how many, 1 to 100', wholeNumber, 50)
    .option('--offset <n>', 'how many to pass over', wholeNumber, 0)
    .action((options: ServiceOptions & { team?: string; capsule?: string; limit: number; offset: number }) =>
      list(options)
    )
  serviceCommand(audit, 'verify', "prove that nobody changed a team's audit trail or sealed capsules")
    .option('--team <id>', 'the team (default: the first that you joined; with --database: all)', uuid)
    .option('--database', 'look into the database itself, without signing in')
    .option(
      '--checkpoints <file>',
      'checkpoints kept outside the database; goes with --database (default: that of DATA_DIR)'
    )
    .addHelpText('after', verifyHelp)
    .action((options: VerifyOptions) => verify(options))
  serviceCommand(program, 'keys', 'show the public keys that sign seals and audit checkpoints').action(
    (options: ServiceOptions) =>
      withService(options, async (api) => {
        const { value, text } = await api.get<{ keys: SigningKey[] }>('/api/meta/keys')
        print(options.json ? text : keysText(value.keys))
      })
  )
}

const list = (options: ServiceOptions & { team?: string; capsule?: string; limit: number; offset: number }) =>
  withService(options, async (api) => {
    const query = new URLSearchParams({ limit: String(options.limit), offset: String(options.offset) })
    if (options.team) query.set('team_id', options.team)
    if (options.capsule) query.set('capsule_id', options.capsule)
    const { value, text } = await api.get<{ entries: Entry[]; total: number }>(`/api/team/audit?${query}`)
    if (options.json) return print(text)
    if (value.entries.length === 0) return print('No entries.')
    const lines = value.entries.map((entry) => [
      String(entry.seq),
      clockTime(entry.at),
      entry.action,
      entry.capsule_id ?? '',
      entry.actor,
      entry.previous_state === entry.new_state ? '' : `${entry.previous_state ?? '-'} -> ${entry.new_state ?? '-'}`
    ])
    print(table(['NO', 'AT', 'ACTION', 'CAPSULE', 'BY', 'STATE'], lines, ['NO']))
    const next = options.offset + value.entries.length
    if (next < value.total) say(`${next} of ${value.total}; more: --offset ${next}`)
  })

function verify(options: VerifyOptions): Promise<void> {
  if (options.database) return reported(options, () => inDatabase(options))
  if (options.checkpoints !== undefined)
    return reported(options, async () => {
      throw new CliError('usage', '--checkpoints: goes with --database, where the trail can be compared with it')
    })
  return withService(options, async (api) => {
    const query = options.team ? `?team_id=${options.team}` : ''
    const { value, text } = await api.get<ServiceReport>(`/api/team/audit/verify${query}`)
    print(options.json ? text : `${trailText(value)}${outsideText(value)}`)
    if (!value.ok) process.exitCode = exitCodes.jobFailed
  })
}

async function inDatabase({ json, team, checkpoints }: VerifyOptions): Promise<void> {
  const report = await verifyDatabase(team, checkpoints)
  print(json ? JSON.stringify(report) : databaseText(report))
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
  if (unreadable.length > 0) lines.push(`Lines of it that hold no checkpoint: ${unreadable.slice(0, 10).join(', ')}`)
  for (const { key_id: id, reason } of report.suspect_keys) lines.push(`SUSPECT key ${id}: ${plainLine(reason)}`)
  if (!report.keys_proven)
    lines.push('Without SECRETS_KEYS nobody can tell whether the keys in the database are those of the installation.')
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
  if (!ok) return 'NOT PROVED: nothing is wrong in the database, and what lies outside it could not be read'
  const points = checkpoints === 0 ? 'no checkpoint yet' : `signed up to entry ${signed}`
  return `intact: ${entries} ${entries === 1 ? 'entry' : 'entries'}, ${points}, ${seals} sealed ${seals === 1 ? 'capsule' : 'capsules'} as sealed`
}

const keysText = (keys: SigningKey[]): string =>
  keys.length === 0
    ? 'No key yet: one is made with the first start of a service that has SECRETS_KEYS.'
    : keys
        .map(
          (key) =>
            `${key.key_id}  ${key.algorithm}  since ${clockTime(key.created_at)}${key.retired_at ? `, retired ${clockTime(key.retired_at)}` : ''}\n${key.public_key_pem.trimEnd()}`
        )
        .join('\n\n')

function uuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be an id.')
  return text
}
