// `qjob admin migrate`: migrates the database before the processes of a new version start.
import type { Command } from 'commander'
import { migrate } from '../../../../db/migrate.js'
import { jsonOption, reportingFailures } from '../../session/service-command.js'
import { printNotice, printResult } from '../../terminal/output.js'
import { atDatabase, databaseHelp } from './admin-database.js'

const help =
  '\nRun it before the first api or worker of a new version starts. Those of the previous version keep ' +
  'running. It can be stopped and repeated, and waits while another process migrates, restores or backs up. ' +
  'With MIGRATE=check, api and worker never migrate.'

export function addMigrateCommand(admin: Command): void {
  jsonOption(
    admin.command('migrate').description('migrate the database to the schema of this version, and seed its catalogue')
  )
    .addHelpText('after', databaseHelp + help)
    .action((options: { json?: boolean }) => reportingFailures(options, () => run(options)))
}

async function run(options: { json?: boolean }): Promise<void> {
  const { schema, seeds } = await atDatabase((url, own) =>
    migrate(url, { ...(own && { startupParameters: own.startupParameters }), log: printNotice })
  )
  const isSame = schema.from === schema.to && seeds.from === seeds.to
  printResult(options, JSON.stringify({ schema, seeds }), () =>
    [
      ...(isSame ? ['Nothing to do.'] : []),
      `schema: ${schema.from === schema.to ? `${schema.to} migrations` : `from ${schema.from} to ${schema.to} migrations`}`,
      `seeds: ${seeds.from === seeds.to ? `version ${seeds.to}` : `from version ${seeds.from} to ${seeds.to}`}`
    ].join('\n')
  )
}
