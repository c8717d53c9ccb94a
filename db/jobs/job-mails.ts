// Mails about the end of jobs, to whoever asked for one at submission. A row is written by the transaction that ends the
// job; the sender takes one that is due, sends it outside of any transaction, and removes the row when the mail is with the
// server or given up. A try counts when it is taken, and the count is the fence. Sending twice is possible (the process
// dies between the server's word and the removal), not sending is not, short of giving up.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ErrorCode } from '../../domain/errors.js'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Db } from '../client.js'
import { members, users } from '../tables/accounts.js'
import { jobs } from '../tables/jobs.js'
import { jobMails } from '../tables/operations.js'

/** How long a taken mail is left to its sender, who needs at most the time limit of one try. */
const TAKEN_SECONDS = 120

/**
 * A part of the statement that ends a job.
 * @param ended a table of that statement with the job, or nothing: `id`, `notify`.
 */
export const recordMail = (ended: SQL): SQL =>
  sql`insert into ${jobMails} (job_id) select id from ${ended} where notify = 'email'`

export interface JobMail {
  jobId: string
  /** Counts this one already. */
  tries: number
  /** The submitter, or `null` when they are gone: the account, or their membership in the job's team. */
  email: string | null
  name: string | null
  backend: string
  status: JobStatus
  errorCode: ErrorCode | null
  reason: string | null
  cost: MicroUsd | null
}

/** Takes the mail that has been due for the longest time, or `null` when none is. Others' are passed over. */
export async function takeMail(db: Db): Promise<JobMail | null> {
  const due = db
    .$with('due')
    .as(
      db
        .select({ jobId: jobMails.jobId })
        .from(jobMails)
        .where(sql`${jobMails.nextAt} <= now()`)
        .orderBy(jobMails.nextAt)
        .limit(1)
        .for('update', { skipLocked: true })
    )
  const [taken] = await db
    .with(due)
    .update(jobMails)
    .set({
      tries: sql`${jobMails.tries} + 1`,
      nextAt: sql`now() + make_interval(secs => ${TAKEN_SECONDS})`
    })
    .from(due)
    .where(eq(jobMails.jobId, due.jobId))
    .returning({ jobId: jobMails.jobId, tries: jobMails.tries })
  if (!taken) return null
  const [job] = await db
    .select({
      email: sql<string | null>`case when ${members.userId} is not null then ${users.email} end`,
      name: jobs.name,
      backend: jobs.backend,
      status: jobs.status,
      errorCode: sql<ErrorCode | null>`${jobs.errorCode}`,
      reason: jobs.statusReason,
      cost: jobs.actualCost
    })
    .from(jobs)
    .leftJoin(users, eq(users.id, jobs.userId))
    .leftJoin(members, and(eq(members.userId, jobs.userId), eq(members.teamId, jobs.teamId)))
    .where(eq(jobs.id, taken.jobId))
  return { ...taken, ...job! }
}

/** The mail is sent, or nobody's any more. */
export async function removeMail(db: Db, taken: Pick<JobMail, 'jobId' | 'tries'>): Promise<void> {
  await db.delete(jobMails).where(isTaken(taken))
}

/** The try failed for a reason that may pass; the next one is due after `seconds`. */
export async function postponeMail(
  db: Db,
  taken: Pick<JobMail, 'jobId' | 'tries'>,
  error: string,
  seconds: number
): Promise<void> {
  await db
    .update(jobMails)
    .set({ lastError: error, nextAt: sql`now() + make_interval(secs => ${seconds})` })
    .where(isTaken(taken))
}

const isTaken = ({ jobId, tries }: Pick<JobMail, 'jobId' | 'tries'>) =>
  and(eq(jobMails.jobId, jobId), eq(jobMails.tries, tries))
