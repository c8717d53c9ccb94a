// The operator's own database, as the environment describes it.
import { hostNames, readDatabaseAddress } from '../../../db/connection/database-address.js'
import { type DatabaseSettings, readDatabaseSettings } from '../../../db/connection/database-settings.js'
import { CliError } from '../terminal/cli-error.js'
import { checkReachable } from './parts/operator-parts.js'

/** Commands do one thing at a time. */
const POOL_MAX = 2

/** @returns `null` without DATABASE_URL. @throws CliError naming the variable that is malformed. */
export function operatorDatabase(env: NodeJS.ProcessEnv = process.env): DatabaseSettings | null {
  if (!env.DATABASE_URL) return null
  try {
    return readDatabaseSettings(env, POOL_MAX)
  } catch (error) {
    throw new CliError('usage', (error as Error).message)
  }
}

/** The hosts of an address, for messages. */
export const placeOf = (databaseUrl: string): string => hostNames(readDatabaseAddress(databaseUrl).hosts)

/** Rejects with a message that names the variable if none of the hosts accepts a connection. */
export async function checkDatabaseReachable(databaseUrl: string): Promise<string> {
  const { hosts } = readDatabaseAddress(databaseUrl)
  const servers = hosts.filter(({ host }) => !host.startsWith('/'))
  if (servers.length === hosts.length)
    await Promise.any(servers.map(({ host, port }) => checkReachable('DATABASE_URL', host, port))).catch(
      (error: AggregateError) => {
        throw error.errors[0]
      }
    )
  return databaseUrl
}
