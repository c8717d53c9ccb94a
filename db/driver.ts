import postgres from 'postgres'
import { readDatabaseTls } from './database-tls.js'

/** The driver of Postgres for an address, with TLS as the address asks for it. It connects with the first query. */
export function openDriver(databaseUrl: string, options: postgres.Options<Record<string, never>>): postgres.Sql {
  const { url, ssl } = readDatabaseTls(databaseUrl)
  return postgres(url, { onnotice: () => {}, connect_timeout: 5, ...(ssl !== undefined && { ssl }), ...options })
}
