// Leases of direct jobs, by the database's clock. A worker renews every few seconds and learns in the same statement that
// a job of its own is being cancelled; a sweep ends the jobs whose lease ran out.
import { and, eq, inArray, isNotNull, lt } from 'drizzle-orm'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import { anyOf, type Db } from '../client.js'
import { now } from '../clock.js'
import { leaseEnd } from '../jobs/lease-time.js'
import { jobs } from '../tables/jobs.js'
import { endCancelled, endFailed } from './job-steps.js'

/** Renews the given leases. What is missing in the answer is no longer this worker's. An expired lease that no sweep has taken is renewed too. */
export async function renewLeases(db: Db, tokens: string[]): Promise<Map<string, JobStatus>> {
  if (tokens.length === 0) return new Map()
  const rows = await db
    .update(jobs)
    .set({ leaseExpiresAt: leaseEnd })
    .where(and(anyOf(jobs.leaseToken, tokens), inArray(jobs.status, ['running', 'cancelling'])))
    .returning({ token: jobs.leaseToken, status: jobs.status })
  return new Map(rows.map((row) => [row.token!, row.status]))
}

/** Ends at most `limit` jobs whose worker went silent: nobody may run them a second time. Returns their ids. */
export async function sweepExpiredLeases(db: Db, limit: number): Promise<string[]> {
  const where = lt(jobs.leaseExpiresAt, now)
  const expired = await db
    .select({ id: jobs.id, status: jobs.status })
    .from(jobs)
    .where(and(isNotNull(jobs.leaseToken), where, inArray(jobs.status, ['running', 'cancelling'])))
    .limit(limit)
  const ended: string[] = []
  // A transaction each: one that held several teams' counters could meet another sweep's the other way round.
  for (const { id, status } of expired) {
    const moved = await db.transaction((tx) =>
      status === 'cancelling'
        ? endCancelled(tx, id, 'stopped_before_provider', { where })
        : endFailed(tx, id, workerLost, { where })
    )
    if (moved === 'won') ended.push(id)
  }
  return ended
}

const workerLost = {
  code: 'worker_lost',
  message:
    'the worker that ran this job died; direct jobs are not run twice: submit it again, or use execution_mode temporal'
} as const

/** Whether a direct job is still held under this lease, and in which status. */
export async function leaseStatus(db: Db, jobId: string, token: string): Promise<JobStatus | null> {
  const [row] = await db
    .select({ status: jobs.status })
    .from(jobs)
    .where(and(eq(jobs.id, jobId), eq(jobs.leaseToken, token)))
  return row?.status ?? null
}
