// Reads rows with COPY.
import type { Readable } from 'node:stream'
import type { BackupTx } from './sessions.js'

/**
 * The bytes that COPY writes, as fast as they are taken. Must be read to their end before the next statement.
 * @param statement `copy ... to stdout`
 */
export async function* copyOut(tx: BackupTx, statement: string): AsyncGenerator<Buffer> {
  const rows: Readable = await tx.unsafe(statement).readable()
  yield* rows as AsyncIterable<Buffer>
  // The driver (postgres 3.4.9) pauses its socket while the stream is full, and resumes it when the stream asks for more.
  // A stream whose end has arrived asks no more, and the session would wait for ever.
  rows._read(0)
}
