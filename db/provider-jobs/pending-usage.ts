// Provider jobs that ended before their provider stated what they used. Their jobs are settled with the estimate, and the
// provider is queried again: the figure that it states then is booked once.
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Place } from '../../domain/backends/provider-job.js'
import type { Charge } from '../../domain/money/charge.js'
import type { Db, Tx } from '../client.js'
import { now } from '../clock.js'
import { adjust } from '../money/adjust.js'
import { jobs } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'
import { lockDue } from './due-rows.js'
import { ASK_USAGE_FIRST_SECONDS, type PriceRow, priceColumns, usageValues } from './provider-charge.js'
import { providerJobAt } from './provider-jobs.js'
import { costOfAll, lockProviderJobs } from './provider-money.js'
import type { ProviderRef } from './provider-refs.js'

/** The pause between two queries grows with the time since the end, up to this. */
const ASK_SECONDS_MAX = 3_600
/** A provider that has not stated the usage by then is not queried any more. */
const ASK_DAYS = 7

export interface PendingUsage extends Pick<ProviderRef, 'jobId' | 'task' | 'attempt'>, PriceRow {
  teamId: string
  provider: string
  providerJobId: string
  place: Place | null
}

const nextAsk = sql`${now} + make_interval(secs =>
  least(greatest(extract(epoch from ${now} - ${providerJobs.endedAt})::float8, ${ASK_USAGE_FIRST_SECONDS}), ${ASK_SECONDS_MAX}))`

/** Takes provider jobs that are due for a query about their usage, and schedules the next one of each. */
export async function takePendingUsage(db: Db, limit: number): Promise<PendingUsage[]> {
  const due = lockDue(db, providerJobs.usageAskAt, limit)
  return db
    .update(providerJobs)
    .set({ usageAskAt: nextAsk })
    .from(jobs)
    .where(
      and(
        eq(jobs.id, providerJobs.jobId),
        sql`(${providerJobs.jobId}, ${providerJobs.task}, ${providerJobs.attempt}) in (select job_id, task, attempt from ${due})`
      )
    )
    .returning({
      jobId: providerJobs.jobId,
      task: providerJobs.task,
      attempt: providerJobs.attempt,
      teamId: jobs.teamId,
      provider: providerJobs.provider,
      providerJobId: sql<string>`${providerJobs.providerJobId}`,
      place: providerJobs.place,
      ...priceColumns
    })
}

/**
 * Ends the queries about provider jobs whose last one would come more than a week after their end: the estimate stays
 * booked. After a longer stop of the service, each is queried once more before that.
 */
export async function giveUpPendingUsage(db: Db, limit: number): Promise<Pick<PendingUsage, 'jobId' | 'provider'>[]> {
  const late = sql`select job_id, task, attempt from ${providerJobs} late
    where late.usage_ask_at <= ${now} and late.usage_ask_at > late.ended_at + make_interval(days => ${ASK_DAYS})
    order by late.usage_ask_at limit ${limit} for update skip locked`
  return db
    .update(providerJobs)
    .set({ usageAskAt: null, note: 'the provider has not stated the cost; the estimate is booked' })
    .where(
      sql`(${providerJobs.jobId}, ${providerJobs.task}, ${providerJobs.attempt}) in (select * from (${late}) given_up)`
    )
    .returning({ jobId: providerJobs.jobId, provider: providerJobs.provider })
}

/**
 * `booked`: the difference to what the job was settled with. `recorded`: the job is settled with the figure later, or there
 * is nothing to book. `over`: that was done, or given up, before.
 */
export type UsageOutcome = 'booked' | 'recorded' | 'over'

/** Records what a provider stated after the end of a provider job. The second of two concurrent calls changes nothing. */
export const bookUsage = (
  db: Db,
  pending: Pick<PendingUsage, 'jobId' | 'task' | 'attempt'>,
  { cost, ...stated }: Charge
): Promise<UsageOutcome> =>
  db.transaction(async (tx) => {
    const [job] = await tx
      .select({ actualCost: jobs.actualCost })
      .from(jobs)
      .where(eq(jobs.id, pending.jobId))
      .for('no key update')
    const rows = await lockProviderJobs(tx, pending.jobId)
    const before = rows.find(({ task, attempt }) => task === pending.task && attempt === pending.attempt)
    if (!job || !before || before.usageAskAt === null) return 'over'
    await tx
      .update(providerJobs)
      .set({ cost: cost ?? before.cost, ...usageValues(stated) })
      .where(providerJobAt(pending))
    // A job that runs, or whose money is held, is settled with the costs of its provider jobs as they are then. One that was
    // settled with anything else than their sum, such as the bill that an administrator read, is not corrected.
    if (cost === null || job.actualCost === null || job.actualCost !== costOfAll(rows)) return 'recorded'
    await adjust(tx, pending, cost - (before.cost ?? before.estimate))
    return 'booked'
  })

/** An administrator has settled the job with the provider's bill. */
export async function endUsageQueries(tx: Tx, jobId: string): Promise<void> {
  await tx
    .update(providerJobs)
    .set({ usageAskAt: null, note: null })
    .where(and(eq(providerJobs.jobId, jobId), isNotNull(providerJobs.usageAskAt)))
}
