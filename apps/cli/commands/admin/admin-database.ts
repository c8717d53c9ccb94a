// Opens the service's database for operators, who do not sign in.
import { type Connection, connect, postgresCode } from '../../../../db/client.js'
import type { DatabaseSettings } from '../../../../db/connection/database-settings.js'
import { readMigrations } from '../../../../db/schema/migration-files.js'
import { assertComplete, readSchema } from '../../../../db/schema/schema-state.js'
import { codeOf } from '../../../../domain/errors.js'
import { readOperatorLimits } from '../../../../domain/operations/operator-limits.js'
import { openContentStore } from '../../../../services/content-store/open-store.js'
import { readS3Settings } from '../../../../services/content-store/s3-settings.js'
import { idArgument } from '../../session/service-command.js'
import { runningStack } from '../../session/service-url.js'
import { operatorDatabase, placeOf } from '../../stack/operator-database.js'
import { CliError } from '../../terminal/cli-error.js'

export const databaseHelp = '\nUses the database of DATABASE_URL, or else of the stack running from DATA_DIR (.data).'

/**
 * Opens the database for one piece of work.
 * @throws CliError with the reason if it is unreachable or refuses, or if its schema is not one for this version.
 */
export const inDatabase = <T>(work: (connection: Connection) => Promise<T>): Promise<T> =>
  atDatabase(async (url, own) => {
    const contentStore = await openContentStore(readS3Settings(process.env))
    const connection = connect(url, { ...own, max: 1, settings: readOperatorLimits(process.env), contentStore })
    try {
      const schema = await readSchema(connection.sql)
      // A copy of the tables alone has no record of its migrations.
      if (schema.applied.length > 0) assertComplete(readMigrations(), schema)
      return await work(connection)
    } finally {
      await connection.close()
      contentStore?.close()
    }
  })

/** Does one piece of work with the address of the database. @throws CliError with the reason if it is unreachable or refuses. */
export async function atDatabase<T>(work: (url: string, own: DatabaseSettings | null) => Promise<T>): Promise<T> {
  const own = operatorDatabase()
  const url = own?.directUrl ?? runningStack()?.database_url
  if (!url)
    throw new CliError(
      'unreachable',
      'no database: start the service (npm start), name its data folder with DATA_DIR, or set DATABASE_URL'
    )
  try {
    return await work(url, own)
  } catch (error) {
    throw translated(error, placeOf(url))
  }
}

function translated(error: unknown, host: string): unknown {
  if (codeOf(error)) return new CliError('refused', (error as Error).message)
  const code = postgresCode(error)
  if (code === '23505') return new CliError('refused', 'this access code already exists: choose another')
  if (code === '42P01')
    return new CliError(
      'unreachable',
      `the database at ${host} has no tables yet: run "qjob admin migrate", or start the service once`
    )
  if (code && /^(28|3D)/.test(code))
    return new CliError(
      'unreachable',
      `the database at ${host} rejects these credentials (${code}): check DATABASE_URL`
    )
  if (code && /^(E[A-Z]+|CONNECT.*|08.*|57P03)$/.test(code))
    return new CliError('unreachable', `the database at ${host} does not respond (${code}): is the service running?`)
  return error
}

/** An argument of a command. */
export const teamId = idArgument('team', 'qjob admin teams')
