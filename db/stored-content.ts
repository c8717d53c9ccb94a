// Large contents, read and written in slices. In one piece a content takes five times its size, since the driver carries it as
// hex text, and 15 MiB hold the event loop for a quarter of a second. A content is written to its row; a sweep can move it to
// the content store later (db/contents), where it is read as well.
import { randomUUID } from 'node:crypto'
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import pLimit from 'p-limit'
import type { Db, DbOrTx, Tx } from './client.js'
import { objectSlices, wholeObject } from './content-store.js'

/** How much one statement reads. It takes about four times as much memory, until the slice is passed on. */
export const SLICE_BYTES = 256 * 1024
/**
 * How much one statement sends. The socket takes its hex text at once, at 5 ms for each MiB, and until then no other request of
 * the process is served: each of them waits for a slice several times.
 */
export const SENT_BYTES = 64 * 1024
/** Contents up to this size are written in one piece. */
export const WHOLE_BYTES_MAX = 4 * SENT_BYTES

/** The time limit of the connections is meant for small statements. */
const FIRST_MS = 10_000
/** A slow disk, with the same bytes written to the log and to the table. */
const BYTES_A_SECOND = 512 * 1024

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

/**
 * @throws Error when the row is removed before its end is read; ContentLost when the content store has not what the row names;
 * ServiceError `content_store_unavailable`.
 */
export async function* slicesOf(db: DbOrTx, { table, where, sizeBytes, small }: StoredContent): AsyncGenerator<Buffer> {
  if (small) return yield small
  for (let at = 0; at < sizeBytes; at += SLICE_BYTES) {
    const [row] = await db.execute<{ slice: Buffer | null; key: string | null }>(
      sql`select substring(content from ${at + 1}::int for ${SLICE_BYTES}::int) as slice, object_key as key
        from ${sql.identifier(table)} where ${where} limit 1`
    )
    // It can be moved between two slices.
    if (row?.key && row.slice === null) return yield* objectSlices(db, row.key, sizeBytes, at)
    if (!row?.slice || row.slice.length !== Math.min(SLICE_BYTES, sizeBytes - at)) throw new ContentGone(table)
    yield row.slice
  }
}

/**
 * The whole content in one Buffer, without copies of it; `null` when its row is gone. A content that is not of its recorded size
 * is returned as well: its digest reveals the change.
 * @throws ContentLost, ServiceError `content_store_unavailable`
 */
export async function wholeOf(db: DbOrTx, content: StoredContent): Promise<Buffer | null> {
  if (content.small) return content.small
  const { table, where, sizeBytes } = content
  const [row] = await db.execute<{ size: number | null; key: string | null }>(
    sql`select length(content) as size, object_key as key from ${sql.identifier(table)} where ${where} limit 1`
  )
  if (!row) return null
  if (row.size === null) return wholeObject(db, row.key!, sizeBytes)
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

/** The content of a row that a query found, for `StoredContent.small`; null for a large one. */
export const smallContent = (content: SQLWrapper, sizeBytes: SQLWrapper): SQL<Buffer | null> =>
  sql<Buffer | null>`case when ${sizeBytes} <= ${SLICE_BYTES}::int then ${content} end`

/**
 * Sends a large content in slices.
 * @returns an expression of type `bytea`, for later statements of the same transaction.
 */
export async function sendContent(tx: Tx, content: Buffer): Promise<SQL> {
  if (content.length <= WHOLE_BYTES_MAX) return sql`${content}::bytea`
  const [found] = await tx.execute<{ absent: boolean }>(
    sql`select to_regclass('pg_temp.sent_slices') is null as absent`
  )
  if (found!.absent) {
    // Of this session alone, never logged, and emptied by the end of the transaction however it ends.
    await tx.execute(sql`create temporary table sent_slices
      (content_id uuid not null, at int not null, slice bytea not null) on commit delete rows`)
    await tx.execute(sql`alter table pg_temp.sent_slices alter column slice set storage external`)
  }
  const id = randomUUID()
  for (let at = 0; at < content.length; at += SENT_BYTES) {
    const slice = content.subarray(at, at + SENT_BYTES)
    await tx.execute(sql`insert into pg_temp.sent_slices values (${id}::uuid, ${at}::int, ${slice}::bytea)`)
  }
  return sql`(select string_agg(slice, ''::bytea order by at) from pg_temp.sent_slices where content_id = ${id}::uuid)`
}

/** Of a process: one holds a connection of the pool for a second or longer, and a core of Postgres. */
const largeWrites = pLimit(1)

/** Runs a write of so many bytes; large ones one after the other. */
export const inTurn = <T>(bytes: number, write: () => Promise<T>): Promise<T> =>
  bytes <= WHOLE_BYTES_MAX ? write() : largeWrites(write)

/**
 * Runs a write of contents, in its turn.
 * @param write gets an expression of type `bytea` for each content.
 */
export const withContents = <T>(db: Db, contents: readonly Buffer[], write: WriteContents<T>): Promise<T> =>
  inTurn(bytesOf(contents), () => writeContents(db, contents, write))

/** Whether contents are written in one piece, and so with a statement of their own. */
export const areSentWhole = (contents: readonly Buffer[]): boolean => bytesOf(contents) <= WHOLE_BYTES_MAX

type WriteContents<T> = (db: DbOrTx, bytes: readonly SQL[]) => Promise<T>

/** `withContents` for a caller that has its turn. Large contents are sent beforehand, and get a transaction with a longer time limit. */
export async function writeContents<T>(db: Db, contents: readonly Buffer[], write: WriteContents<T>): Promise<T> {
  if (areSentWhole(contents))
    return write(
      db,
      contents.map((content) => sql`${content}::bytea`)
    )
  return db.transaction(async (tx) => {
    await allowTimeFor(tx, bytesOf(contents))
    const bytes: SQL[] = []
    for (const content of contents) bytes.push(await sendContent(tx, content))
    return write(tx, bytes)
  })
}

const bytesOf = (contents: readonly Buffer[]): number => contents.reduce((sum, { length }) => sum + length, 0)

/** A longer time limit for all further statements of a transaction. */
export async function allowTimeFor(tx: Tx, bytes: number): Promise<void> {
  if (bytes <= WHOLE_BYTES_MAX) return
  const milliseconds = FIRST_MS + Math.ceil((bytes / BYTES_A_SECOND) * 1_000)
  await tx.execute(sql`select set_config('statement_timeout', ${String(milliseconds)}, true)`)
}
