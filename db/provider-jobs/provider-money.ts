// What work at providers has cost, and what of it nobody knows yet. Money is settled with a figure that is certain, or it
// stays held: a reservation is released only for what was certainly never accepted.
import { and, asc, eq, inArray, isNotNull, lte, sql } from 'drizzle-orm'
import { finalStatuses } from '../../domain/jobs/job-status.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { now } from '../clock.js'
import { backends } from '../tables/backends.js'
import { jobs } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'
import { taskAt } from './provider-jobs.js'
import type { ProviderRef } from './provider-refs.js'

/** How often a provider is asked about a task whose job has ended with its money held. */
const ASK_SECONDS = 3_600
/** After this long without an answer it is for an administrator to settle. */
const ASK_DAYS = 30

/** Of a circuit that was asked for its own price; else the job's. */
const estimate = sql`coalesce(${providerJobs.estimate}, ${jobs.estimatedCost})`.mapWith(jobs.estimatedCost)

const taskStates = (tx: DbOrTx, jobId: string) =>
  tx
    .select({ state: providerJobs.state, lastSentAt: providerJobs.lastSentAt, cost: providerJobs.cost, estimate })
    .from(providerJobs)
    .innerJoin(jobs, eq(jobs.id, providerJobs.jobId))
    .where(eq(providerJobs.jobId, jobId))

/**
 * What a job that ends without a result has cost: what its tasks at providers certainly did, the estimate where one ended
 * there without a figure. `held`: a task was accepted, or may have been, and how it ended there is not known.
 */
export async function costAtEnd(tx: Tx, jobId: string): Promise<MicroUsd | 'held'> {
  let cost = 0n
  for (const { state, lastSentAt, cost: charged, estimate } of await taskStates(tx, jobId)) {
    if (state === 'accepted' || state === 'unknown' || (state === 'intended' && lastSentAt !== null)) return 'held'
    if (state !== 'intended' && state !== 'withdrawn') cost += charged ?? estimate
  }
  return cost
}

/**
 * What a job that completes has cost: on an engine of ours its estimate, else what its tasks at providers did; the estimate
 * of each that named no figure. A script may have asked its provider for nothing.
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
  // Nothing may be sent for it between the look at its tasks and its end.
  await lockJob(tx, jobId)
  return (await taskStates(tx, jobId))
    .filter(({ state, lastSentAt }) => state !== 'withdrawn' && (state !== 'intended' || lastSentAt !== null))
    .reduce((sum, { cost, estimate }) => sum + (cost ?? estimate), 0n)
}

/** Until the end of the transaction. */
export async function lockJob(tx: Tx, jobId: string): Promise<void> {
  await tx.select({ id: jobs.id }).from(jobs).where(eq(jobs.id, jobId)).for('no key update')
}

/** Has the provider asked again about a job that ended with its money held. */
export async function checkAgainLater(tx: Tx, jobId: string): Promise<void> {
  await tx
    .update(providerJobs)
    .set({ askAt: sql`${now} + make_interval(secs => ${ASK_SECONDS})` })
    .where(and(eq(providerJobs.jobId, jobId), inArray(providerJobs.state, ['intended', 'accepted', 'unknown'])))
}

export interface HeldProviderJob extends Pick<ProviderRef, 'jobId' | 'task' | 'attempt'> {
  teamId: string
  provider: string
  token: string
  providerJobId: string | null
  createdAt: Date
  lastSentAt: Date | null
  sentWith: string | null
  secondsSinceSent: number | null
  estimate: MicroUsd
}

/** Takes held tasks that it is time to ask about; the next look at each is an hour away. */
export async function takeHeldProviderJobs(db: Db, limit: number): Promise<HeldProviderJob[]> {
  const due = db
    .select({ jobId: providerJobs.jobId, task: providerJobs.task, attempt: providerJobs.attempt })
    .from(providerJobs)
    .where(and(isNotNull(providerJobs.askAt), lte(providerJobs.askAt, now)))
    .orderBy(asc(providerJobs.askAt))
    .limit(limit)
    .for('update', { skipLocked: true })
    .as('due')
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
      token: providerJobs.token,
      providerJobId: providerJobs.providerJobId,
      createdAt: providerJobs.createdAt,
      lastSentAt: providerJobs.lastSentAt,
      sentWith: providerJobs.sentWith,
      secondsSinceSent: sql<number | null>`extract(epoch from ${now} - ${providerJobs.lastSentAt})::float8`,
      estimate
    })
}

/**
 * How a held task turned out to have ended.
 * @returns what its job has cost, or `held` while another of its tasks has no known end.
 */
export async function closeHeldProviderJob(
  tx: Tx,
  held: HeldProviderJob,
  found: { state: 'completed' | 'failed' | 'cancelled' | 'withdrawn'; providerJobId: string | null; cost: MicroUsd }
): Promise<MicroUsd | 'held'> {
  // The job before its tasks, as everywhere; and of two tasks the second sees the first one's end.
  await lockJob(tx, held.jobId)
  await tx
    .update(providerJobs)
    .set({ ...found, endedAt: now, seenAt: now, askAt: null })
    .where(and(taskAt(held), inArray(providerJobs.state, ['intended', 'accepted', 'unknown'])))
  return costAtEnd(tx, held.jobId)
}
