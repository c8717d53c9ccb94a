// The cost of provider jobs. Money is settled with a certain figure, or it stays held. A reservation is released only
// for work that was certainly never accepted.
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Place } from '../../domain/backends/provider-job.js'
import { finalStatuses } from '../../domain/jobs/job-status.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Db, Tx } from '../client.js'
import { now } from '../clock.js'
import { backends } from '../tables/backends.js'
import { jobs } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'
import { lockDue } from './due-rows.js'
import { type PriceRow, priceColumns, type StatedUsage, usageValues } from './provider-charge.js'
import { providerJobAt } from './provider-jobs.js'
import type { ProviderRef } from './provider-refs.js'

/** How often a provider is queried about a job that ended with its reservation held. */
const ASK_SECONDS = 3_600
/** After this many days without a result, an administrator has to settle it. */
const ASK_DAYS = 30

/** A requested circuit's own price, or else the job's. */
const estimate = sql`coalesce(${providerJobs.estimate}, ${jobs.estimatedCost})`.mapWith(jobs.estimatedCost)

/** Locked until the job has ended: a report that arrives meanwhile is recorded before its money is, or after. */
export const lockProviderJobs = (tx: Tx, jobId: string) =>
  tx
    .select({
      task: providerJobs.task,
      attempt: providerJobs.attempt,
      state: providerJobs.state,
      lastSentAt: providerJobs.lastSentAt,
      cost: providerJobs.cost,
      estimate,
      usageAskAt: providerJobs.usageAskAt
    })
    .from(providerJobs)
    .innerJoin(jobs, eq(jobs.id, providerJobs.jobId))
    .where(eq(providerJobs.jobId, jobId))
    .orderBy(providerJobs.task, providerJobs.attempt)
    .for('no key update', { of: providerJobs })

/** What provider jobs cost together, with the estimate for those without a figure. */
export const costOfAll = (rows: Awaited<ReturnType<typeof lockProviderJobs>>): MicroUsd =>
  rows
    .filter(({ state, lastSentAt }) => state !== 'withdrawn' && (state !== 'intended' || lastSentAt !== null))
    .reduce((sum, { cost, estimate }) => sum + (cost ?? estimate), 0n)

/**
 * The cost of a job that ends without a result: the certain charges of its provider jobs, or the estimate of one that
 * ended without a figure. `held` when one was or may have been accepted, and its outcome is unknown.
 */
export async function costAtEnd(tx: Tx, jobId: string): Promise<MicroUsd | 'held'> {
  const rows = await lockProviderJobs(tx, jobId)
  const isOpen = rows.some(
    ({ state, lastSentAt }) =>
      state === 'accepted' || state === 'unknown' || (state === 'intended' && lastSentAt !== null)
  )
  return isOpen ? 'held' : costOfAll(rows)
}

/**
 * The cost of a job that completes: its estimate on a local engine, otherwise the charges of its provider jobs, with
 * the estimate for those without a figure. A script may have requested nothing from its provider.
 */
export async function costOfCompleted(tx: Tx, jobId: string): Promise<MicroUsd> {
  const [job] = await tx
    .select({
      estimate: jobs.estimatedCost,
      atProvider: sql<boolean>`(${backends.slug} is not null and ${backends.engine} is null)
        or exists (select 1 from ${providerJobs} where ${providerJobs.jobId} = ${jobs.id})`
    })
    .from(jobs)
    .leftJoin(backends, eq(backends.slug, jobs.backend))
    .where(eq(jobs.id, jobId))
  if (!job?.atProvider) return job?.estimate ?? 0n
  // Nothing can be sent for it between the check of its provider jobs and its end.
  await lockJob(tx, jobId)
  return costOfAll(await lockProviderJobs(tx, jobId))
}

/** Held until the end of the transaction. */
export async function lockJob(tx: Tx, jobId: string): Promise<void> {
  await tx.select({ id: jobs.id }).from(jobs).where(eq(jobs.id, jobId)).for('no key update')
}

/** Schedules another query to the provider, for a job that ended with its reservation held. */
export async function checkAgainLater(tx: Tx, jobId: string): Promise<void> {
  await tx
    .update(providerJobs)
    .set({ askAt: sql`${now} + make_interval(secs => ${ASK_SECONDS})` })
    .where(and(eq(providerJobs.jobId, jobId), inArray(providerJobs.state, ['intended', 'accepted', 'unknown'])))
}

export interface HeldProviderJob extends Pick<ProviderRef, 'jobId' | 'task' | 'attempt'>, PriceRow {
  teamId: string
  provider: string
  /** The provider's name of the device; `null` when its backend is no longer in the catalogue. */
  target: string | null
  token: string
  providerJobId: string | null
  createdAt: Date
  lastSentAt: Date | null
  sentWith: string | null
  place: Place | null
  secondsSinceSent: number | null
}

/** Takes held provider jobs that are due for a query. The next query of each is an hour away. */
export async function takeHeldProviderJobs(db: Db, limit: number): Promise<HeldProviderJob[]> {
  const due = lockDue(db, providerJobs.askAt, limit)
  return db
    .update(providerJobs)
    .set({
      askAt: sql`case when ${jobs.completedAt} > ${now} - make_interval(days => ${ASK_DAYS})
        then ${now} + make_interval(secs => ${ASK_SECONDS}) end`
    })
    .from(jobs)
    .where(
      and(
        eq(jobs.id, providerJobs.jobId),
        inArray(jobs.status, finalStatuses),
        sql`(${providerJobs.jobId}, ${providerJobs.task}, ${providerJobs.attempt}) in (select job_id, task, attempt from ${due})`
      )
    )
    .returning({
      jobId: providerJobs.jobId,
      task: providerJobs.task,
      attempt: providerJobs.attempt,
      teamId: jobs.teamId,
      provider: providerJobs.provider,
      target: sql<
        string | null
      >`(select ${backends.providerTargetId} from ${backends} where ${backends.slug} = ${jobs.backend})`,
      token: providerJobs.token,
      providerJobId: providerJobs.providerJobId,
      createdAt: providerJobs.createdAt,
      lastSentAt: providerJobs.lastSentAt,
      sentWith: providerJobs.sentWith,
      place: providerJobs.place,
      ...priceColumns,
      secondsSinceSent: sql<number | null>`extract(epoch from ${now} - ${providerJobs.lastSentAt})::float8`
    })
}

/** How a held provider job ended. */
export interface FoundEnd extends StatedUsage {
  state: 'completed' | 'failed' | 'cancelled' | 'withdrawn'
  providerJobId: string | null
  /** `null` when it is not known: the estimate counts. */
  cost: MicroUsd | null
}

/**
 * Records how a held provider job ended.
 * @returns the cost of its job, or `held` while another of its provider jobs has no known end.
 */
export async function closeHeldProviderJob(
  tx: Tx,
  held: HeldProviderJob,
  { state, providerJobId, cost, ...stated }: FoundEnd
): Promise<MicroUsd | 'held'> {
  // The job is locked before its provider jobs, as everywhere. Of two concurrent calls the second sees the first one's
  // end.
  await lockJob(tx, held.jobId)
  await tx
    .update(providerJobs)
    .set({ state, providerJobId, cost, ...usageValues(stated), endedAt: now, seenAt: now })
    .where(and(providerJobAt(held), inArray(providerJobs.state, ['intended', 'accepted', 'unknown'])))
  // An end that was reported before this one stays.
  await tx.update(providerJobs).set({ askAt: null }).where(providerJobAt(held))
  return costAtEnd(tx, held.jobId)
}
