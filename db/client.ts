// The connection pool and its drizzle face. On this client raw queries take strings, never Dates: drizzle changes how
// the driver writes and reads timestamps.
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'

export type Db = PostgresJsDatabase<Record<string, never>>
export type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]
/** Inside a transaction only its `tx` may be used: a second connection taken there can deadlock the pool. */
export type DbOrTx = Db | Tx

export interface Connection {
  db: Db
  sql: postgres.Sql
  close(): Promise<void>
}

/** @param max connections of the pool; a statement that runs longer than `statementTimeoutMs` is cancelled by Postgres. */
export function connect(databaseUrl: string, options: { max?: number; statementTimeoutMs?: number } = {}): Connection {
  const sql = postgres(databaseUrl, {
    max: options.max ?? 10,
    connect_timeout: 5,
    onnotice: () => {},
    connection: { application_name: 'quantum-job-service', statement_timeout: options.statementTimeoutMs ?? 10_000 }
  })
  return { db: drizzle(sql), sql, close: () => sql.end({ timeout: 5 }) }
}

/** The Postgres error code (`23505`, ...) behind a thrown value, which drizzle wraps. */
export function postgresCode(error: unknown): string | null {
  for (let at = error as { code?: unknown; cause?: unknown } | undefined; at; at = at.cause as typeof at)
    if (typeof at.code === 'string') return at.code
  return null
}

/** The constraint that an insert or update broke. */
export function brokenConstraint(error: unknown): string | null {
  for (let at = error as { constraint_name?: unknown; cause?: unknown } | undefined; at; at = at.cause as typeof at)
    if (typeof at.constraint_name === 'string') return at.constraint_name
  return null
}
