// Attempts: a row is opened when the executor has accepted a run, and closed once. A row carries the generation that
// opened it, and only the job's present generation writes to it: a side that lost its job neither opens nor closes anything.
// A finished run's result is stored in the closing transaction.
import { createHash } from 'node:crypto'
import { and, asc, eq, sql } from 'drizzle-orm'
import type { JobError } from '../domain/errors.js'
import type { AttemptState } from '../domain/job-status.js'
import { storableText } from '../domain/json-guard.js'
import type { Db, DbOrTx } from './client.js'
import { type Fence, fenceHolds, now } from './job-transition.js'
import { artifacts, attempts, jobs } from './tables/jobs.js'

export const RESULT_ARTIFACT = 'result.json'

export interface Attempt {
  task: string
  number: number
  state: AttemptState
  startedAt: Date
  endedAt: Date | null
  errorCode: string | null
  errorMessage: string | null
  resultSha256: string | null
}

/**
 * Opens the next attempt; one that is still open belongs to an execution whose end nobody saw and is closed as lost.
 * @returns its number from 1, or `null` when the job is no longer this side's to run.
 */
export async function openAttempt(db: Db, jobId: string, fence: Fence): Promise<number | null> {
  return db.transaction(async (tx) => {
    // Locks the job: no cancel or sweep comes between the check and the insert.
    const [job] = await tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.id, jobId), eq(jobs.status, 'running'), fenceHolds(fence)))
      .for('no key update')
    if (!job) return null
    await closeOpenAttempts(tx, jobId, 'lost', {
      code: 'execution_service_lost',
      message: 'the execution was interrupted and its end is unknown'
    })
    const [row] = await tx
      .insert(attempts)
      .values({
        jobId,
        number: sql`(select coalesce(max(number), 0) + 1 from attempts where job_id = ${jobId} and task = '')`,
        generation: fence.generation,
        state: 'running'
      })
      .returning({ number: attempts.number })
    return row!.number
  })
}

/** Closes an open attempt that did not complete. `false` when somebody else closed it, or has the job by now. */
export async function closeAttempt(
  db: DbOrTx,
  jobId: string,
  number: number,
  state: 'failed' | 'cancelled' | 'lost',
  error: JobError | null
): Promise<boolean> {
  const closed = await db
    .update(attempts)
    .set({ state, endedAt: now, ...errorColumns(error) })
    .where(openAndPresent(jobId, number))
    .returning({ number: attempts.number })
  return closed.length > 0
}

/** The attempt is open, and the job's generation is still the one that opened it. */
const openAndPresent = (jobId: string, number: number) =>
  and(
    eq(attempts.jobId, jobId),
    eq(attempts.number, number),
    eq(attempts.state, 'running'),
    sql`${attempts.generation} = (select generation from ${jobs} where id = ${jobId})`
  )

const errorColumns = (error: JobError | null) => ({
  errorCode: error?.code ?? null,
  errorMessage: error ? storableText(error.message) : null
})

/** Closes whatever attempt of a job is still open. */
export async function closeOpenAttempts(
  tx: DbOrTx,
  jobId: string,
  state: 'cancelled' | 'lost',
  error: JobError | null
): Promise<void> {
  await tx
    .update(attempts)
    .set({ state, endedAt: now, ...errorColumns(error) })
    .where(and(eq(attempts.jobId, jobId), eq(attempts.state, 'running')))
}

/**
 * Stores a result (JSON text, kept byte for byte) and closes its attempt as completed, both or neither.
 * @returns the hex SHA-256 under which it is stored, or `null` when the attempt is no longer open, or no longer of the
 * job's present generation.
 */
export async function completeAttempt(db: Db, jobId: string, number: number, result: string): Promise<string | null> {
  const content = Buffer.from(result, 'utf8')
  const sha256 = createHash('sha256').update(content).digest('hex')
  return db.transaction(async (tx) => {
    // No sweep gives the job away between the check and the commit.
    await tx.select({ id: jobs.id }).from(jobs).where(eq(jobs.id, jobId)).for('no key update')
    const closed = await tx
      .update(attempts)
      .set({ state: 'completed', endedAt: now, resultSha256: sha256 })
      .where(openAndPresent(jobId, number))
      .returning({ number: attempts.number })
    if (closed.length === 0) return null
    await tx
      .insert(artifacts)
      .values({
        jobId,
        name: RESULT_ARTIFACT,
        sha256,
        sizeBytes: content.length,
        mediaType: 'application/json',
        content
      })
      .onConflictDoNothing()
    return sha256
  })
}

/** The digest of a result that this job has already stored, so that a repeated step need not run anything again. */
export async function storedResult(db: DbOrTx, jobId: string): Promise<string | null> {
  const [row] = await db
    .select({ sha256: attempts.resultSha256 })
    .from(attempts)
    .where(and(eq(attempts.jobId, jobId), eq(attempts.state, 'completed')))
    .limit(1)
  return row?.sha256 ?? null
}

export async function listAttempts(db: DbOrTx, jobId: string): Promise<Attempt[]> {
  return db.select().from(attempts).where(eq(attempts.jobId, jobId)).orderBy(asc(attempts.task), asc(attempts.number))
}

/** The stored result, as the text it arrived as. */
export async function resultText(db: DbOrTx, jobId: string, sha256: string): Promise<string | null> {
  const [row] = await db
    .select({ content: artifacts.content })
    .from(artifacts)
    .where(and(eq(artifacts.jobId, jobId), eq(artifacts.name, RESULT_ARTIFACT), eq(artifacts.sha256, sha256)))
  return row?.content.toString('utf8') ?? null
}
