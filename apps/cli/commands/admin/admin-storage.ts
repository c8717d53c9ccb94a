// `qjob admin storage`: what a team stores, and its limit.
import { type Command, InvalidArgumentError } from 'commander'
import { changeStorageLimit } from '../../../../db/admin/administration.js'
import { commandLine } from '../../../../db/audit/admin-audit.js'
import { storageOf } from '../../../../db/teams/team-storage.js'
import { teamExists } from '../../../../db/teams/teams.js'
import { teamStorageView } from '../../../../domain/operations/administration.js'
import { sizeText, storageKindNames, storageKinds } from '../../../../domain/teams/team-storage.js'
import { jsonOption, reportingFailures } from '../../session/service-command.js'
import { CliError } from '../../terminal/cli-error.js'
import { table } from '../../terminal/layout.js'
import { print, printJson } from '../../terminal/output.js'
import { databaseHelp, inDatabase, teamId } from './admin-database.js'

const MIB = 1024 ** 2

export function addStorageCommand(admin: Command): void {
  jsonOption(
    admin
      .command('storage')
      .argument('<team-id>', '', teamId)
      .description('show what a team stores, or change its limit')
  )
    .option('--limit <mib>', 'the new limit in MiB, or "default"', limit)
    .addHelpText('after', databaseHelp)
    .action((id: string, options: { json?: boolean; limit?: number | null }) =>
      reportingFailures(options, () => storage(id, options))
    )
}

async function storage(id: string, options: { json?: boolean; limit?: number | null }): Promise<void> {
  const stored = await inDatabase(async ({ db }) => {
    if (options.limit !== undefined) return changeStorageLimit(db, commandLine, id, options.limit)
    if (!(await teamExists(db, id))) throw new CliError('refused', 'no such team')
    return storageOf(db, id)
  })
  if (options.json) return printJson(JSON.stringify(teamStorageView(id, stored)))
  const lines = storageKindNames.map((kind) => [storageKinds[kind], sizeText(stored.byKind[kind])])
  print(
    `${sizeText(stored.used)} of ${sizeText(stored.limit)} used.\n${table(
      [
        { heading: 'WHAT', least: 12 },
        { heading: 'SIZE', right: true }
      ],
      lines
    )}`
  )
}

function limit(text: string): number | null {
  if (text === 'default') return null
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of MiB, or "default".')
  return Number(text) * MIB
}
