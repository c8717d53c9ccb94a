// Which contents of a job are no longer there, because they are kept for a limited time.
import { eq } from 'drizzle-orm'
import type { RemovedAt } from '../../domain/teams/content-retention.js'
import type { DbOrTx } from '../client.js'
import { removedContents } from '../tables/jobs.js'

/** When each kind was removed; empty while the job has all that it stored. */
export async function removedOf(db: DbOrTx, jobId: string): Promise<RemovedAt> {
  const { kind, removedAt } = removedContents
  const rows = await db.select({ kind, removedAt }).from(removedContents).where(eq(removedContents.jobId, jobId))
  return Object.fromEntries(rows.map((row) => [row.kind, row.removedAt]))
}
