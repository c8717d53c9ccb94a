// What the database says about its schema, and the check of each process that uses it.
import type postgres from 'postgres'
import { ServiceError } from '../../domain/errors.js'
import { missingMigrations, type SchemaState, schemaProblem } from '../../domain/operations/schema.js'
import type { Migration } from './migration-files.js'

export interface StoredSchema extends SchemaState {
  /** Of the seeds that were last written. */
  seedVersion: number
}

/** Reads only; a database without tables has no migrations. */
export async function readSchema(sql: postgres.Sql): Promise<StoredSchema> {
  const [found] = await sql<{ journal: boolean; compatibility: boolean }[]>`
    select to_regclass('drizzle.__drizzle_migrations') is not null as journal,
      to_regclass('schema_compatibility') is not null as compatibility`
  if (!found!.journal) return { applied: [], minimum: 0, seedVersion: 0 }
  // One statement, so that a migration that is committed in between is seen whole or not at all. As text: on a client of
  // drizzle a list has no parser.
  const [row] = await sql<{ applied: string | null; minimum: number; seeds: number }[]>`
    select (select string_agg(created_at::text, ',' order by created_at) from drizzle.__drizzle_migrations) as applied,
      ${found!.compatibility ? sql`minimum_migrations` : sql`0`} as minimum,
      ${found!.compatibility ? sql`seed_version` : sql`0`} as seeds
    ${found!.compatibility ? sql`from schema_compatibility` : sql``}`
  if (!row) throw new ServiceError('conflict', 'the table schema_compatibility is empty: restore its row from a backup')
  return {
    applied: (row.applied ?? '').split(',').filter(Boolean).map(Number),
    minimum: row.minimum,
    seedVersion: row.seeds
  }
}

/** @throws ServiceError `conflict` if a program with these migrations cannot use the schema. */
export function assertUsable(migrations: readonly Migration[], schema: SchemaState): void {
  const problem = schemaProblem(timesOf(migrations), schema)
  if (problem) throw new ServiceError('conflict', problem)
}

/** @throws ServiceError `conflict` also if the schema lacks migrations of the program. */
export function assertComplete(migrations: readonly Migration[], schema: SchemaState): void {
  assertUsable(migrations, schema)
  const problem = missingMigrations(timesOf(migrations), schema)
  if (problem) throw new ServiceError('conflict', problem)
}

const timesOf = (migrations: readonly Migration[]): number[] => migrations.map(({ when }) => when)
