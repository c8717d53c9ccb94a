// The migrations and seeds as files of this version (db/migrations, db/seed).
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readMigrationFiles } from 'drizzle-orm/migrator'

export interface Migration {
  /** The name of its file. */
  tag: string
  statements: string[]
  /** As drizzle's migrator records it. */
  hash: string
  when: number
  /** Of a migration that contracts the schema: how many migrations a program must know to use the result. */
  minimum: number | null
  /** Its statements run outside a transaction, so that indexes of large tables are built while the service writes to them. */
  concurrently: boolean
}

/** The migrations, oldest first. */
export function readMigrations(folder = join(packageRoot(), 'db/migrations')): Migration[] {
  const journal = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string }[]
  }
  return readMigrationFiles({ migrationsFolder: folder }).map(({ sql, hash, folderMillis }, at) => {
    const { tag } = journal.entries[at]!
    return { tag, statements: sql, hash, when: folderMillis, ...readMarks(tag, sql[0] ?? '') }
  })
}

/**
 * Reads the marks of a migration, which are comments before its first statement:
 * `-- contract 28: <reason>` and `-- concurrently: <reason>`.
 */
function readMarks(tag: string, text: string): Pick<Migration, 'minimum' | 'concurrently'> {
  const [comments] = /^(?:\s*--(?!>).*\n)*/.exec(text)!
  const minimum = /^\s*-- contract (\d+): \S/m.exec(comments)?.[1]
  const concurrently = /^\s*-- concurrently: \S/m.test(comments)
  // A mark with a typing error would migrate without it.
  if (!minimum && /^\s*--\s*contract\b/im.test(comments))
    throw new Error(`${tag}: the mark must be "-- contract <migrations that a program must know>: <reason>"`)
  if (minimum && concurrently) throw new Error(`${tag}: a migration that contracts cannot run outside a transaction`)
  return { minimum: minimum === undefined ? null : Number(minimum), concurrently }
}

/** The folder of the seeds: the catalogue of backends and the templates. */
export const seedFolder = (): string => join(packageRoot(), 'db/seed')

/** The digest of each version of the seeds, oldest first. A process never replaces seeds of a higher version. */
export const readSeedVersions = (folder = seedFolder()): string[] =>
  JSON.parse(readFileSync(join(folder, 'versions.json'), 'utf8')) as string[]

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
