// Leases of direct jobs, by the database's clock. A worker renews its leases every few seconds, and the same statement
// returns which of its jobs are being cancelled. A sweep ends the jobs whose lease has expired.
import { and, asc, eq, inArray, isNotNull, lt, not, sql } from 'drizzle-orm'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import { anyOf, type Db, type DbOrTx, type Tx } from '../client.js'
import { now } from '../clock.js'
import { handleRows, type RowFailures } from '../sweep-rows.js'
import { jobs } from '../tables/jobs.js'
import { recordCancellation, recordFailure } from './job-steps.js'
import { leaseEnd } from './lease-time.js'

/**
 * Renews the given leases. A lease that is missing in the result is no longer this worker's. An expired lease that no
 * sweep has taken is renewed too. A job that another session has locked keeps its lease as it is until the next
 * renewal, so that the leases of the other jobs do not expire.
 */
export async function renewLeases(db: DbOrTx, tokens: string[]): Promise<Map<string, JobStatus>> {
  if (tokens.length === 0) return new Map()
  const held = and(anyOf(jobs.leaseToken, tokens), inArray(jobs.status, ['running', 'cancelling']))
  const rows = await db.execute<{ token: string; status: JobStatus }>(sql`
    with free as (select id from ${jobs} where ${held} for no key update skip locked),
      renewed as (update ${jobs} set lease_expires_at = ${leaseEnd} where id in (select id from free))
    select lease_token as token, status from ${jobs} where ${held}`)
  return new Map(rows.map(({ token, status }) => [token, status]))
}

/**
 * Ends at most `limit` jobs whose worker stopped renewing, the longest expired first. A direct job is never run twice.
 * A job that another session has locked is left to a later pass.
 * @returns the ids of the ended jobs.
 */
export async function sweepExpiredLeases(db: Db, limit: number, failures: RowFailures): Promise<string[]> {
  const where = lt(jobs.leaseExpiresAt, now)
  const except = [...failures.except()]
  const expired = await db
    .select({ id: jobs.id, teamId: jobs.teamId, status: jobs.status })
    .from(jobs)
    .where(
      and(
        isNotNull(jobs.leaseToken),
        where,
        inArray(jobs.status, ['running', 'cancelling']),
        not(anyOf(jobs.id, except)),
        not(anyOf(jobs.teamId, except))
      )
    )
    .orderBy(asc(jobs.leaseExpiresAt))
    .limit(limit)
  return handleRows(db, expired, failures, async (tx, { id, status }) => {
    if (!(await lockUnlessLocked(tx, id))) return false
    const moved =
      status === 'cancelling'
        ? await recordCancellation(tx, id, 'stopped_before_provider', { where })
        : await recordFailure(tx, id, workerLost, { where })
    return moved === 'won'
  })
}

/** @returns whether the job exists and no other session has locked it. */
async function lockUnlessLocked(tx: Tx, jobId: string): Promise<boolean> {
  const rows = await tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(eq(jobs.id, jobId))
    .for('no key update', { skipLocked: true })
  return rows.length > 0
}

const workerLost = {
  code: 'worker_lost',
  message:
    'the worker that ran this job was lost, and direct jobs are not run twice; submit it again, or use execution_mode temporal'
} as const

/** The status of a direct job that is still held under this lease; otherwise `null`. */
export async function leaseStatus(db: Db, jobId: string, token: string): Promise<JobStatus | null> {
  const [row] = await db
    .select({ status: jobs.status })
    .from(jobs)
    .where(and(eq(jobs.id, jobId), eq(jobs.leaseToken, token)))
  return row?.status ?? null
}
