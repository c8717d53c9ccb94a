// What happened to a job, in order: one row for each change of its status.
import { and, asc, eq, gt } from 'drizzle-orm'
import type { JobStatus } from '../domain/job-status.js'
import type { DbOrTx } from './client.js'
import { jobEvents } from './tables/jobs.js'

export interface JobEvent {
  seq: number
  type: string
  status: JobStatus
  reason: string | null
  at: Date
}

/** More than any job has; a bound all the same. */
const EVENTS_MAX = 1_000

/** The events after the one with the number `after`, the oldest first. */
export async function eventsAfter(db: DbOrTx, jobId: string, after: number): Promise<JobEvent[]> {
  return db
    .select({
      seq: jobEvents.seq,
      type: jobEvents.type,
      status: jobEvents.status,
      reason: jobEvents.reason,
      at: jobEvents.at
    })
    .from(jobEvents)
    .where(and(eq(jobEvents.jobId, jobId), gt(jobEvents.seq, after)))
    .orderBy(asc(jobEvents.seq))
    .limit(EVENTS_MAX)
}
