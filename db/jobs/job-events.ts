// The events of a job, in order: one row for each change of its status, for each attempt that begins or ends, and for what
// its program prints meanwhile. Numbers rise without a gap: the transaction that inserts an event also raises the job's counter.
import { and, asc, eq, gt, lt, type SQL, sql } from 'drizzle-orm'
import type { AttemptState, JobEventType, JobStatus } from '../../domain/jobs/job-status.js'
import { JOB_OUTPUT_BYTES_MAX, JOB_OUTPUT_EVENTS_MAX } from '../../domain/jobs/value-limits.js'
import type { DbOrTx } from '../client.js'
import { attempts, jobEvents, jobOutput, jobs } from '../tables/jobs.js'
import type { AttemptRef } from './attempts.js'

export interface JobEvent {
  seq: number
  type: JobEventType
  /** The status of the job at this time. */
  status: JobStatus
  reason: string | null
  /** Set for events of an attempt and its output: which attempt. `''` is a plain job's only task. */
  task: string | null
  attempt: number | null
  /** Set for attempt events. */
  attemptState: AttemptState | null
  /** Set for output events. */
  text: string | null
  textOffset: number | null
  /** Set for output events after a cut. */
  truncatedBytes: number | null
  at: Date
}

/** A graph of 2,000 tasks has 4,000 events and more. */
const EVENTS_PER_READ = 1_000
/** Of text in the events of one read, before the last of them. In JSON, text can take six times its size. */
const TEXT_BYTES_PER_READ = 64 * 1024

/** The next events after number `after`, the oldest first. Empty only when there are none. */
export async function eventsAfter(db: DbOrTx, jobId: string, after: number): Promise<JobEvent[]> {
  const size = sql`coalesce(octet_length(${jobOutput.text}), 0)`
  const page = db
    .select({
      seq: jobEvents.seq,
      type: jobEvents.type,
      status: jobEvents.status,
      reason: jobEvents.reason,
      task: jobEvents.task,
      attempt: jobEvents.attempt,
      attemptState: jobEvents.attemptState,
      text: jobOutput.text,
      textOffset: jobOutput.textOffset,
      truncatedBytes: jobOutput.truncatedBytes,
      at: jobEvents.at,
      before: sql<number>`sum(${size}) over (order by ${jobEvents.seq}) - ${size}`.as('before')
    })
    .from(jobEvents)
    .leftJoin(jobOutput, and(eq(jobOutput.jobId, jobEvents.jobId), eq(jobOutput.seq, jobEvents.seq)))
    .where(and(eq(jobEvents.jobId, jobId), gt(jobEvents.seq, after)))
    .orderBy(asc(jobEvents.seq))
    .limit(EVENTS_PER_READ)
    .as('page')
  const { before, ...columns } = page._.selectedFields
  return db.select(columns).from(page).where(lt(before, TEXT_BYTES_PER_READ)).orderBy(asc(page.seq))
}

/** How far the output of an attempt is recorded: bytes of text, and bytes after a cut, which are only counted. */
export interface OutputRecorded {
  bytes: number
  dropped: number
}

/** Of the attempt of a job itself that is open. */
export async function recordedOutput(db: DbOrTx, jobId: string): Promise<OutputRecorded> {
  const [open] = await db
    .select({ bytes: attempts.outputBytes, dropped: attempts.outputDropped })
    .from(attempts)
    .where(and(eq(attempts.jobId, jobId), eq(attempts.task, ''), eq(attempts.state, 'running')))
  return open ?? { bytes: 0, dropped: 0 }
}

/** The next part of what an attempt prints. `offset` and `end` are bytes of its text. */
export interface OutputPart {
  text: string
  offset: number
  end: number
  /** How much was printed after the last text, so far; 0 while all of it is text. */
  dropped: number
}

/** `closed`: the attempt has ended, or another worker has the job. `full`: the job has no room for more text. */
export type OutputStored = 'stored' | 'closed' | 'full' | OutputRecorded

/**
 * Appends an event with a part of what an attempt prints. The attempt must be open and of the job's current generation.
 * @param recorded what was recorded before this part, as far as the caller knows.
 * @returns what is recorded, when that is not so: by an earlier try of this write, or by an earlier execution in the attempt.
 */
export async function appendOutput(
  db: DbOrTx,
  { jobId, task, number }: AttemptRef,
  recorded: OutputRecorded,
  { text, offset, end, dropped }: OutputPart
): Promise<OutputStored> {
  const size = Buffer.byteLength(text)
  const held = db
    .select({ id: jobs.id, generation: jobs.generation })
    .from(jobs)
    .where(and(eq(jobs.id, jobId), hasRoomFor(size)))
    .for('no key update')
  const truncated = dropped > recorded.dropped ? dropped : null
  const stored = await db.execute(sql`
    with held as ${held},
      moved as (update ${attempts} set output_bytes = ${Math.max(end, recorded.bytes)}, output_dropped = ${dropped}
        where job_id in (select id from held) and task = ${task} and number = ${number} and state = 'running'
          and generation = (select generation from held)
          and output_bytes = ${recorded.bytes} and output_dropped = ${recorded.dropped}
        returning job_id, task, number),
      raised as (update ${jobs} set event_seq = event_seq + 1, output_bytes = output_bytes + ${size}::int,
          output_events = output_events + ${size > 0 ? 1 : 0}::int
        where id in (select job_id from moved) returning id, event_seq, status),
      appended as (insert into ${jobEvents} (job_id, seq, type, status, task, attempt)
        select id, event_seq, 'output', status, task, number from raised, moved)
    insert into ${jobOutput} (job_id, seq, text, text_offset, truncated_bytes)
      select id, event_seq, ${text}, ${offset}::int, ${truncated}::int from raised
    returning seq`)
  if (stored.length > 0) return 'stored'
  const [now] = await db
    .select({ bytes: attempts.outputBytes, dropped: attempts.outputDropped, room: hasRoomFor(size).mapWith(Boolean) })
    .from(attempts)
    .innerJoin(jobs, and(eq(jobs.id, attempts.jobId), eq(jobs.generation, attempts.generation)))
    .where(
      and(
        eq(attempts.jobId, jobId),
        eq(attempts.task, task),
        eq(attempts.number, number),
        eq(attempts.state, 'running')
      )
    )
  if (!now) return 'closed'
  const { room, ...actual } = now
  return actual.bytes === recorded.bytes && actual.dropped === recorded.dropped && !room ? 'full' : actual
}

/** Text is refused above the limits of the job; a count is always recorded, and an attempt has at most a few. */
const hasRoomFor = (bytes: number): SQL =>
  sql`(${bytes}::int = 0 or (${jobs.outputBytes} + ${bytes}::int <= ${JOB_OUTPUT_BYTES_MAX}::int
    and ${jobs.outputEvents} < ${JOB_OUTPUT_EVENTS_MAX}::int))`
