// Migrates a database to the schema of this version and seeds it. A process calls it at its start, or `qjob admin migrate`
// before the processes of a new version start. A process of an older version changes nothing.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql as query } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import type { MigrateMode } from '../domain/operations/schema.js'
import { type SeedEntry, seedBackends } from './backends/backends.js'
import type { DatabaseSettings } from './connection/database-settings.js'
import { openDriver } from './connection/driver.js'
import { type ApplyTimes, applyMigrations, retryingLocks } from './schema/apply-migrations.js'
import { type Migration, readMigrations, readSeedVersions, seedFolder } from './schema/migration-files.js'
import { takeMigrationLock, tryMigrationLock } from './schema/migration-lock.js'
import { assertComplete, assertUsable, readSchema, type StoredSchema } from './schema/schema-state.js'
import { readTemplates, seedTemplates, type Template } from './scripts/script-templates.js'

export interface Seeds {
  version: number
  backends: SeedEntry[]
  templates: Template[]
}

export interface MigrateOptions extends Partial<Pick<DatabaseSettings, 'startupParameters'>> {
  /** Default: those of this version. */
  migrations?: readonly Migration[]
  seeds?: Seeds
  times?: Partial<MigrateTimes>
  /** Is given what is done, and what is waited for. */
  log?: (message: string) => void
}

export interface MigrateTimes extends ApplyTimes {
  /** How long another process can migrate, restore or back up. */
  lockWaitMs: number
}

const defaultTimes: MigrateTimes = { lockWaitMs: 600_000, lockTimeoutMs: 2_000, retryMs: 300_000, pauseMs: 1_000 }

/** Numbers of migrations, and versions of seeds. */
export interface Migrated {
  schema: { from: number; to: number }
  seeds: { from: number; to: number }
}

/**
 * @param databaseUrl an existing database.
 * @throws ServiceError `conflict` if this version cannot use the schema, or a lock is not free in time.
 */
export const migrate = (databaseUrl: string, options: MigrateOptions = {}): Promise<Migrated> =>
  inSession(databaseUrl, options, async (sql) => {
    const { migrations = readMigrations(), seeds = readSeeds(), log = () => {} } = options
    const times = { ...defaultTimes, ...options.times }
    const found = await readSchema(sql)
    assertUsable(migrations, found)
    if (found.applied.length > migrations.length) {
      log(
        `the schema has ${found.applied.length} migrations, of which this version knows ${migrations.length}: it changes nothing`
      )
      return changes(found, found)
    }
    // Seeds of the same version repair what another version has written, and need not wait for a backup.
    const isBehind = found.applied.length < migrations.length || found.seedVersion < seeds.version
    if (isBehind) await takeMigrationLock(sql, { waitMs: times.lockWaitMs, log })
    else if (!(await tryMigrationLock(sql))) return changes(found, found)
    const before = await readSchema(sql)
    assertUsable(migrations, before)
    await applyMigrations(sql, { migrations, applied: before.applied.length, times, log })
    await retryingLocks(sql, 'seeding', { times, log }, () => seed(sql, seeds, migrations.length, times))
    return changes(found, await readSchema(sql))
  })

/** Makes sure that this version can use the schema: migrates it, or with `check` refuses one that lacks migrations. */
export async function prepareSchema(
  { directUrl, startupParameters }: Pick<DatabaseSettings, 'directUrl' | 'startupParameters'>,
  mode: MigrateMode,
  log: (message: string) => void
): Promise<void> {
  if (mode === 'auto') await migrate(directUrl, { startupParameters, log })
  else await checkSchema(directUrl, { startupParameters })
}

/**
 * @param migrations of the program.
 * @throws ServiceError `conflict` if the schema lacks some of them, or requires more.
 */
export const checkSchema = (
  databaseUrl: string,
  options: Pick<MigrateOptions, 'migrations' | 'startupParameters'> = {}
): Promise<void> =>
  inSession(databaseUrl, options, async (sql) =>
    assertComplete(options.migrations ?? readMigrations(), await readSchema(sql))
  )

async function inSession<T>(
  databaseUrl: string,
  { startupParameters }: Pick<MigrateOptions, 'startupParameters'>,
  work: (sql: postgres.Sql) => Promise<T>
): Promise<T> {
  // Not the service's own name: a restore refuses to run next to those.
  const applicationName = 'quantum-job-service migration'
  // One connection, since the lock belongs to the session that took it.
  const { sql, watch } = openDriver(databaseUrl, { max: 1, startupParameters, applicationName })
  const begin = (run: (tx: postgres.TransactionSql) => Promise<unknown>) => sql.begin((tx) => watch(run(tx)))
  try {
    await sql`set statement_timeout = 0`
    return await work(new Proxy(sql, { get: (target, key) => (key === 'begin' ? begin : Reflect.get(target, key)) }))
  } finally {
    // Closing the session releases the lock, also after a failed migration.
    await sql.end({ timeout: 5 })
  }
}

const changes = (before: StoredSchema, after: StoredSchema): Migrated => ({
  schema: { from: before.applied.length, to: after.applied.length },
  seeds: { from: before.seedVersion, to: after.seedVersion }
})

export function readSeeds(folder = seedFolder()): Seeds {
  return {
    version: readSeedVersions(folder).length,
    backends: JSON.parse(readFileSync(join(folder, 'backends.json'), 'utf8')),
    templates: readTemplates(join(folder, 'templates'))
  }
}

/** Writes the seeds, unless the database has those of a newer version or a schema with more migrations. */
async function seed(sql: postgres.Sql, seeds: Seeds, known: number, { lockTimeoutMs }: ApplyTimes): Promise<void> {
  await drizzle(sql).transaction(async (tx) => {
    await tx.execute(query.raw(`set local lock_timeout = ${lockTimeoutMs}`))
    const [row] = await tx.execute(query`
      update schema_compatibility set seed_version = ${seeds.version}
      where seed_version <= ${seeds.version}
        and (select count(*) from drizzle.__drizzle_migrations) <= ${known}
      returning seed_version`)
    if (!row) return
    await seedBackends(tx, seeds.backends)
    await seedTemplates(tx, seeds.templates)
  })
}
