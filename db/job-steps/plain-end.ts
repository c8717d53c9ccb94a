// The end of most jobs on local engines, in one statement and so in one commit: the result, the end of its attempt, and the
// status. Where more is due (money, a capsule, a webhook), or another writer was first, it writes nothing, and the longer way
// follows: `completeAttempt`, then `completeJob`.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../client.js'
import { now } from '../clock.js'
import { type GivenFile, type RunOutcome, storedFiles, storing } from '../jobs/artifacts.js'
import { summaryText } from '../jobs/attempts.js'
import { type Fence, fenceHolds, type GivenFence } from '../jobs/fence.js'
import { hasPlainEnd } from '../jobs/has-plain-end.js'
import { afterTransition, type MovedRow, transitionText } from '../jobs/job-transition.js'
import { type Given, type GivenAll, numbered, numberedPlaces, type Places, perShape, statement } from '../statement.js'
import { areSentWhole, withContents } from '../stored-content.js'
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
  const contents = files.map(({ content }) => content)
  const resultSha256 = files[0]!.sha256
  const isRecorded = 'number' in attempt
  const end = {
    jobId,
    generation: fence.generation,
    lease: fence.lease ?? '',
    resultSha256,
    summary: summaryText(outcome.result),
    number: isRecorded ? attempt.number : 0,
    ranSeconds: isRecorded ? 0 : attempt.ranMs / 1_000
  }
  const shape = { isRecorded, isLeased: fence.lease !== undefined }
  const write = async (on: DbOrTx, rows: Promise<MovedRow[]>) =>
    afterTransition(on, jobId, 'completed', await rows, { fence })
  const moved = areSentWhole(contents)
    ? await write(db, smallEnd({ ...shape, files: files.length })(db, { ...end, ...numbered(files) }))
    : await withContents(db, contents, (tx, bytes) =>
        write(tx, tx.execute<MovedRow>(endText(tx, shape, end, files, bytes)))
      )
  return moved === 'won' ? resultSha256 : null
}

interface End {
  jobId: string
  generation: number
  /** For a shape that is leased. */
  lease: string
  resultSha256: string
  summary: string | null
  /** Of the attempt, for a shape that is recorded; otherwise how long it ran. */
  number: number
  ranSeconds: number
}

/** What the text of the statement depends on, besides the number of files. */
interface Shape {
  isRecorded: boolean
  isLeased: boolean
}

function endText(
  on: DbOrTx,
  shape: Shape,
  end: GivenAll<End>,
  files: readonly GivenFile[],
  bytes: readonly SQL[]
): SQL {
  const { isRecorded, isLeased } = shape
  const { jobId, generation, lease, resultSha256 } = end
  const fence = { generation, lease: isLeased ? lease : undefined }
  // Like everywhere, the job is locked before the attempt.
  const held = heldJob(on, jobId, fence, isRecorded ? undefined : hasNoAttempt(jobId))
  return transitionText(on, jobId, 'completed', {
    fence,
    set: { resultSha256: sql`${resultSha256}`, actualCost: 0n, cancelOutcome: null },
    where: sql`${jobs.id} in (select job_id from closed)`,
    accompanied: {
      before: sql`held as ${held}, closed as (${isRecorded ? closed(end) : added(end)}), stored as (${storing(files, bytes)}), `,
      after: sql`${isRecorded ? sql.empty() : attemptEvent('began', 2)}${attemptEvent('ended', 1)}`,
      events: isRecorded ? 1 : 2
    }
  })
}

type EndFile = ReturnType<typeof storedFiles>[number]

/** For contents that are sent in one piece. A run leaves one of a few numbers of files. */
const smallEnd = perShape(({ files, ...shape }: Shape & { files: number }) =>
  statement<Record<string, unknown>, MovedRow>((given, on) => {
    const placed = numberedPlaces<EndFile>(given, ['name', 'mediaType', 'sha256', 'sizeBytes', 'content'], files)
    const bytes = placed.map(({ content }) => sql`${content}::bytea`)
    return endText(on, shape, given as Places<End>, placed, bytes)
  })
)

const heldJob = (on: DbOrTx, jobId: Given<string>, fence: GivenFence, where: SQL | undefined) =>
  on
    .select({ id: jobs.id, generation: jobs.generation, seq: jobs.eventSeq })
    .from(jobs)
    .where(and(eq(jobs.id, jobId), eq(jobs.status, 'running'), fenceHolds(fence), hasPlainEnd, where))
    .for('no key update')

const hasNoAttempt = (jobId: Given<string>) =>
  sql`not exists (select from ${attempts} where ${attempts.jobId} = ${jobId} and ${attempts.task} = '')`

const closed = ({ number, resultSha256, summary }: GivenAll<End>): SQL =>
  sql`update ${attempts} set state = 'completed', ended_at = ${now}, result_sha256 = ${resultSha256}, summary = ${summary}
      where job_id in (select id from held) and task = '' and number = ${number} and state = 'running'
        and generation = (select generation from held)
      returning job_id, number, started_at, ended_at`

/** The first attempt of its job. It began after the last event, also where the worker has measured more. */
const added = ({ ranSeconds, resultSha256, summary }: GivenAll<End>): SQL =>
  sql`insert into ${attempts} (job_id, task, number, generation, state, started_at, ended_at, result_sha256, summary)
      select held.id, '', 1, held.generation, 'completed',
          greatest(last.at, ${now} - make_interval(secs => ${ranSeconds}::float8)), ${now}, ${resultSha256}::text, ${summary}::text
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
