import postgres from 'postgres'
import { type ConnectionKeeper, noticesLostClients, survivingConnectionLoss } from './connection-loss.js'
import { readDatabaseAddress } from './database-address.js'

export interface DriverOptions {
  /** Connections of the pool. */
  max: number
  /** `false`: nothing is prepared, for poolers that share a session among clients. */
  prepares?: boolean
  /** `false`: sessions begin without parameters that poolers refuse; the role must have their values. */
  startupParameters?: boolean
  /** Shown in the server's list of sessions. */
  applicationName?: string
  /** Further parameters of each session. */
  parameters?: Record<string, string | number>
}

export interface Driver extends Omit<ConnectionKeeper, 'options'> {
  sql: postgres.Sql
}

/** The driver of Postgres for an address, in the words of libpq. It connects with the first query. */
export function openDriver(databaseUrl: string, options: DriverOptions): Driver {
  const { max, prepares = true, startupParameters = true, applicationName, parameters } = options
  const address = readDatabaseAddress(databaseUrl)
  const { options: keeping, ...keeper } = survivingConnectionLoss(address, {
    ...(applicationName && { application_name: applicationName }),
    ...(startupParameters && { ...noticesLostClients, ...parameters })
  })
  const sql = postgres(address.driverUrl, {
    max,
    prepare: prepares,
    onnotice: () => {},
    // For its messages alone. With a list of its own, it would wait for itself to try the next one.
    host: address.hosts.map(({ host }) => host).join(' or '),
    port: address.hosts[0]!.port,
    ...keeping
  })
  return { sql, ...keeper }
}
