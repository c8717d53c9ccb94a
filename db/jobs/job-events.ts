// What happened to a job, in order: one row for each change of its status, and for each attempt that begins or ends.
// Numbers rise without a gap; whoever writes one raises the job's own count in the same transaction.
import { and, asc, eq, gt } from 'drizzle-orm'
import type { AttemptState, JobEventType, JobStatus } from '../../domain/jobs/job-status.js'
import type { DbOrTx } from '../client.js'
import { jobEvents } from '../tables/jobs.js'

export interface JobEvent {
  seq: number
  type: JobEventType
  /** Of the job at this time. */
  status: JobStatus
  reason: string | null
  /** Of an attempt's event: which attempt, and what became of it. `''` is the one task of a plain job. */
  task: string | null
  attempt: number | null
  attemptState: AttemptState | null
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
      task: jobEvents.task,
      attempt: jobEvents.attempt,
      attemptState: jobEvents.attemptState,
      at: jobEvents.at
    })
    .from(jobEvents)
    .where(and(eq(jobEvents.jobId, jobId), gt(jobEvents.seq, after)))
    .orderBy(asc(jobEvents.seq))
    .limit(EVENTS_MAX)
}
