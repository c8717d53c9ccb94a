// The message of a failure between the step that failed and the step that fails the job. Temporal stores what passes between
// steps for weeks, and its web interface shows it without a password, so messages of programs pass through the job's row.
import { and, eq, inArray } from 'drizzle-orm'
import { storableText } from '../../domain/json/json-guard.js'
import type { DbOrTx } from '../client.js'
import { jobs } from '../tables/jobs.js'

/** Writes nothing when the job is final, or another generation's. */
export async function noteFailingMessage(
  db: DbOrTx,
  { jobId, generation }: { jobId: string; generation: number },
  message: string
): Promise<void> {
  await db
    .update(jobs)
    .set({ failingMessage: storableText(message) })
    .where(and(eq(jobs.id, jobId), eq(jobs.generation, generation), inArray(jobs.status, ['running', 'cancelling'])))
}

export async function failingMessage(db: DbOrTx, jobId: string): Promise<string | null> {
  const [row] = await db.select({ message: jobs.failingMessage }).from(jobs).where(eq(jobs.id, jobId))
  return row?.message ?? null
}
