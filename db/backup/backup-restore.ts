// Restores a backup into an empty database, in one transaction: the tables as they were at the time of the backup, the
// rows, then the migrations since. A restore that fails at any point leaves the database empty.
import type { BackupHead } from '../../domain/operations/backup.js'
import { applyInside, createJournal } from '../schema/apply-migrations.js'
import type { Migration } from '../schema/migration-files.js'
import { MIGRATION_LOCK } from '../schema/migration-lock.js'
import { type CopyIn, copyIn } from './copy-in.js'
import { reopenWork } from './reopened-work.js'
import { type BackupPlace, type BackupTx, inOneTransaction, quoted, refused, tablesIn } from './sessions.js'

export interface Restoring {
  /** Creates the empty tables of the backup. Before any rows. */
  begin(head: BackupHead): Promise<void>
  /** Writes rows. The tables one after the other, each in any number of pieces, cut anywhere. */
  write(table: string, piece: Buffer): Promise<void>
  /** Completes the tables and migrates them to this version. @returns the rows of each table. */
  complete(): Promise<Map<string, number>>
}

interface OpenRestoring extends Restoring {
  /** Stops a COPY that is under way, after a failure. */
  abort(): void
}

/**
 * @param place a database without tables, whose owner the role is. No superuser is needed.
 * @param work reads the backup; what it returns is committed, and nothing remains if it throws.
 */
export async function intoEmptyDatabase<T>(
  place: BackupPlace,
  migrations: readonly Migration[],
  work: (restoring: Restoring) => Promise<T>
): Promise<T> {
  const result = await inOneTransaction(place, 'isolation level read committed', async (tx) => {
    await refuseUnlessFree(tx)
    const restoring = restoringIn(tx, migrations)
    return work(restoring).catch((error: unknown) => {
      restoring.abort()
      throw error
    })
  })
  // The planner knows nothing of the new rows. Without this, autovacuum tells it within minutes.
  await inOneTransaction(place, 'read write', (tx) => tx.unsafe('analyze')).catch(() => {})
  return result
}

/** @throws ServiceError `conflict` if anything is in the database or uses it. */
async function refuseUnlessFree(tx: BackupTx): Promise<void> {
  // Held until the end: a service that starts now waits, as for another one that migrates.
  const [lock] = await tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as mine`
  if (!lock!.mine) throw refused('another process is migrating or restoring this database: stop the service first')
  const [user] = await tx<{ name: string }[]>`
    select application_name as name from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name = 'quantum-job-service' limit 1`
  if (user) throw refused('the service is using this database: stop it first (api and worker)')
  const present = await tx<{ name: string }[]>`
    select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      and not exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by c.relkind <> 'r', 1`
  if (present.length > 0)
    throw refused(
      `the database is not empty (${present.length} tables and views, such as ${present[0]!.name}): restore into a new database, or a new DATA_DIR`
    )
}

interface ForeignKey {
  table: string
  name: string
  definition: string
}

function restoringIn(tx: BackupTx, migrations: readonly Migration[]): OpenRestoring {
  let schemaAt = -1
  let head: BackupHead
  let keys: ForeignKey[] = []
  let open: { table: string; rows: CopyIn } | null = null
  const done = new Set<string>()

  async function close(): Promise<void> {
    await open?.rows.end()
    open = null
  }

  return {
    async begin(given) {
      head = given
      schemaAt = migrations.findIndex(({ tag }) => tag === head.schema)
      await createJournal(tx)
      await apply(tx, migrations.slice(0, schemaAt + 1))
      await refuseOtherTables(tx, head)
      keys = await dropForeignKeys(tx)
      const all = (await tablesIn(tx)).map(({ name }) => name)
      // Guards and meters did their work when the rows were first written. The owner of a table can stop its triggers,
      // but not the checks of foreign keys, which are therefore made again afterwards.
      for (const name of all) await tx.unsafe(`alter table ${quoted([name])} disable trigger user`)
      await tx.unsafe(`truncate ${quoted(all)}`)
    },

    async write(table, piece) {
      if (open?.table !== table) {
        await close()
        const columns = head.tables.find(({ name }) => name === table)?.columns
        if (!columns || done.has(table)) throw refused(`${table}: not a table of the backup, or in two places`)
        done.add(table)
        open = { table, rows: await copyIn(tx, `copy ${quoted([table])} (${quoted(columns)}) from stdin`) }
      }
      await open.rows.write(piece)
    },

    async complete() {
      await close()
      const counts = new Map<string, number>()
      for (const { name } of head.tables) {
        const [row] = await tx.unsafe<{ rows: string }[]>(`select count(*)::text as rows from ${quoted([name])}`)
        counts.set(name, Number(row!.rows))
      }
      for (const { table, name, definition } of keys)
        await tx.unsafe(`alter table ${table} add constraint ${quoted([name])} ${definition}`)
      for (const { name } of await tablesIn(tx)) await tx.unsafe(`alter table ${quoted([name])} enable trigger user`)
      await apply(tx, migrations.slice(schemaAt + 1))
      await reopenWork(tx, head)
      return counts
    },

    abort: () => open?.rows.abort()
  }
}

async function apply(tx: BackupTx, migrations: readonly Migration[]): Promise<void> {
  for (const migration of migrations) await applyInside(tx, migration)
}

async function refuseOtherTables(tx: BackupTx, head: BackupHead): Promise<void> {
  const here = new Map((await tablesIn(tx)).map(({ name, columns }) => [name, new Set(columns)]))
  for (const { name, columns } of head.tables) {
    const strange = columns.find((column) => !here.get(name)?.has(column))
    if (strange || columns.length === 0)
      throw refused(`the backup has a column ${name}.${strange ?? ''}, which the schema ${head.schema} does not have`)
  }
}

/** With them, each row would be looked up as it is written, and the order of the tables would matter. */
async function dropForeignKeys(tx: BackupTx): Promise<ForeignKey[]> {
  const keys = await tx<ForeignKey[]>`
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace order by 1, 2`
  for (const { table, name } of keys) await tx.unsafe(`alter table ${table} drop constraint ${quoted([name])}`)
  return keys
}
