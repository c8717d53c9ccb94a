// Statements whose text is made once. drizzle makes the text of a statement each time that it runs, and that takes more
// processor time than sending it. So the statements that every job needs are written with placeholders for their parameters.
import { getTableColumns, is, Param, Placeholder, SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { PgDialect, type PgPreparedQuery, type PgTable } from 'drizzle-orm/pg-core'
import type { DbOrTx } from './client.js'

/** A parameter, or its place in a statement whose text is made once. */
export type Given<Value> = Value | Placeholder<string, Value>

/** Parameters, each of which may be given as its place. */
export type GivenAll<Parameters> = { [Name in keyof Parameters]: Given<Parameters[Name]> }

/** The places of parameters. */
export type Places<Parameters> = { [Name in keyof Parameters & string]: Placeholder<Name, Parameters[Name]> }

const placesOf = <Parameters extends object>(parameters: Parameters): Places<Parameters> =>
  Object.fromEntries(Object.keys(parameters).map((name) => [name, sql.placeholder(name)])) as Places<Parameters>

/** A parameter, encoded as `column` needs it; `null` stays `null`. */
export const asIn = (column: Param['encoder'], given: Given<unknown>): SQL => sql`${sql.param(given, column)}`

type Row = Record<string, unknown>

/**
 * A statement written in SQL.
 * @param make its text must depend on nothing else. `on` only builds parts of it.
 */
export function statement<Parameters extends object, Result extends Row>(
  make: (given: Places<Parameters>, on: DbOrTx) => SQL
): (on: DbOrTx, parameters: Parameters) => Promise<Result[]> {
  let made: Made | undefined
  return async (on, parameters) => {
    made ??= madeOf(new PgDialect().sqlToQuery(make(placesOf(parameters), on)))
    const rows: Row[] = await on.execute(readyQuery(made, parameters))
    return rows as Result[]
  }
}

/** A query that drizzle builds, with the columns that it selects. `make` as for `statement`. */
export function query<Parameters extends object, Result>(
  make: (given: Places<Parameters>, on: DbOrTx) => { prepare(name: string): PgPreparedQuery<Prepared<Result[]>> }
): (on: DbOrTx, parameters: Parameters) => Promise<Result[]> {
  let made: (Made & Columns) | undefined
  return async (on, parameters) => {
    made ??= withColumns(make(placesOf(parameters), on).prepare('made once'))
    const ready = { sql: made.text, params: made.parameters.map((of) => of(parameters)) }
    const prepared = on._.session.prepareQuery<Prepared<Result[]>>(ready, made.fields as never, undefined, true)
    return Object.assign(prepared, { joinsNotNullableMap: made.joinsNotNullableMap }).execute()
  }
}

/**
 * A part of a statement that inserts one row for each row of `from`, which decides whether there is one.
 * @param values by the name of their column in code. A column that is not named gets its default of the database.
 */
export function insertFrom<Table extends PgTable>(
  from: SQL,
  table: Table,
  values: { [Name in keyof Table['$inferInsert']]: Given<Table['$inferInsert'][Name]> | SQL }
): SQL {
  const columns = getTableColumns(table)
  const cells = Object.entries(values).map(([name, value]) => ({ column: columns[name]!, value }))
  const names = cells.map(({ column }) => sql.identifier(column.name))
  const typed = cells.map(({ column, value }) =>
    is(value, SQL) ? value : sql`${asIn(column, value)}::${sql.raw(column.getSQLType())}`
  )
  return sql`insert into ${table} (${sql.join(names, sql`, `)}) select ${sql.join(typed, sql`, `)} from ${from}`
}

/** Statements whose text depends on a few values besides their parameters: each is made once for them. */
export function perShape<Shape, Made>(make: (shape: Shape) => Made): (shape: Shape) => Made {
  const made = new Map<string, Made>()
  return (shape) => {
    const key = JSON.stringify(shape)
    let known = made.get(key)
    if (!known) {
      known = make(shape)
      made.set(key, known)
    }
    return known
  }
}

/** The values of several items as parameters of one statement, whose shape is their number. */
export const numbered = (items: readonly object[]): Record<string, unknown> =>
  Object.fromEntries(items.flatMap((item, at) => Object.entries(item).map(([name, value]) => [`${name} ${at}`, value])))

/** The places of the parameters that `numbered` gives. */
export const numberedPlaces = <Item extends object>(
  given: Places<Record<string, unknown>>,
  names: readonly (keyof Item & string)[],
  count: number
): Places<Item>[] =>
  Array.from(
    { length: count },
    (_, at) => Object.fromEntries(names.map((name) => [name, given[`${name} ${at}`]])) as Places<Item>
  )

interface Prepared<Rows> {
  execute: Rows
  all: unknown
  values: unknown
}

interface Made {
  text: string
  /** What the driver gets for each parameter of the text, by the parameters of the statement. */
  parameters: ((given: object) => unknown)[]
}

/** What drizzle (0.45.4) needs to make rows of a response, and keeps to itself. */
interface Columns {
  fields: unknown
  joinsNotNullableMap: unknown
}

const madeOf = ({ sql: text, params }: { sql: string; params: unknown[] }): Made => ({
  text,
  parameters: params.map(parameterOf)
})

/** Nothing else of the first handle is kept. */
function withColumns(prepared: PgPreparedQuery<Prepared<unknown>>): Made & Columns {
  const { fields, joinsNotNullableMap } = prepared as unknown as Columns
  return { ...madeOf(prepared.getQuery()), fields, joinsNotNullableMap }
}

function parameterOf(param: unknown): (given: object) => unknown {
  if (is(param, Placeholder)) return (given) => given[param.name as keyof typeof given]
  if (!is(param, Param) || !is(param.value, Placeholder)) return () => param
  const { encoder } = param
  const { name } = param.value
  return (given) => {
    const value: unknown = given[name as keyof typeof given]
    return value === null ? null : encoder.mapToDriverValue(value)
  }
}

/** For `execute`, which asks for the text of what it gets. */
function readyQuery({ text, parameters }: Made, given: object): SQLWrapper {
  const ready = sql.raw(text)
  ready.toQuery = () => ({ sql: text, params: parameters.map((of) => of(given)) })
  return ready
}
