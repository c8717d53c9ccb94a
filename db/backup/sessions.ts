// The one session in which a backup is read or restored, and the catalogue of what it holds.
import type postgres from 'postgres'
import { ServiceError } from '../../domain/errors.js'
import { openDriver } from '../connection/driver.js'
import type { Migration } from '../migrate.js'

export type BackupTx = postgres.TransactionSql

/** One table of a large installation takes minutes. A command that was suspended must not hold its snapshot for ever. */
const STATEMENT_MS = 6 * 3_600_000

/** The address of a database, and what stops the work on it. */
export interface BackupPlace {
  url: string
  /** `false`: a pooler refuses them. */
  startupParameters?: boolean
  signal: AbortSignal
}

/** After this time, the end of the session takes everything back. */
const ROLLBACK_SECONDS = 3

/**
 * Runs the work in one transaction, in a session whose settings make COPY write and read the same text everywhere.
 * @param mode of the transaction.
 * @param signal takes everything back, also while a statement waits.
 */
export async function inOneTransaction<T>(
  { url, startupParameters, signal }: BackupPlace,
  mode: string,
  work: (tx: BackupTx) => Promise<T>
): Promise<T> {
  signal.throwIfAborted()
  // Not the service's own name: a restore refuses to run next to those.
  const { sql, watch } = openDriver(url, { max: 1, startupParameters, applicationName: 'qjob-backup' })
  let failure: { error: unknown } | null = null
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  aborted.catch(() => {})
  try {
    return (await sql.begin(mode, (tx) =>
      watch(
        (async () => {
          await tx.unsafe(
            `set local statement_timeout = ${STATEMENT_MS}; set local idle_in_transaction_session_timeout = ${STATEMENT_MS};
            set local lock_timeout = '60s'; set local client_encoding = 'UTF8'; set local datestyle = 'ISO, YMD';
            set local intervalstyle = 'postgres'; set local timezone = 'UTC'; set local extra_float_digits = 1;
            set local bytea_output = 'hex'; set local search_path = public`
          )
          return Promise.race([work(tx), aborted])
        })().catch((error: unknown) => {
          failure = { error }
          // The rollback waits for a statement that waits itself.
          void sql.end({ timeout: ROLLBACK_SECONDS })
          throw error
        })
      )
    )) as T
  } catch (error) {
    // A rollback fails in the middle of a COPY, and would hide the reason. The end of the session undoes everything.
    throw failure ? (failure as { error: unknown }).error : error
  } finally {
    await sql.end({ timeout: 5 })
  }
}

export interface TableColumns {
  name: string
  columns: string[]
}

/** The ordinary tables of the schema `public` with the columns that can be written. */
export async function tablesIn(tx: BackupTx): Promise<TableColumns[]> {
  const rows = await tx<TableColumns[]>`
    select c.relname as name, string_agg(a.attname, ',' order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      and not exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    group by c.relname order by c.relname`
  return rows.map(({ name, columns }) => ({ name, columns: String(columns).split(',') }))
}

/** The tables that the migrations up to `last` make. */
export function tablesOf(migrations: readonly Migration[], last: string): string[] {
  const names = new Set<string>()
  for (const { tag, statements } of migrations) {
    for (const [, verb, name] of statements.join('\n').matchAll(/^(CREATE|DROP) TABLE (?:IF EXISTS )?"(\w+)"/gm))
      if (verb === 'CREATE') names.add(name!)
      else names.delete(name!)
    if (tag === last) break
  }
  return [...names].sort()
}

/** Columns and names come from the catalogue, and are lower-case words. */
export const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')

export const refused = (message: string): ServiceError => new ServiceError('conflict', message)
