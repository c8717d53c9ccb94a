// How much of the large contents is where.
import { sql } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'
import { OBJECT_BYTES_MIN } from '../tables/columns.js'
import { type ContentTable, contentTables } from './content-rows.js'

interface Amount {
  contents: number
  bytes: number
}

export interface ContentFigures {
  /** Of contents that are large enough to move. `both` is the part of `inRows` that the store has as well. */
  tables: { table: ContentTable; inRows: Amount; both: Amount; inStore: Amount }[]
  /** Objects that no row names, and that wait for their removal. */
  unnamedObjects: number
}

/** Reads all rows of the three tables. */
export async function contentFigures(db: DbOrTx): Promise<ContentFigures> {
  const tables: ContentFigures['tables'] = []
  for (const table of contentTables) {
    const [row] = await db.execute<
      Record<'rows' | 'row_bytes' | 'both' | 'both_bytes' | 'moved' | 'moved_bytes', string>
    >(sql`
      select count(*) filter (where content is not null) as rows,
        coalesce(sum(size_bytes) filter (where content is not null), 0) as row_bytes,
        count(*) filter (where content is not null and object_key is not null) as both,
        coalesce(sum(size_bytes) filter (where content is not null and object_key is not null), 0) as both_bytes,
        count(*) filter (where content is null) as moved,
        coalesce(sum(size_bytes) filter (where content is null), 0) as moved_bytes
      from ${sql.identifier(table)} where size_bytes >= ${OBJECT_BYTES_MIN}::int or object_key is not null`)
    const amount = (contents: string, bytes: string): Amount => ({ contents: Number(contents), bytes: Number(bytes) })
    tables.push({
      table,
      inRows: amount(row!.rows, row!.row_bytes),
      both: amount(row!.both, row!.both_bytes),
      inStore: amount(row!.moved, row!.moved_bytes)
    })
  }
  const [unnamed] = await db.execute<{ count: number }>(sql`select count(*)::int as count from unnamed_objects`)
  return { tables, unnamedObjects: unnamed!.count }
}
