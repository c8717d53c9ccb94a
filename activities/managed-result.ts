// The result of a native submission, as the public client reads it.
import type { DbOrTx } from '../db/client.js'

/** JSON text. */
export async function managedResult(_db: DbOrTx, _jobId: string, _teamId: string): Promise<string> {
  throw new Error('not written yet')
}
