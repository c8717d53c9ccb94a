// The database of the service, for what an operator does without signing in.
import { type Connection, connect, postgresCode } from '../../../../db/client.js'
import { codeOf } from '../../../../domain/errors.js'
import { runningStack } from '../../session/service-url.js'
import { CliError } from '../../terminal/cli-error.js'

export const databaseHelp =
  '\nThe database is the one that DATABASE_URL names, else that of the stack running from DATA_DIR (.data).'

/** Opens the database for one piece of work. @throws CliError saying why it cannot be reached, or what it refused. */
export async function inDatabase<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  const url = process.env.DATABASE_URL || runningStack()?.database_url
  if (!url)
    throw new CliError(
      'unreachable',
      'no database: start the service (npm start), name its data folder with DATA_DIR, or set DATABASE_URL'
    )
  if (!URL.canParse(url))
    throw new CliError('usage', 'DATABASE_URL: must be an address such as postgres://user:password@host:5432/name')
  const connection = connect(url, { max: 1 })
  try {
    return await work(connection)
  } catch (error) {
    throw translated(error, new URL(url).host)
  } finally {
    await connection.close()
  }
}

function translated(error: unknown, host: string): unknown {
  if (codeOf(error)) return new CliError('refused', (error as Error).message)
  const code = postgresCode(error)
  if (code === '23505') return new CliError('refused', 'this access code exists already: choose another')
  if (code === '42P01')
    return new CliError('unreachable', `the database at ${host} has no tables yet: start the service once`)
  if (code && /^(28|3D)/.test(code))
    return new CliError(
      'unreachable',
      `the database at ${host} lets nobody in with these credentials (${code}): check DATABASE_URL`
    )
  if (code && /^(E[A-Z]+|CONNECT.*|08.*|57P03)$/.test(code))
    return new CliError('unreachable', `the database at ${host} does not answer (${code}): is the service running?`)
  return error
}
