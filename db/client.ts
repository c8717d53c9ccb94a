// The connection pool and drizzle on top of it. On this client raw queries take strings, never Dates: drizzle changes
// how the driver writes and reads timestamps.
import { is, Placeholder, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import type { OperatorLimits } from '../domain/operations/operator-limits.js'
import { type Driver, openDriver } from './connection/driver.js'
import { createOutageGate, type OutageGate } from './connection/outage-gate.js'
import { type ContentStore, connectStore } from './content-store.js'
import { withCorrectRows } from './driver-rows.js'
import { withholdParameters } from './failed-query.js'
import { withLimits } from './operator-limit.js'

withholdParameters()

export type Db = PostgresJsDatabase<Record<string, never>>
export type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]
/** Inside a transaction only its `tx` can be used: taking a second connection there can deadlock the pool. */
export type DbOrTx = Db | Tx

export interface Connection {
  /** Rows are read through it alone: db/driver-rows.ts corrects them. */
  db: Db
  /**
   * The driver itself, for tools and tests. A process of the service must not use it: its statements share a connection with
   * others, and after a pause of PgBouncer (1.18) such a connection waits for ever.
   */
  sql: postgres.Sql
  close(): Promise<void>
}

/**
 * How long a transaction can be idle before Postgres ends its session: a frozen process releases its locks after this
 * time. A verdict is computed inside a transaction and takes up to a minute.
 */
const IDLE_IN_TRANSACTION_MS = 90_000

export interface ConnectionOptions {
  /** Connections of the pool. */
  max?: number
  /** Postgres cancels a statement that runs longer. */
  statementTimeoutMs?: number
  idleInTransactionMs?: number
  /** The operator's limits, which queries read with `operatorLimit`. */
  settings?: OperatorLimits
  /** Where contents are that rows name and do not hold; `null`: in rows alone. */
  contentStore?: ContentStore | null
  /** `false`: nothing is prepared, for poolers that share a session among clients. */
  prepares?: boolean
  /** `false`: sessions begin without parameters that poolers refuse; the role must have their values. */
  startupParameters?: boolean
  /** The pool has left a server that has become read-only. A connection that only listens does not notice it. */
  onServerLeft?(): void
}

export const APPLICATION_NAME = 'quantum-job-service'

/** What protects other processes from a session whose process waits, is frozen or cut off. */
export const sessionTimeouts = {
  statement_timeout: 10_000,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS
}

export function connect(databaseUrl: string, options: ConnectionOptions = {}): Connection {
  const { max = 10, prepares, startupParameters, settings, contentStore = null, onServerLeft } = options
  const driver = openDriver(databaseUrl, {
    max,
    prepares,
    startupParameters,
    applicationName: APPLICATION_NAME,
    parameters: {
      statement_timeout: options.statementTimeoutMs ?? sessionTimeouts.statement_timeout,
      idle_in_transaction_session_timeout:
        options.idleInTransactionMs ?? sessionTimeouts.idle_in_transaction_session_timeout
    }
  })
  const guards = { ...driver, prepare: prepares ?? true, limits: settings ?? null, contentStore, onServerLeft }
  const client = guarded(driver.sql, guards, createOutageGate(driver.outage))
  return { db: drizzle(client), sql: driver.sql, close: () => driver.sql.end({ timeout: 5 }) }
}

interface Guards extends Pick<Driver, 'watch' | 'leaveServer'>, Pick<ConnectionOptions, 'onServerLeft'> {
  prepare: boolean
  limits: OperatorLimits | null
  contentStore: ContentStore | null
}

/**
 * The driver's own word for a statement that gets its connection for itself. A second one, sent before the first has ended,
 * could wait behind a lock; and PgBouncer (1.18) can forget it when both arrive together, so that it waits for ever.
 */
const alone = () => false

const always: OutageGate = (send) => send()

const READ_ONLY = '25006'

/**
 * drizzle sends every query unprepared, which costs a second round trip and a new plan each time. The driver prepares
 * statements per connection on request. Lists of varying length therefore go as one array parameter (`anyOf`);
 * otherwise each length would be a statement of its own.
 */
function guarded<T extends postgres.Sql | postgres.TransactionSql>(client: T, guards: Guards, gate: OutageGate): T {
  const unsafe = client.unsafe.bind(client)
  const nested =
    (begin: (run: (inner: postgres.TransactionSql) => unknown) => Promise<unknown>) =>
    (run: (inner: postgres.TransactionSql) => unknown) =>
      gate(() => begin((inner) => guards.watch((async () => run(guarded(inner, guards, always)))())))
  const onError = (error: unknown): void => {
    if (postgresCode(error) === READ_ONLY && guards.leaveServer()) guards.onServerLeft?.()
  }
  const overrides: Record<string, unknown> = {
    unsafe: (query: string, parameters: never[], options: object) => {
      // drizzle explicitly disables preparing for each query.
      const text = withLimits(query, guards.limits)
      const own: object = { ...options, prepare: guards.prepare, onexecute: alone }
      return withCorrectRows(unsafe(text, parameters, own), { onError, gate })
    }
  }
  if ('begin' in client) overrides.begin = nested(client.begin.bind(client) as never)
  if ('savepoint' in client) overrides.savepoint = nested(client.savepoint.bind(client) as never)
  const own = new Proxy(client, { get: (target, key) => overrides[key as string] ?? Reflect.get(target, key) })
  connectStore(own, guards.contentStore)
  return own
}

/** A list as one parameter; or the place of its text (`listText`) in a statement whose text is made once. */
type List = readonly string[] | Placeholder<string, string>

/** @param list its texts contain no comma. */
export const listText = (list: readonly string[]): string => list.join(',')

const asText = (list: List): string | Placeholder => (is(list, Placeholder) ? list : listText(list))

/** Whether `column` is one of the texts, none of which contains a comma. */
export const anyTextOf = (column: AnyPgColumn | SQL, texts: List): SQL =>
  sql`${column} = any(string_to_array(${asText(texts)}, ','))`

/** Whether `column` is one of the ids. */
export const anyOf = (column: AnyPgColumn, ids: List): SQL =>
  sql`${column} = any(string_to_array(${asText(ids)}, ',')::uuid[])`

/** The Postgres error code (`23505`, ...) of a thrown value, which drizzle wraps. */
export function postgresCode(error: unknown): string | null {
  for (let at = error as { code?: unknown; cause?: unknown } | undefined; at; at = at.cause as typeof at)
    if (typeof at.code === 'string') return at.code
  return null
}

/** The constraint that an insert or update violated. */
export function brokenConstraint(error: unknown): string | null {
  for (let at = error as { constraint_name?: unknown; cause?: unknown } | undefined; at; at = at.cause as typeof at)
    if (typeof at.constraint_name === 'string') return at.constraint_name
  return null
}
