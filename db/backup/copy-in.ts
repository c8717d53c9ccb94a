// Writes rows with COPY. When Postgres refuses rows after the last of them was sent, the driver (postgres 3.4.9) neither
// completes the stream nor fails it, because it has fulfilled the query with the stream before. It still calls the
// query's own `reject`, which is therefore watched.
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { BackupTx } from './sessions.js'

export interface CopyIn {
  write(piece: Buffer): Promise<void>
  /** Resolves when Postgres has taken all rows. */
  end(): Promise<void>
  /** Takes everything back, so that the session can go on. */
  abort(): void
}

/** @param statement `copy ... from stdin` */
export async function copyIn(tx: BackupTx, statement: string): Promise<CopyIn> {
  const query = tx.unsafe(statement)
  const rejectable = query as unknown as { reject(error: unknown): void }
  const reject = rejectable.reject
  const failure = new Promise<never>((_, fail) => {
    rejectable.reject = (error) => {
      fail(error)
      reject(error)
    }
  })
  // It is thrown by the next write, or by the end.
  failure.catch(() => {})
  const rows: Writable = await query.writable()
  rows.on('error', () => {})
  const orFailure = async (work: Promise<unknown>): Promise<void> => void (await Promise.race([failure, work]))
  return {
    async write(piece) {
      if (rows.errored) throw rows.errored
      if (!rows.write(piece)) await orFailure(Promise.race([once(rows, 'drain'), finished(rows)]))
    },
    async end() {
      rows.end()
      await orFailure(finished(rows))
    },
    abort: () => void rows.destroy(new Error('the restore was stopped'))
  }
}
