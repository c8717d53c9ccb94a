// The verdicts of a capsule over time.
import { and, desc, eq, isNotNull, sql } from 'drizzle-orm'
import type { CapsuleRunTrigger } from '../../domain/capsules/capsule-state.js'
import type { Page } from '../../domain/json/page.js'
import type { Verdict } from '../../domain/verification/verdict.js'
import { cappedCount, ONE } from '../capped-count.js'
import type { DbOrTx } from '../client.js'
import { capsuleRuns } from '../tables/capsules.js'

export interface PastVerification {
  runId: string
  trigger: CapsuleRunTrigger
  scheduledAt: Date | null
  completedAt: Date
  verdict: Verdict
  alertedAt: Date | null
  /**
   * Total variation distance from the sealed counts, its upper bound, and the margin; `null` when none could be
   * computed.
   */
  tvd: number | null
  tvdUpper: number | null
  margin: number | null
  /** The combined p-value of the tests against the sealed counts. */
  pValue: number | null
}

const number = (path: string) =>
  sql<number | null>`case when jsonb_typeof(${capsuleRuns.verification} #> ${path}) = 'number'
    then (${capsuleRuns.verification} #>> ${path})::float8 end`

/** Newest first. @returns `total` is counted no further than `TOTAL_MAX + 1`. */
export async function listVerifications(
  db: DbOrTx,
  capsuleId: string,
  { limit, offset }: Page
): Promise<{ rows: PastVerification[]; total: number }> {
  const where = and(eq(capsuleRuns.capsuleId, capsuleId), isNotNull(capsuleRuns.verdict))
  const rows = await db
    .select({
      runId: capsuleRuns.id,
      trigger: capsuleRuns.trigger,
      scheduledAt: capsuleRuns.scheduledAt,
      completedAt: sql<Date>`coalesce(${capsuleRuns.completedAt}, ${capsuleRuns.createdAt})`.mapWith(
        capsuleRuns.completedAt
      ),
      verdict: sql<Verdict>`${capsuleRuns.verdict}`,
      alertedAt: capsuleRuns.alertedAt,
      tvd: number('{tvd}'),
      tvdUpper: number('{tvd_upper}'),
      margin: number('{margin}'),
      pValue: number('{p_values,combined}')
    })
    .from(capsuleRuns)
    .where(where)
    .orderBy(desc(capsuleRuns.id))
    .limit(limit)
    .offset(offset)
  return { rows, total: await cappedCount(db, db.select(ONE).from(capsuleRuns).where(where).$dynamic()) }
}
