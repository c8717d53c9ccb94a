// Attempts: a row is opened when the executor has accepted a run, and closed once. A row carries the generation that
// opened it, and only the job's present generation writes to it: a side that lost its job neither opens nor closes anything.
// A finished run's result is stored in the closing transaction.
import { createHash } from 'node:crypto'
import { and, asc, eq, sql } from 'drizzle-orm'
import type { JobError } from '../domain/errors.js'
import type { AttemptState } from '../domain/job-status.js'
import { storableText } from '../domain/json-guard.js'
import { type Artifact, RESULT_ARTIFACT } from './artifacts.js'
import type { Db, DbOrTx } from './client.js'
import { type Fence, fenceHolds, now } from './job-transition.js'
import { artifacts, attempts, jobs } from './tables/jobs.js'

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
export async function openAttempt(db: DbOrTx, jobId: string, fence: Fence): Promise<number | null> {
  // The lock on the job's row keeps a cancel or a sweep from coming between the check and the insert.
  const mine = db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.id, jobId), eq(jobs.status, 'running'), fenceHolds(fence)))
    .for('no key update')
  const [opened] = await db.execute<{ number: number }>(sql`
    with mine as ${mine},
      lost as (update ${attempts} set state = 'lost', ended_at = ${now}, error_code = 'execution_service_lost',
          error_message = 'the execution was interrupted and its end is unknown'
        where job_id in (select id from mine) and state = 'running')
    insert into ${attempts} (job_id, number, generation, state)
      select id, (select coalesce(max(number), 0) + 1 from ${attempts} where job_id = ${jobId} and task = ''),
        ${fence.generation}, 'running'
      from mine
    returning number`)
  return opened?.number ?? null
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
 * Stores a result (JSON text, kept byte for byte) with the files made beside it, and closes its attempt as completed: all
 * or nothing.
 * @returns the hex SHA-256 under which the result is stored, or `null` when the attempt is no longer open, or no longer of
 * the job's present generation.
 */
export async function completeAttempt(
  db: Db,
  jobId: string,
  number: number,
  result: string,
  beside: readonly Artifact[] = []
): Promise<string | null> {
  const resultFile = { name: RESULT_ARTIFACT, mediaType: 'application/json', content: Buffer.from(result, 'utf8') }
  const resultSha256 = sha256Of(resultFile.content)
  const files = [resultFile, ...beside].map(
    ({ name, mediaType, content }) =>
      sql`(${name}::text, ${sha256Of(content)}::text, ${content.length}::int, ${mediaType}::text, ${content}::bytea)`
  )
  // The lock keeps a sweep from giving the job away between the check and the commit.
  const held = db
    .select({ id: jobs.id, generation: jobs.generation })
    .from(jobs)
    .where(eq(jobs.id, jobId))
    .for('no key update')
  const closed = await db.execute(sql`
    with held as ${held},
      closed as (update ${attempts} set state = 'completed', ended_at = ${now}, result_sha256 = ${resultSha256}
        where job_id in (select id from held) and number = ${number} and state = 'running'
          and generation = (select generation from held)
        returning job_id),
      stored as (insert into ${artifacts} (job_id, name, sha256, size_bytes, media_type, content)
        select closed.job_id, file.* from closed
          cross join (values ${sql.join(files, sql`, `)}) as file (name, sha256, size_bytes, media_type, content)
        on conflict do nothing)
    select job_id from closed`)
  return closed.length > 0 ? resultSha256 : null
}

const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

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
