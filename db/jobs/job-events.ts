// The events of a job, in order: one row for each change of its status, and for each attempt that begins or ends.
// Numbers rise without a gap: the transaction that inserts an event also raises the job's counter.
import { and, asc, eq, gt } from 'drizzle-orm'
import type { AttemptState, JobEventType, JobStatus } from '../../domain/jobs/job-status.js'
import type { DbOrTx } from '../client.js'
import { jobEvents } from '../tables/jobs.js'

export interface JobEvent {
  seq: number
  type: JobEventType
  /** The status of the job at this time. */
  status: JobStatus
  reason: string | null
  /** Set for attempt events: which attempt, and its state. `''` is a plain job's only task. */
  task: string | null
  attempt: number | null
  attemptState: AttemptState | null
  at: Date
}

/** A graph of 2,000 tasks has 4,000 events and more. */
export const EVENTS_PER_READ = 1_000

/** The events after number `after`, the oldest first; at most `EVENTS_PER_READ`. */
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
    .limit(EVENTS_PER_READ)
}
