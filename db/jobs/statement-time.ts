// Time for statements that carry contents. The time limit of the connections is meant for small statements; a result of
// many MiB on a slow disk would never be stored under it.
import { sql } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'

/** Up to here, the time limit of the connection is enough. */
const SMALL_BYTES = 1024 * 1024
const FIRST_MS = 10_000
/** A slow disk, with the same bytes written to the log and to the table. */
const BYTES_A_SECOND = 512 * 1024

/** Runs a write of `bytes` bytes, in a transaction with a longer time limit when they are many. */
export async function withTimeFor<T>(db: DbOrTx, bytes: number, write: (db: DbOrTx) => Promise<T>): Promise<T> {
  if (bytes <= SMALL_BYTES) return write(db)
  return db.transaction(async (tx) => {
    await allowTimeFor(tx, bytes)
    return write(tx)
  })
}

/** The same for all further statements of a transaction. */
export async function allowTimeFor(tx: DbOrTx, bytes: number): Promise<void> {
  if (bytes <= SMALL_BYTES) return
  const milliseconds = FIRST_MS + Math.ceil((bytes / BYTES_A_SECOND) * 1_000)
  await tx.execute(sql`select set_config('statement_timeout', ${String(milliseconds)}, true)`)
}
