// The rows whose contents can move to the content store, of three tables.
import { type SQL, sql } from 'drizzle-orm'
import { retainedUntil } from '../../domain/capsules/retention.js'
import type { DbOrTx } from '../client.js'
import type { StoredContent } from '../stored-content.js'
import { OBJECT_BYTES_MIN } from '../tables/columns.js'

/** A content in its row, in the content store, or in both. */
export interface ContentRow extends StoredContent {
  /** Unique among all rows, for messages: the table and the parts of its key. */
  name: string
  /** Its primary key. */
  id: readonly string[]
  sha256: string
  /** `null` while the content is in its row alone. */
  objectKey: string | null
  /** Until when the capsule must be kept that the content belongs to. */
  keepUntil: Date | null
}

export type ContentTable = StoredContent['table']

interface Shape {
  key: readonly { column: string; type: 'uuid' | 'text' }[]
  /** The rows that nothing changes any more, of `c`. */
  settled(seconds: number): SQL
  /** Columns `sealed_at` and `retention_years` of `c`. */
  retention: SQL
}

const ofJobs: Omit<Shape, 'key'> = {
  settled: (seconds) => sql`exists (select from jobs j where j.id = c.job_id and j.completed_at <= ${before(seconds)})`,
  retention: sql`null::timestamptz as sealed_at, null::int as retention_years`
}

const shapes: Record<ContentTable, Shape> = {
  artifacts: {
    key: [
      { column: 'job_id', type: 'uuid' },
      { column: 'name', type: 'text' },
      { column: 'sha256', type: 'text' }
    ],
    ...ofJobs
  },
  task_values: {
    key: [
      { column: 'job_id', type: 'uuid' },
      { column: 'sha256', type: 'text' }
    ],
    ...ofJobs
  },
  capsule_files: {
    key: [
      { column: 'capsule_id', type: 'uuid' },
      { column: 'name', type: 'text' }
    ],
    settled: (seconds) =>
      sql`exists (select from capsule_seals s where s.capsule_id = c.capsule_id and s.sealed_at <= ${before(seconds)})`,
    retention: sql`(select sealed_at from capsule_seals s where s.capsule_id = c.capsule_id) as sealed_at,
      (select retention_years from capsules k where k.id = c.capsule_id) as retention_years`
  }
}

export const contentTables = Object.keys(shapes) as ContentTable[]

/** Contents in rows alone that are large enough and have come to rest that long ago. @param except names to leave out. */
export const unmovedContents = (
  db: DbOrTx,
  table: ContentTable,
  page: { settledSeconds: number; except: readonly string[]; max: number }
): Promise<ContentRow[]> =>
  select(
    db,
    table,
    sql`c.object_key is null and c.size_bytes >= ${sql.raw(String(OBJECT_BYTES_MIN))}
      and ${shapes[table].settled(page.settledSeconds)} and not ${isOne(table, page.except)}
    order by ${columnsOf(table)} limit ${page.max}::int`
  )

/** Contents that have been in both places for that long. */
export const movingContents = (
  db: DbOrTx,
  table: ContentTable,
  page: { seconds: number; except: readonly string[]; max: number }
): Promise<ContentRow[]> =>
  select(
    db,
    table,
    sql`c.object_key is not null and c.content is not null and c.object_at <= ${before(page.seconds)}
      and not ${isOne(table, page.except)}
    order by c.object_at limit ${page.max}::int`
  )

/** Contents of which the store has an object, in the order of their keys. @param after the last row of the page before. */
export const namedContents = (
  db: DbOrTx,
  table: ContentTable,
  page: { after: ContentRow | null; max: number }
): Promise<ContentRow[]> =>
  select(
    db,
    table,
    sql`c.object_key is not null ${page.after ? sql`and (${columnsOf(table)}) > (${keyOf(page.after)})` : sql``}
    order by ${columnsOf(table)} limit ${page.max}::int`
  )

const before = (seconds: number): SQL => sql`clock_timestamp() - ${seconds}::int * interval '1 second'`

const columnsOf = (table: ContentTable): SQL =>
  sql.join(
    shapes[table].key.map(({ column }) => sql.raw(`c.${column}`)),
    sql`, `
  )

const nameColumn = (table: ContentTable): SQL => sql`concat_ws(' ', ${table}::text, ${columnsOf(table)})`

/** As one parameter, so that lists of all lengths are one statement. */
const isOne = (table: ContentTable, names: readonly string[]): SQL =>
  sql`(${nameColumn(table)} = any(string_to_array(${names.join('\n')}, E'\n')))`

const keyOf = ({ table, id }: Pick<ContentRow, 'table' | 'id'>): SQL =>
  sql.join(
    shapes[table].key.map(({ type }, at) => sql`${id[at]}::${sql.raw(type)}`),
    sql`, `
  )

async function select(db: DbOrTx, table: ContentTable, rest: SQL): Promise<ContentRow[]> {
  const { key, retention } = shapes[table]
  // The key as JSON text, since lists have no parser here.
  const rows = await db.execute<{
    id: string
    sha256: string
    size_bytes: number
    object_key: string | null
    sealed_at: string | null
    retention_years: number | null
  }>(sql`
    select json_build_array(${columnsOf(table)})::text as id, c.sha256, c.size_bytes, c.object_key, ${retention}
    from ${sql.identifier(table)} c where ${rest}`)
  const columns = sql.raw(key.map(({ column }) => column).join(', '))
  return rows.map((row) => {
    const id = JSON.parse(row.id) as string[]
    return {
      table,
      id,
      name: [table, ...id].join(' '),
      where: sql`(${columns}) = (${keyOf({ table, id })})`,
      sha256: row.sha256,
      sizeBytes: row.size_bytes,
      objectKey: row.object_key,
      keepUntil: row.sealed_at === null ? null : retainedUntil(new Date(row.sealed_at), row.retention_years)
    }
  })
}
