// The attempt of a provider job outlives the worker that opened it: the worker that has the job now takes it over.
import { and, sql } from 'drizzle-orm'
import type { JobError } from '../../domain/errors.js'
import type { Db, DbOrTx } from '../client.js'
import { closeAttempt, completeAttempt } from '../jobs/attempts.js'
import type { Fence } from '../jobs/fence.js'
import { attempts, jobs } from '../tables/jobs.js'

const openAttempt = (jobId: string, { generation }: Fence) =>
  sql`${attempts.jobId} = ${jobId} and ${attempts.state} = 'running'
    and exists (select 1 from ${jobs} where ${jobs.id} = ${jobId} and ${jobs.generation} = ${generation})`

/**
 * Takes over the open attempt of an earlier generation.
 * @returns its number, or `null` when none is open, or another worker has the job.
 */
export async function adoptAttempt(db: DbOrTx, jobId: string, fence: Fence): Promise<number | null> {
  await db
    .update(attempts)
    .set({ generation: fence.generation })
    .where(and(openAttempt(jobId, fence), sql`${attempts.generation} <> ${fence.generation}`))
  const [row] = await db.select({ number: attempts.number }).from(attempts).where(openAttempt(jobId, fence))
  return row?.number ?? null
}

/** Closes the open attempt as failed, if there is one. */
export async function failOpenAttempt(db: DbOrTx, jobId: string, fence: Fence, error: JobError): Promise<void> {
  const number = await adoptAttempt(db, jobId, fence)
  if (number !== null) await closeAttempt(db, jobId, number, 'failed', error)
}

/** `completeAttempt` for the open attempt. */
export async function completeOpenAttempt(db: Db, jobId: string, fence: Fence, result: string): Promise<string | null> {
  const number = await adoptAttempt(db, jobId, fence)
  return number === null ? null : completeAttempt(db, jobId, number, result)
}
