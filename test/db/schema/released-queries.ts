// The queries that the last release sends to Postgres, as test/support/stack/query-recorder.ts has recorded them, and the
// check that each of them still works. docs/extending/adding-a-migration.md says when to record.
import { readFileSync } from 'node:fs'
import type postgres from 'postgres'
import { partsOf, rowsAt } from '../../support/sql-text.js'
import type { RecordedQuery, RecordedRelease } from '../../support/stack/recorded-queries.js'

export const readReleasedQueries = (): RecordedRelease =>
  JSON.parse(readFileSync(new URL('fixtures/released-queries.json', import.meta.url), 'utf8'))

/** @param sql of one connection. @returns one line for each query that fails, with the reason. */
export async function failuresOf(sql: postgres.Sql, queries: readonly RecordedQuery[]): Promise<string[]> {
  const failures: string[] = []
  const needed = await neededColumns(sql)
  // Postgres looks for the index of an ON CONFLICT only when it plans.
  await sql`set plan_cache_mode = force_generic_plan`
  for (const { text } of queries.filter(isTemporary))
    await sql.unsafe(text.replace(/\btable\b/i, 'table if not exists'))
  for (const { text, types } of queries.filter((query) => !isTemporary(query))) {
    const given =
      types.length === 0 ? '' : `(${types.map((type) => (type === 0 ? 'unknown' : typeNames[type]!)).join(', ')})`
    const values = types.length === 0 ? '' : `(${types.map(() => 'null').join(', ')})`
    try {
      await sql.unsafe(`prepare released${given} as ${text}`)
      await sql.unsafe(`explain execute released${values}`)
      for (const { table, columns } of insertsOf(text))
        for (const column of needed.get(table) ?? [])
          if (!columns.has(column))
            failures.push(`${table}.${column} needs a value that this query does not give: ${text}`)
    } catch (error) {
      failures.push(`${(error as Error).message}: ${text}`)
    } finally {
      await sql.unsafe('deallocate all')
    }
  }
  return failures
}

/** Makes a table for queries that follow. */
const isTemporary = ({ text }: RecordedQuery): boolean => /^\s*create temp/i.test(text)

/** Those that the driver names by itself. */
const typeNames: Record<number, string> = {
  16: 'boolean',
  17: 'bytea',
  20: 'bigint',
  25: 'text',
  114: 'json',
  1184: 'timestamptz',
  3802: 'jsonb'
}

/** The columns of each table without which no row can be inserted. */
async function neededColumns(sql: postgres.Sql): Promise<Map<string, string[]>> {
  const rows = await sql<{ table: string; column: string }[]>`
    select c.relname as table, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
      and a.attnotnull and not a.atthasdef and a.attidentity = ''`
  const needed = new Map<string, string[]>()
  for (const { table, column } of rows) needed.set(table, [...(needed.get(table) ?? []), column])
  return needed
}

/** The tables that a query inserts into, and the columns to which it gives a value in every row. */
export function insertsOf(text: string): { table: string; columns: Set<string> }[] {
  const inserts = /\binsert into (?:"?public"?\.)?"?(\w+)"?(?: as "?\w+"?)?\s*\(([^()]*)\)\s*(values)?/gi
  return [...text.matchAll(inserts)].map(({ 0: whole, 1: table, 2: list, 3: values, index }) => {
    const names = partsOf(list!).map((name) => name.replaceAll('"', ''))
    const rows = values ? rowsAt(text, index + whole.length).rows : []
    const isGiven = (at: number): boolean =>
      rows.every((row) => partsOf(row.slice(1, -1))[at]?.toLowerCase() !== 'default')
    return { table: table!, columns: new Set(names.filter((_, at) => isGiven(at))) }
  })
}
