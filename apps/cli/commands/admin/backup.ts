// `qjob admin backup` and `qjob admin restore`.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { BackupManifest } from '../../../../domain/operations/backup.js'
import { sizeText } from '../../../../domain/teams/team-storage.js'
import { ownKeys } from '../../backup/backup-keys.js'
import { withDatabase } from '../../backup/database-of-service.js'
import { intoFile, streamBackup } from '../../backup/make-backup.js'
import { type Restored, restoreBackup } from '../../backup/restore-backup.js'
import { jsonOption, reportingFailures } from '../../session/service-command.js'
import { areInContentStore, namedCheckpointsFile } from '../../stack/checkpoints-file.js'
import { dataFolder, projectVersion } from '../../stack/project.js'
import { onEndSignals } from '../../stack/signals.js'
import { CliError, exitCodes } from '../../terminal/cli-error.js'
import { print, printJson, printNotice } from '../../terminal/output.js'

const backupHelp =
  '\nBacks up the database of DATABASE_URL, or else of DATA_DIR (.data), whether the stack runs or not: one ' +
  'consistent snapshot, with the audit checkpoint file and the keys of SECRETS_KEYS or DATA_DIR. "-" writes ' +
  'to standard output. A file with keys gives access to every stored credential.'

const restoreHelp =
  '\nRestores into the empty database of DATABASE_URL, or else into a new DATA_DIR (.data), while no service ' +
  'runs there. Everything is verified first, and a restore that fails leaves nothing behind. "-" reads from ' +
  'standard input.'

interface BackupOptions {
  json?: boolean
  withoutKeys?: boolean
}

interface RestoreOptions extends BackupOptions {
  unproven?: boolean
}

export function addBackupCommands(admin: Command): void {
  jsonOption(admin.command('backup').argument('<file>').description('back up the database, keys and audit checkpoints'))
    .option('--without-keys', 'leave out the keys of stored credentials')
    .addHelpText('after', backupHelp)
    .action((file: string, options: BackupOptions) => interruptible(options, (signal) => backup(file, options, signal)))
  jsonOption(admin.command('restore').argument('<file>').description('restore a backup into an empty database'))
    .option('--without-keys', 'restore although no key opens the stored credentials')
    .option('--unproven', 'restore although no key at hand proves who made the backup')
    .addHelpText('after', restoreHelp)
    .action((file: string, options: RestoreOptions) =>
      interruptible(options, (signal) => restore(file, options, signal))
    )
}

async function interruptible(options: { json?: boolean }, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const ends = onEndSignals(printNotice)
  await reportingFailures(options, () => work(ends.signal))
  if (ends.signal.aborted && process.exitCode) process.exitCode = exitCodes.interrupted
}

async function backup(file: string, { json, withoutKeys }: BackupOptions, signal: AbortSignal): Promise<void> {
  const toOutput = file === '-'
  if (toOutput && (json || process.stdout.isTTY))
    throw new CliError(
      'usage',
      '"-" writes the backup to standard output: send it to a file or a program, without --json'
    )
  // A reader that stops early is no failure of other commands; half a backup is none.
  if (toOutput) process.stdout.removeAllListeners('error')
  const keys = ownKeys()
  if (!keys && !withoutKeys)
    throw new CliError(
      'usage',
      'no keys: set SECRETS_KEYS to the value that the api has, or DATA_DIR to its data folder. With --without-keys, the backup has no keys and no seal'
    )
  const named = namedCheckpointsFile(dataFolder())
  const checkpoints = existsSync(named) ? named : null
  const manifest = await withDatabase({ command: 'backup', signal }, (place) => {
    const input = {
      place: { ...place, signal },
      serviceVersion: projectVersion(),
      keys,
      includesKeys: !withoutKeys,
      checkpoints
    }
    return toOutput
      ? streamBackup(input, process.stdout)
      : intoFile(resolve(file), (target) => streamBackup(input, target))
  })
  const report = summary(manifest)
  if (json) return printJson(JSON.stringify({ file: resolve(file), ...report }))
  const line = `Backed up ${rowsOf(manifest)} of schema ${manifest.schema}${toOutput ? '' : ` to ${resolve(file)}`}.`
  ;(toOutput ? printNotice : print)(line)
  printNotice(
    manifest.includes_keys
      ? 'IT CONTAINS THE KEYS of all stored credentials: keep it where nobody else can read it, or use --without-keys.'
      : 'It has no keys: keep SECRETS_KEYS (or DATA_DIR/keys) in another place; without them no stored credential can be opened.'
  )
  const missing = elsewhere(manifest)
  if (missing) printNotice(`Not in the backup: ${missing}. Protect its bucket too.`)
  if (areInContentStore()) printNotice('The audit checkpoints are in the content store, not in the backup.')
  else if (!checkpoints) printNotice(`There is no audit checkpoint file ${named} yet; it is not in the backup.`)
}

async function restore(file: string, options: RestoreOptions, signal: AbortSignal): Promise<void> {
  const input = {
    file: file === '-' ? file : resolve(file),
    serviceVersion: projectVersion(),
    withoutKeys: options.withoutKeys === true,
    unproven: options.unproven === true,
    signal
  }
  const restored = await restoreBackup(input, (work) => withDatabase({ command: 'restore', signal }, work))
  const { manifest, proven, keysFile, checkpointsFile: checkpoints } = restored
  if (options.json)
    return print(JSON.stringify({ ...summary(manifest), proven, keys_file: keysFile, checkpoints_file: checkpoints }))
  print(`Restored ${rowsOf(manifest)} of ${manifest.created_at} (version ${manifest.service_version}).`)
  for (const line of notices(restored)) printNotice(line)
}

function notices({ manifest, proven, keysFile, checkpointsFile: checkpoints }: Restored): string[] {
  const missing = elsewhere(manifest)
  return [
    proven
      ? 'A key of this installation sealed the backup.'
      : 'Its digests are right, but no key from outside the backup proves who made it.',
    ...(keysFile ? [`The keys are in ${keysFile}.`] : []),
    ...(checkpoints ? [`The audit checkpoints are in ${checkpoints}.`] : []),
    ...(missing ? [`Not in the backup: ${missing}. Start the service with the CONTENT_STORE that has them.`] : []),
    'Start the service, then run: qjob audit verify --database. Everyone signs in again; open jobs continue or end with a reason.'
  ]
}

const summary = ({
  id,
  created_at,
  service_version,
  schema,
  postgres_version,
  includes_keys,
  contents_elsewhere,
  tables
}: BackupManifest) => ({
  id,
  created_at,
  service_version,
  schema,
  postgres_version,
  includes_keys,
  contents_elsewhere,
  rows: Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))
})

function elsewhere({ contents_elsewhere: there }: BackupManifest): string | null {
  return there && there.contents > 0
    ? `${there.contents} large ${there.contents === 1 ? 'content' : 'contents'} (${sizeText(there.bytes)}) in the content store alone`
    : null
}

function rowsOf({ tables }: BackupManifest): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const jobs = tables.find(({ name }) => name === 'jobs')?.rows ?? 0
  return `${jobs} jobs (${rows} rows in all)`
}
