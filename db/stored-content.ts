// Large contents, read in slices: one that is read whole takes five times its size, since the driver receives it as hex text.
import { type SQL, sql } from 'drizzle-orm'
import type { DbOrTx } from './client.js'

/** How much one statement reads. It takes about four times as much memory, until the slice is passed on. */
export const SLICE_BYTES = 256 * 1024

/** The column `content` of one row. */
export interface StoredContent {
  table: 'artifacts' | 'task_values' | 'capsule_files'
  where: SQL
  sizeBytes: number
  /** The content itself, where the query that found a small one has brought it. */
  small?: Buffer | null
}

class ContentGone extends Error {
  constructor(table: string) {
    super(`a content of ${table} was removed or changed while it was read`)
  }
}

/** @throws Error when the row is removed before its end is read. */
export async function* slicesOf(db: DbOrTx, { table, where, sizeBytes, small }: StoredContent): AsyncGenerator<Buffer> {
  if (small) return yield small
  for (let at = 0; at < sizeBytes; at += SLICE_BYTES) {
    const [row] = await db.execute<{ slice: Buffer }>(
      sql`select substring(content from ${at + 1}::int for ${SLICE_BYTES}::int) as slice
        from ${sql.identifier(table)} where ${where} limit 1`
    )
    if (!row || row.slice.length !== Math.min(SLICE_BYTES, sizeBytes - at)) throw new ContentGone(table)
    yield row.slice
  }
}

/**
 * The whole content in one Buffer, without copies of it; `null` when its row is gone. A content that is not of its recorded size
 * is returned as well: its digest reveals the change.
 */
export async function wholeOf(db: DbOrTx, content: StoredContent): Promise<Buffer | null> {
  if (content.small) return content.small
  const { table, where } = content
  const [row] = await db.execute<{ size: number }>(
    sql`select length(content) as size from ${sql.identifier(table)} where ${where} limit 1`
  )
  if (!row) return null
  const whole = Buffer.allocUnsafe(row.size)
  let at = 0
  try {
    for await (const slice of slicesOf(db, { table, where, sizeBytes: row.size })) at += slice.copy(whole, at)
  } catch (error) {
    if (error instanceof ContentGone) return null
    throw error
  }
  return whole
}
