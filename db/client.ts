// The connection pool and its drizzle face. On this client raw queries take strings, never Dates: drizzle changes how
// the driver writes and reads timestamps.
import { type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { type ConnectionKeeper, survivingConnectionLoss } from './connection-loss.js'

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
  const { options: steadily, watch } = survivingConnectionLoss({
    application_name: 'quantum-job-service',
    statement_timeout: options.statementTimeoutMs ?? 10_000
  })
  const pool = postgres(databaseUrl, {
    max: options.max ?? 10,
    connect_timeout: 5,
    onnotice: () => {},
    ...steadily
  })
  return { db: drizzle(withPreparedStatements(pool, watch)), sql: pool, close: () => pool.end({ timeout: 5 }) }
}

/**
 * drizzle sends every query unprepared, which costs a second round trip and a new plan each time. The driver prepares
 * per connection when asked to; lists of varying length therefore go as one array parameter (`anyOf`), or each length
 * would be a statement of its own.
 */
function withPreparedStatements<T extends postgres.Sql | postgres.TransactionSql>(
  client: T,
  watch: ConnectionKeeper['watch']
): T {
  const unsafe = client.unsafe.bind(client)
  const nested =
    (begin: (run: (inner: postgres.TransactionSql) => unknown) => unknown) =>
    (run: (inner: postgres.TransactionSql) => unknown) =>
      begin((inner) => watch((async () => run(withPreparedStatements(inner, watch)))()))
  const overrides: Record<string, unknown> = {
    unsafe: (query: string, parameters: never[], options: object) =>
      // drizzle says no for each query that it was not asked to prepare.
      unsafe(query, parameters, { ...options, prepare: true })
  }
  if ('begin' in client) overrides.begin = nested(client.begin.bind(client) as never)
  if ('savepoint' in client) overrides.savepoint = nested(client.savepoint.bind(client) as never)
  return new Proxy(client, { get: (target, key) => overrides[key as string] ?? Reflect.get(target, key) })
}

/** `column` is one of the ids. */
export const anyOf = (column: AnyPgColumn, ids: string[]): SQL =>
  sql`${column} = any(string_to_array(${ids.join(',')}, ',')::uuid[])`

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
