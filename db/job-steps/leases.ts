// Leases of direct jobs, by the database's clock. A worker renews its leases every few seconds, and the same statement
// returns which of its jobs are being cancelled. A sweep ends the jobs whose lease has expired.
import { and, eq, inArray, isNotNull, lt } from 'drizzle-orm'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import { anyOf, type Db } from '../client.js'
import { now } from '../clock.js'
import { leaseEnd } from '../jobs/lease-time.js'
import { jobs } from '../tables/jobs.js'
import { recordCancellation, recordFailure } from './job-steps.js'

/**
 * Renews the given leases. A lease that is missing in the result is no longer this worker's. An expired lease that no
 * sweep has taken is renewed too.
 */
export async function renewLeases(db: Db, tokens: string[]): Promise<Map<string, JobStatus>> {
  if (tokens.length === 0) return new Map()
  const rows = await db
    .update(jobs)
    .set({ leaseExpiresAt: leaseEnd })
    .where(and(anyOf(jobs.leaseToken, tokens), inArray(jobs.status, ['running', 'cancelling'])))
    .returning({ token: jobs.leaseToken, status: jobs.status })
  return new Map(rows.map((row) => [row.token!, row.status]))
}

/** Ends at most `limit` jobs whose worker stopped renewing. A direct job is never run twice. Returns their ids. */
export async function sweepExpiredLeases(db: Db, limit: number): Promise<string[]> {
  const where = lt(jobs.leaseExpiresAt, now)
  const expired = await db
    .select({ id: jobs.id, status: jobs.status })
    .from(jobs)
    .where(and(isNotNull(jobs.leaseToken), where, inArray(jobs.status, ['running', 'cancelling'])))
    .limit(limit)
  const ended: string[] = []
  // One transaction per job: sweeps that locked several teams' counters in different orders could deadlock.
  for (const { id, status } of expired) {
    const moved = await db.transaction((tx) =>
      status === 'cancelling'
        ? recordCancellation(tx, id, 'stopped_before_provider', { where })
        : recordFailure(tx, id, workerLost, { where })
    )
    if (moved === 'won') ended.push(id)
  }
  return ended
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
