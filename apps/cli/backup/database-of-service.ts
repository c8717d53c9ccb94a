// The database that `qjob admin backup` and `restore` work on: that of DATABASE_URL, of the running stack, or of a stack
// that does not run.
import type { BackupPlace } from '../../../db/backup/sessions.js'
import { postgresCode } from '../../../db/client.js'
import { codeOf } from '../../../domain/errors.js'
import { reasonOf } from '../../../domain/operations/reason.js'
import { isRunning } from '../../../tools/process-lock.mjs'
import { runningStack } from '../session/service-url.js'
import { operatorDatabase, placeOf } from '../stack/operator-database.js'
import { dataFolder } from '../stack/project.js'
import { withStoppedDatabase } from '../stack/stopped-database.js'
import { CliError } from '../terminal/cli-error.js'
import { printNotice } from '../terminal/output.js'

interface Work {
  command: 'backup' | 'restore'
  signal: AbortSignal
}

export type Place = Omit<BackupPlace, 'signal'>

/** @throws CliError with the reason if the database is unreachable, in use or refuses. */
export async function withDatabase<T>({ command, signal }: Work, work: (place: Place) => Promise<T>): Promise<T> {
  const own = operatorDatabase()
  const running = own ? null : addressOfRunning()
  if (running && command === 'restore')
    throw new CliError(
      'refused',
      `the service is running from ${dataFolder()}: stop it, and restore into a new DATA_DIR`
    )
  const url = own?.directUrl ?? running
  try {
    if (url) return await work({ url, ...(own && { startupParameters: own.startupParameters }) })
    const stopped = { dataDir: dataFolder(), purpose: `qjob admin ${command}`, create: command === 'restore', signal }
    return await withStoppedDatabase({ ...stopped, report: printNotice }, (url) => work({ url }))
  } catch (error) {
    if (signal.aborted) throw new CliError('refused', 'interrupted; nothing is left of it')
    throw translated(error, url ? placeOf(url) : dataFolder())
  }
}

function addressOfRunning(): string | null {
  const stack = runningStack()
  const postgres = stack?.processes.postgres
  // A killed stack leaves its addresses behind.
  return stack?.database_url && (!postgres || isRunning(postgres)) ? stack.database_url : null
}

function translated(error: unknown, place: string): unknown {
  if (error instanceof CliError) return error
  if (codeOf(error)) return new CliError('refused', (error as Error).message)
  const code = postgresCode(error)
  if (code && /^(E[A-Z]+|CONNECT.*|08.*|57P03|28.*|3D.*)$/.test(code))
    return new CliError('unreachable', `the database at ${place} cannot be used (${code}: ${reasonOf(error)})`)
  return new CliError('refused', reasonOf(error), {}, { cause: error })
}
