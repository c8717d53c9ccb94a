// The end of most jobs on local engines, in one statement and so in one commit: the result, the end of its attempt, and the
// status. Where more is due (money, a capsule, a webhook), or another writer was first, it writes nothing, and the longer way
// follows: `completeAttempt`, then `completeJob`.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../client.js'
import { now } from '../clock.js'
import { type RunOutcome, storedFiles, storing } from '../jobs/artifacts.js'
import { summaryText } from '../jobs/attempts.js'
import { type Fence, fenceHolds } from '../jobs/fence.js'
import { hasPlainEnd } from '../jobs/has-plain-end.js'
import { type Accompanied, transition } from '../jobs/job-transition.js'
import { withContents } from '../stored-content.js'
import { attempts, jobEvents, jobs } from '../tables/jobs.js'

/** The open attempt with this number; or an attempt that is recorded only now, and began `ranMs` milliseconds ago. */
export type EndingAttempt = { number: number } | { ranMs: number }

/**
 * Completes a running job that ends plainly with the result of a run.
 * @returns the hex SHA-256 of the stored result; `null` when nothing was written.
 */
export async function completePlainly(
  db: Db,
  jobId: string,
  fence: Fence,
  attempt: EndingAttempt,
  outcome: RunOutcome
): Promise<string | null> {
  const files = storedFiles(outcome)
  const resultSha256 = files[0]!.sha256
  const summary = summaryText(outcome.result)
  const isRecorded = 'number' in attempt
  const moved = await withContents(
    db,
    files.map(({ content }) => content),
    (within, bytes) => {
      // Like everywhere, the job is locked before the attempt.
      const held = heldJob(within, jobId, fence, isRecorded ? undefined : hasNoAttempt(jobId))
      const ended = isRecorded
        ? closed(attempt.number, resultSha256, summary)
        : added(attempt.ranMs, resultSha256, summary)
      const accompanied: Accompanied = {
        before: sql`held as ${held}, closed as (${ended}), stored as (${storing(files, bytes)}), `,
        after: sql`${isRecorded ? sql.empty() : attemptEvent('began', 2)}${attemptEvent('ended', 1)}`,
        events: isRecorded ? 1 : 2
      }
      return transition(within, jobId, 'completed', {
        fence,
        set: { resultSha256, actualCost: 0n, cancelOutcome: null },
        where: sql`${jobs.id} in (select job_id from closed)`,
        accompanied
      })
    }
  )
  return moved === 'won' ? resultSha256 : null
}

const heldJob = (db: DbOrTx, jobId: string, fence: Fence, where: SQL | undefined) =>
  db
    .select({ id: jobs.id, generation: jobs.generation, seq: jobs.eventSeq })
    .from(jobs)
    .where(and(eq(jobs.id, jobId), eq(jobs.status, 'running'), fenceHolds(fence), hasPlainEnd, where))
    .for('no key update')

const hasNoAttempt = (jobId: string) =>
  sql`not exists (select from ${attempts} where ${attempts.jobId} = ${jobId} and ${attempts.task} = '')`

const closed = (number: number, resultSha256: string, summary: string | null): SQL =>
  sql`update ${attempts} set state = 'completed', ended_at = ${now}, result_sha256 = ${resultSha256}, summary = ${summary}
      where job_id in (select id from held) and task = '' and number = ${number} and state = 'running'
        and generation = (select generation from held)
      returning job_id, number, started_at, ended_at`

/** The first attempt of its job. It began after the last event, also where the worker has measured more. */
const added = (ranMs: number, resultSha256: string, summary: string | null): SQL =>
  sql`insert into ${attempts} (job_id, task, number, generation, state, started_at, ended_at, result_sha256, summary)
      select held.id, '', 1, held.generation, 'completed',
          greatest(last.at, ${now} - make_interval(secs => ${ranMs / 1_000}::float8)), ${now}, ${resultSha256}::text, ${summary}::text
        from held join ${jobEvents} last on last.job_id = held.id and last.seq = held.event_seq
      returning job_id, number, started_at, ended_at`

const eventOf = {
  began: { name: 'attempt_began', state: 'running', at: 'started_at' },
  ended: { name: 'attempt_ended', state: 'completed', at: 'ended_at' }
} as const

/** @param before how many events before that of the status. */
function attemptEvent(which: keyof typeof eventOf, before: number): SQL {
  const { name, state, at } = eventOf[which]
  return sql`${sql.identifier(name)} as (insert into ${jobEvents} (job_id, seq, type, status, task, attempt, attempt_state, at)
      select closed.job_id, moved.event_seq - ${before}::int, 'attempt', 'running', '', closed.number, ${state},
          closed.${sql.identifier(at)}
        from closed, moved), `
}
