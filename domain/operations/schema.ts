// Whether a program can use the schema of the database. Migrations only expand it, so a program works with a schema that
// has more of them than it knows, until one that contracts the schema names how many a program must know.

/** Migrations by the time at which each was made, oldest first. */
export interface SchemaState {
  applied: readonly number[]
  /** How many migrations a program must know. */
  minimum: number
}

/**
 * What keeps a program from using the schema; `null` if nothing does.
 * @param known the migrations of the program. It can lack newer ones, and the schema can lack the newest of its own.
 */
export function schemaProblem(known: readonly number[], { applied, minimum }: SchemaState): string | null {
  if (known.length < minimum)
    return `this version is too old for the database: it knows ${known.length} migrations, and the schema requires a version that knows ${minimum}. Start such a version, or restore a backup from before the upgrade (docs/operations/deployment/upgrade.md)`
  const other = known.findIndex((when, at) => at < applied.length && applied[at] !== when)
  if (other >= 0)
    return `the database was migrated by a version that is not of this line: its migration ${other} is not the one that this version knows. Use the version that migrated it, or another database`
  return null
}

/** What a program that does not migrate says about a schema that lacks some of its migrations; `null` if it lacks none. */
export function missingMigrations(known: readonly number[], { applied }: SchemaState): string | null {
  if (applied.length >= known.length) return null
  return `the schema of the database is too old for this version: it has ${applied.length} of ${known.length} migrations. Run "qjob admin migrate" of this version first, or start its api or worker with MIGRATE=auto`
}

/** `check`: the process refuses an old schema instead of migrating it. */
export const migrateModes = ['auto', 'check'] as const
export type MigrateMode = (typeof migrateModes)[number]

/** @param text the value of MIGRATE, if it is set. @throws Error naming the variable. */
export function readMigrateMode(text: string | undefined): MigrateMode {
  const mode = migrateModes.find((one) => one === (text || 'auto'))
  if (mode) return mode
  throw new Error(`MIGRATE must be one of ${migrateModes.join(', ')} (got ${text})`)
}
