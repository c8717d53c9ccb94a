// Migrates a database to the current schema and seeds the catalogue. Every process calls it at its start. An advisory
// lock lets one of them work while the others wait, since drizzle's own migrator is not safe in parallel.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import { seedBackends } from './backends/backends.js'
import { type DriverOptions, openDriver } from './connection/driver.js'
import { readTemplates, seedTemplates } from './scripts/script-templates.js'

// Any number that no other advisory lock of this product uses.
export const MIGRATION_LOCK = 7_261_001

/** @param databaseUrl an existing database. Waits for another process that migrates, then does the rest. */
export async function migrate(
  databaseUrl: string,
  { startupParameters }: Pick<DriverOptions, 'startupParameters'> = {}
): Promise<void> {
  // One connection, since the lock belongs to the session that took it.
  const { sql } = openDriver(databaseUrl, { max: 1, startupParameters })
  try {
    // The role can have a limit.
    await sql`set statement_timeout = 0`
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`
    const db = drizzle(sql)
    const folder = join(packageRoot(), 'db')
    await applyMigrations(db, { migrationsFolder: join(folder, 'migrations') })
    await seedBackends(db, JSON.parse(readFileSync(join(folder, 'seed', 'backends.json'), 'utf8')))
    const templates = readTemplates(join(folder, 'seed', 'templates'))
    await db.transaction((tx) => seedTemplates(tx, templates))
  } finally {
    // Closing the session releases the lock, also after a failed migration.
    await sql.end({ timeout: 5 })
  }
}

export interface Migration {
  /** The name of its file. */
  tag: string
  statements: string[]
  /** As drizzle's migrator records it. */
  hash: string
  when: number
}

/** All migrations, the oldest first. */
export function readMigrations(): Migration[] {
  const folder = join(packageRoot(), 'db', 'migrations')
  const journal = JSON.parse(readFileSync(join(folder, 'meta', '_journal.json'), 'utf8')) as {
    entries: { tag: string }[]
  }
  return readMigrationFiles({ migrationsFolder: folder }).map(({ sql, hash, folderMillis }, at) => ({
    tag: journal.entries[at]!.tag,
    statements: sql,
    hash,
    when: folderMillis
  }))
}

/** The folder of package.json. This file runs from its source, and from a bundle elsewhere below that folder. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('package.json not found above the running file')
    folder = parent
  }
  return folder
}
