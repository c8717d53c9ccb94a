// Reads the database for a backup: one snapshot, one session, table after table, while the service runs.
import { type BackupHead, tablesLeftOut } from '../../domain/operations/backup.js'
import type { Migration } from '../schema/migration-files.js'
import { MIGRATION_LOCK } from '../schema/migration-lock.js'
import { copyOut } from './copy-out.js'
import {
  type BackupPlace,
  type BackupTx,
  inOneTransaction,
  quoted,
  refused,
  type TableColumns,
  tablesIn,
  tablesOf
} from './sessions.js'

export type DatabaseFacts = Pick<
  BackupHead,
  'created_at' | 'schema' | 'postgres_version' | 'key_ids' | 'contents_elsewhere' | 'tables'
>

export interface Snapshot {
  facts: DatabaseFacts
  /** The rows of a table in the text format of COPY, one line for each. Must be read to its end before the next. */
  copy(table: TableColumns): AsyncIterable<Buffer>
}

/** @param work gets the snapshot, which ends with it. */
export const withSnapshot = <T>(
  place: BackupPlace,
  migrations: readonly Migration[],
  work: (snapshot: Snapshot) => Promise<T>
): Promise<T> =>
  inOneTransaction(place, 'isolation level repeatable read, read only', async (tx) =>
    work({
      facts: await factsOf(tx, migrations),
      copy: ({ name, columns }) => copyOut(tx, `copy ${quoted([name])} (${quoted(columns)}) to stdout`)
    })
  )

/** The time by the database's clock. */
export const databaseTime = (place: BackupPlace): Promise<string> =>
  inOneTransaction(place, 'read only', async (tx) => instant(await tx`select ${tx.unsafe(TIME)} as time`))

const TIME = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const instant = ([row]: readonly unknown[]): string => (row as { time: string }).time

async function factsOf(tx: BackupTx, migrations: readonly Migration[]): Promise<DatabaseFacts> {
  // A service of a newer version that starts now waits, instead of changing tables that are still to be read.
  const [lock] = await tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock_shared(${MIGRATION_LOCK}) as mine`
  if (!lock!.mine) throw refused('the database is being migrated: try again when the service has started')
  const schema = await schemaOf(tx, migrations)
  const tables = await tablesIn(tx)
  const known = tablesOf(migrations, schema)
  const strange = tables.find(({ name }) => !known.includes(name))
  if (strange)
    throw refused(
      `the table public.${strange.name} does not belong to the service: move it to another schema, so that the backup can be restored`
    )
  const [version] = await tx<{ version: string }[]>`select current_setting('server_version') as version`
  const keys = await tx<{ id: string }[]>`
    select ring_key_id as id from team_secrets union select ring_key_id from webhooks
    union select ring_key_id from signing_keys union select ring_key_id from sealed_mails order by 1`
  return {
    created_at: instant(await tx.unsafe(`select ${TIME} as time`)),
    schema,
    postgres_version: version!.version,
    key_ids: keys.map(({ id }) => id),
    contents_elsewhere: await contentsElsewhere(tx, tables),
    tables: tables.filter(({ name }) => !tablesLeftOut.includes(name))
  }
}

/** Contents that are in the content store and not in their rows. */
async function contentsElsewhere(tx: BackupTx, tables: readonly TableColumns[]) {
  const sum = { contents: 0, bytes: 0 }
  for (const { name } of tables.filter(
    ({ columns }) => columns.includes('object_key') && columns.includes('content')
  )) {
    const [there] = await tx<{ contents: string; bytes: string }[]>`
      select count(*) as contents, coalesce(sum(size_bytes), 0) as bytes from ${tx(name)}
      where object_key is not null and content is null`
    sum.contents += Number(there!.contents)
    sum.bytes += Number(there!.bytes)
  }
  return sum
}

/** The name of the last migration of the database. */
async function schemaOf(tx: BackupTx, migrations: readonly Migration[]): Promise<string> {
  const [there] = await tx<{ found: boolean }[]>`
    select to_regclass('drizzle.__drizzle_migrations') is not null as found`
  if (!there!.found)
    throw refused('the database has no tables yet: run "qjob admin migrate", or start the service once')
  const [last] = await tx<{ when: string; hash: string }[]>`
    select created_at::text as when, hash from drizzle.__drizzle_migrations order by created_at desc limit 1`
  const known = migrations.find(({ when, hash }) => String(when) === last?.when && hash === last.hash)
  if (!known) throw refused('a newer version has migrated the database: make the backup with that version')
  return known.tag
}
