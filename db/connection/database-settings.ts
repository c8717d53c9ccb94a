// How a process reaches the database, from its environment.
import { readDatabaseAddress } from './database-address.js'
import type { DriverOptions } from './driver.js'

export interface DatabaseSettings extends Required<Pick<DriverOptions, 'prepares' | 'startupParameters'>> {
  /** For the pool. */
  url: string
  /** For what needs a session of its own: notifications, migrations, backups. */
  directUrl: string
  poolMax: number
}

type Environment = Readonly<Record<string, string | undefined>>

/** A transaction, and a statement next to it. */
const POOL_MIN = 2
/** More than the connections that a Postgres server is usually given. */
const POOL_LIMIT = 500

/** @param poolDefault connections of this program's pool. @throws Error naming the variable that is missing or malformed. */
export function readDatabaseSettings(env: Environment, poolDefault: number): DatabaseSettings {
  const url = env.DATABASE_URL
  if (!url) throw new Error('DATABASE_URL is not set; npm start sets it, docs/operations/configuration.md describes it')
  const directUrl = env.DATABASE_DIRECT_URL || url
  readDatabaseAddress(url)
  readDatabaseAddress(directUrl, 'DATABASE_DIRECT_URL')
  return {
    url,
    directUrl,
    poolMax: poolMaxOf(env.DATABASE_POOL_MAX || String(poolDefault)),
    prepares: isOn('DATABASE_PREPARED_STATEMENTS', env.DATABASE_PREPARED_STATEMENTS),
    startupParameters: isOn('DATABASE_STARTUP_PARAMETERS', env.DATABASE_STARTUP_PARAMETERS)
  }
}

function poolMaxOf(text: string): number {
  const max = Number(text)
  if (!/^\d{1,3}$/.test(text) || max < POOL_MIN || max > POOL_LIMIT)
    throw new Error(`DATABASE_POOL_MAX must be a whole number from ${POOL_MIN} to ${POOL_LIMIT} (got ${text})`)
  return max
}

function isOn(name: string, text = 'on'): boolean {
  if (text === '' || text === 'on') return true
  if (text === 'off') return false
  throw new Error(`${name} must be on or off (got ${text})`)
}
