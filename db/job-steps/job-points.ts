// The points of a sweep that are done: stored as they end, so that a job that starts again runs only the others. The end of
// the job removes them (db/jobs/job-transition.ts).
import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import { POINTS_RESULT_BYTES_MAX } from '../../domain/jobs/params/points.js'
import type { DbOrTx } from '../client.js'
import { type Fence, fenceHolds } from '../jobs/fence.js'
import { jobPoints, jobs } from '../tables/jobs.js'

export interface PointOutcome {
  index: number
  /** JSON text of an object: the fields of its result, or `error`. */
  outcome: string
  failed: boolean
}

/** The numbers of the points that are done. */
export async function donePoints(db: DbOrTx, jobId: string): Promise<Set<number>> {
  const rows = await db.select({ index: jobPoints.index }).from(jobPoints).where(eq(jobPoints.jobId, jobId))
  return new Set(rows.map(({ index }) => index))
}

/**
 * Stores the points of a batch of a running job, and adds the time that it ran. A point that is stored already stays as it is.
 * @param points none, for a batch that only took time.
 * @returns `lost` when another worker has the job; `full` when all of them would exceed the limit of a job, and nothing is
 * stored.
 */
export async function storePoints(
  db: DbOrTx,
  jobId: string,
  fence: Fence,
  points: readonly PointOutcome[],
  ranMs: number
): Promise<'stored' | 'full' | 'lost'> {
  const rows =
    points.length === 0
      ? [noRow]
      : points.map(
          ({ index, outcome, failed }) =>
            sql`(${index}::int, ${outcome}::text, ${failed}::boolean, ${Buffer.byteLength(outcome)}::int)`
        )
  const bytes = points.reduce((sum, { outcome }) => sum + Buffer.byteLength(outcome), 0)
  const held = db.select({ id: jobs.id }).from(jobs).where(runBy(jobId, fence)).for('no key update')
  const [answer] = await db.execute<{ held: boolean; fits: boolean }>(sql`
    with held as ${held},
      size as (select coalesce(sum(size_bytes), 0) + ${bytes}::int <= ${POINTS_RESULT_BYTES_MAX}::int as fits
        from ${jobPoints} where job_id = ${jobId}),
      stored as (insert into ${jobPoints} (job_id, index, outcome, failed, size_bytes)
        select held.id, point.* from held cross join (values ${sql.join(rows, sql`, `)})
          as point (index, outcome, failed, size_bytes)
        where index is not null and (select fits from size)
        on conflict do nothing returning failed),
      counted as (update ${jobs} set points_done = points_done + (select count(*) from stored),
          points_failed = points_failed + (select count(*) from stored where failed),
          points_ms = points_ms + ${ranMs}::bigint, updated_at = now()
        where id in (select id from held))
    select exists (select 1 from held) as held, (select fits from size) as fits`)
  if (!answer!.held) return 'lost'
  return answer!.fits ? 'stored' : 'full'
}

/** Gives the values their types where there is no point. */
const noRow = sql`(null::int, null::text, null::boolean, null::int)`

const runBy = (jobId: string, fence: Fence): SQL | undefined =>
  and(eq(jobs.id, jobId), eq(jobs.status, 'running'), fenceHolds(fence))

/** All points that are done, in order. */
export const listPoints = (db: DbOrTx, jobId: string): Promise<PointOutcome[]> =>
  db
    .select({ index: jobPoints.index, outcome: jobPoints.outcome, failed: jobPoints.failed })
    .from(jobPoints)
    .where(eq(jobPoints.jobId, jobId))
    .orderBy(asc(jobPoints.index))
