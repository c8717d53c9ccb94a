// Mails about the end of jobs, for submitters who requested one. The transaction that ends the job inserts a row. The
// sender takes a due row, sends the mail outside of any transaction, and removes the row when the mail server has
// accepted the mail or the sender gives up. A try counts when it is taken, and the count is the fence. A mail can be
// sent twice (when the process dies before the removal), but is never lost short of giving up.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ErrorCode } from '../../domain/errors.js'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Db } from '../client.js'
import { members, users } from '../tables/accounts.js'
import { jobs } from '../tables/jobs.js'
import { jobMails } from '../tables/operations.js'

/** How long a taken mail belongs to its sender, which needs at most the time limit of one try. */
const TAKEN_SECONDS = 120

/**
 * A part of the statement that ends a job.
 * @param ended a table of that statement with `id` and `notify` of the job, or nothing.
 */
export const recordMail = (ended: SQL): SQL =>
  sql`insert into ${jobMails} (job_id) select id from ${ended} where notify = 'email'`

export interface JobMail {
  jobId: string
  /** The number of tries, including this one. */
  tries: number
  /** The submitter; `null` when they have deleted their account or left the job's team. */
  email: string | null
  /** Also `null` while the submitter has not proved the address: the mail then holds no text of theirs. */
  name: string | null
  backend: string
  status: JobStatus
  errorCode: ErrorCode | null
  cost: MicroUsd | null
}

/**
 * Takes the mail that has been due longest, or returns `null` when none is due. Skips mails that other senders have
 * taken.
 */
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
      name: sql<string | null>`case when ${users.emailVerifiedAt} is not null then ${jobs.name} end`,
      backend: jobs.backend,
      status: jobs.status,
      errorCode: sql<ErrorCode | null>`${jobs.errorCode}`,
      cost: jobs.actualCost
    })
    .from(jobs)
    .leftJoin(users, eq(users.id, jobs.userId))
    .leftJoin(members, and(eq(members.userId, jobs.userId), eq(members.teamId, jobs.teamId)))
    .where(eq(jobs.id, taken.jobId))
  return { ...taken, ...job! }
}

/** The mail was sent, or has no recipient any more. */
export async function removeMail(db: Db, taken: Pick<JobMail, 'jobId' | 'tries'>): Promise<void> {
  await db.delete(jobMails).where(isTaken(taken))
}

/** The try failed for a temporary reason. The next one is due after `seconds`. */
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
