// Opens the service's database for operators, who do not sign in.
import { type Connection, connect, postgresCode } from '../../../../db/client.js'
import { codeOf } from '../../../../domain/errors.js'
import { readOperatorLimits } from '../../../../domain/operations/operator-limits.js'
import { idArgument } from '../../session/service-command.js'
import { runningStack } from '../../session/service-url.js'
import { operatorDatabase, placeOf } from '../../stack/operator-database.js'
import { CliError } from '../../terminal/cli-error.js'

export const databaseHelp = '\nUses the database of DATABASE_URL, or else of the stack running from DATA_DIR (.data).'

/** Opens the database for one piece of work. @throws CliError with the reason if it is unreachable or refuses. */
export async function inDatabase<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const own = operatorDatabase()
  const url = own?.directUrl ?? runningStack()?.database_url
  if (!url)
    throw new CliError(
      'unreachable',
      'no database: start the service (npm start), name its data folder with DATA_DIR, or set DATABASE_URL'
    )
  const connection = connect(url, { ...own, max: 1, settings: readOperatorLimits(process.env) })
  try {
    return await work(connection)
  } catch (error) {
    throw translated(error, placeOf(url))
  } finally {
    await connection.close()
  }
}

function translated(error: unknown, host: string): unknown {
  if (codeOf(error)) return new CliError('refused', (error as Error).message)
  const code = postgresCode(error)
  if (code === '23505') return new CliError('refused', 'this access code already exists: choose another')
  if (code === '42P01')
    return new CliError('unreachable', `the database at ${host} has no tables yet: start the service once`)
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
