// The steps that change a job's status: begin, complete, fail, cancel. Each is one transaction and safe to run twice.
// Both modes call these; only the fence differs (direct jobs have a lease).

import { and, eq, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { JobError } from '../../domain/errors.js'
import { assertCancellable } from '../../domain/jobs/job-actions.js'
import { type CancelOutcome, type ExecutionMode, isFinal } from '../../domain/jobs/job-status.js'
import { paramsFromText, shotsOfRuns } from '../../domain/jobs/params/params.js'
import { storableText } from '../../domain/json/json-guard.js'
import { estimateRuns } from '../../domain/money/cost.js'
import { formatUsd, type MicroUsd } from '../../domain/money/money.js'
import { freePricing, pricingColumns, pricingOf } from '../backends/pricing.js'
import { createRequestedCapsule } from '../capsules/capsule-of-job.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { now } from '../clock.js'
import { attemptUnderWay, closeAttempt, closeOpenAttempts } from '../jobs/attempts.js'
import { type Fence, fenceHolds } from '../jobs/fence.js'
import { closeTasks } from '../jobs/job-tasks.js'
import {
  afterTransition,
  type Change,
  type MovedRow,
  type Transition,
  transition,
  transitionText
} from '../jobs/job-transition.js'
import { settle } from '../money/budget.js'
import { checkAgainLater, costAtEnd, costOfCompleted, lockJob } from '../provider-jobs/provider-money.js'
import { type GivenAll, statement } from '../statement.js'
import { backends } from '../tables/backends.js'
import { jobs, outbox, scriptRequests } from '../tables/jobs.js'
import { leaseEnd } from './lease-time.js'

/** `cancel`: continue with the cancel path. `stop`: the job is final, or another worker has it; finish quietly. */
export type Beginning = 'begin' | 'resume' | 'cancel' | 'stop'

/**
 * Claims a job for the worker that the fence names, and prices it again. A price above the reservation fails the job
 * before anything is spent.
 */
export async function beginJob(
  db: Db,
  jobId: string,
  fence: Fence,
  facts: { workflowRunId?: string } = {}
): Promise<Beginning> {
  // The same statement sets the lease, so the claim is fenced by the generation alone.
  const by = { fence: { generation: fence.generation } }
  const values = {
    jobId,
    generation: fence.generation,
    lease: fence.lease ?? null,
    workflowRunId: facts.workflowRunId ?? null
  }
  // Most backends are free, and then the claim is one statement: no price can be above the reservation.
  const moved = await claimOnFreeBackend(db, values)
  if ((await afterTransition(db, jobId, 'running', moved, by)) === 'won') return 'begin'
  return db.transaction(async (tx) => {
    const claim = await transition(tx, jobId, 'running', { ...claimOf(values), ...by })
    const beginning = claim === 'won' ? 'begin' : await beginningOf(tx, jobId, fence)
    if (beginning !== 'begin') {
      // A later generation finds the job running already; its row is obsolete as well.
      if (beginning !== 'stop') await tx.delete(outbox).where(and(eq(outbox.jobId, jobId), eq(outbox.kind, 'start')))
      return beginning
    }
    const problem = await repriceProblem(tx, jobId)
    if (!problem) return 'begin'
    await recordFailure(tx, jobId, problem, { fence })
    return 'stop'
  })
}

interface Claim {
  jobId: string
  generation: number
  /** `null` for a job of a workflow. */
  lease: string | null
  /** `null` leaves it unchanged. */
  workflowRunId: string | null
}

const claimOf = ({ generation, lease, workflowRunId }: GivenAll<Claim>): Change => ({
  fence: { generation },
  set: {
    startedAt: now,
    workflowRunId: sql`coalesce(${workflowRunId}, ${jobs.workflowRunId})`,
    leaseToken: sql`${lease}::uuid`,
    leaseExpiresAt: sql`case when ${lease}::uuid is not null then ${leaseEnd} end`
  },
  where: or(isNull(jobs.notBefore), lte(jobs.notBefore, now)),
  clears: 'start'
})

/** Also of a backend that is missing from the catalogue: that fails the job when it runs. */
const isOnFreeBackend = sql`not exists (select from ${backends} where ${backends.slug} = ${jobs.backend} and not ${freePricing})`

const claimOnFreeBackend = statement<Claim, MovedRow>((given, on) => {
  const claim = claimOf(given)
  return transitionText(on, given.jobId, 'running', { ...claim, where: and(claim.where, isOnFreeBackend) })
})

async function beginningOf(tx: Tx, jobId: string, fence: Fence): Promise<Beginning> {
  const [row] = await tx
    .select({ status: jobs.status, generation: jobs.generation, lease: jobs.leaseToken })
    .from(jobs)
    .where(eq(jobs.id, jobId))
  if (!row || row.generation !== fence.generation || isFinal(row.status) || row.status === 'pending') return 'stop'
  if ((fence.lease ?? null) !== row.lease) return 'stop'
  return row.status === 'cancelling' ? 'cancel' : 'resume'
}

async function repriceProblem(tx: Tx, jobId: string): Promise<JobError | null> {
  const [job] = await tx
    .select({
      backend: jobs.backend,
      shots: jobs.shots,
      circuits: jobs.circuitCount,
      sweep: sql<string | null>`case when ${jobs.pointsTotal} is not null then ${jobs.params} end`,
      estimate: jobs.estimatedCost,
      pricing: pricingColumns
    })
    .from(jobs)
    .innerJoin(backends, eq(backends.slug, jobs.backend))
    .where(eq(jobs.id, jobId))
  // A backend that is no longer in the catalogue fails the job later, when it is run.
  if (!job) return null
  const shots = job.sweep === null ? [job.shots] : shotsOfRuns(paramsFromText(job.sweep).value)
  const cost = estimateRuns(pricingOf(job.pricing), shots, job.circuits)
  if (cost <= job.estimate) return null
  return {
    code: 'price_changed',
    message:
      `the price of ${job.backend} rose between submission and start: ${formatUsd(job.estimate)} was reserved, ` +
      `${formatUsd(cost)} would be due; submit again to accept the new price`
  }
}

/**
 * Completes a job with the stored artifact of this digest as its result. (`completePlainly` does so for most jobs, in the
 * statement that stores the result.) The cost is what its provider charged, or else
 * its estimate.
 */
export async function completeJob(db: Db, jobId: string, fence: Fence, resultSha256: string): Promise<Transition> {
  return db.transaction(async (tx) => {
    // Only jobs on local engines have a lease.
    const cost = fence.lease ? null : await costOfCompleted(tx, jobId)
    let wantsCapsule = false
    const moved = await transition(tx, jobId, 'completed', {
      fence,
      wantsCapsule: () => {
        wantsCapsule = true
      },
      set: {
        resultSha256,
        actualCost: cost ?? sql`${jobs.estimatedCost}`,
        cancelOutcome: sql`case when ${jobs.cancelRequestedAt} is null then null else 'too_late' end`
      }
    })
    const settleJob = (handle: Tx) => settle(handle, jobId, cost ?? 'all')
    if (wantsCapsule) await createRequestedCapsule(tx, jobId, settleJob)
    else if (moved === 'won') await settleJob(tx)
    return moved
  })
}

/**
 * Fails a job. A failed run on a local engine costs nothing. A provider job costs its certain charge, and while that is
 * unknown the reservation stays held.
 */
export async function failJob(db: Db, jobId: string, fence: Fence | undefined, error: JobError): Promise<Transition> {
  return db.transaction(async (tx) => {
    if (fence && !fence.lease) await closeWaitingAttempt(tx, jobId, fence, error)
    return recordFailure(tx, jobId, error, fence ? { fence } : {})
  })
}

/** Fails a job that no worker can claim. One that another worker has claimed stays with it. */
export const failUnclaimed = (
  db: Db,
  jobId: string,
  { generation }: Pick<Fence, 'generation'>,
  error: JobError
): Promise<Transition> =>
  db.transaction((tx) => recordFailure(tx, jobId, error, { fence: { generation }, where: eq(jobs.status, 'pending') }))

/** A script that waited for the failed work fails with it, so the end of its attempt is known. */
async function closeWaitingAttempt(tx: Tx, jobId: string, fence: Fence, error: JobError): Promise<void> {
  const waiting = sql`exists (select 1 from ${scriptRequests} where ${scriptRequests.jobId} = ${jobId} and ${scriptRequests.state} = 'open')`
  const [mine] = await tx
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.id, jobId), eq(jobs.status, 'running'), fenceHolds(fence), waiting))
    .for('no key update')
  const attempt = mine ? await attemptUnderWay(tx, jobId, fence) : null
  if (attempt !== null) await closeAttempt(tx, jobId, attempt, 'failed', error)
}

/**
 * The writer that ends a job: a worker by its fence, or a sweep by the condition that selected the job, which is
 * checked once more.
 */
export interface EndedBy {
  fence?: Fence
  where?: SQL
}

export async function recordFailure(
  tx: Tx,
  jobId: string,
  error: JobError,
  by: EndedBy & { to?: 'failed' | 'dispatch_failed' } = {}
): Promise<Transition> {
  const { to = 'failed', ...guard } = by
  const cost = guard.fence?.lease ? 0n : await lockedCostAtEnd(tx, jobId)
  const { code, message: text } = cost === 'held' ? outcomeUnknown(error) : error
  const message = storableText(text)
  const moved = await transition(tx, jobId, to, {
    ...guard,
    reason: message,
    set: {
      errorCode: code,
      errorMessage: message,
      failingMessage: null,
      actualCost: cost === 'held' ? null : cost
    }
  })
  if (moved !== 'won') return moved
  await closeOpenAttempts(tx, jobId, 'lost', error)
  await closeTasks(tx, jobId)
  await settleAtEnd(tx, jobId, cost)
  return moved
}

/** Whatever else failed, the caller must know that a paid provider job may have run. */
const outcomeUnknown = ({ code, message }: JobError): JobError =>
  code === 'provider_outcome_unknown'
    ? { code, message }
    : {
        code: 'provider_outcome_unknown',
        message: `${message}; its provider job may have run, so its reservation stays held until the outcome is known`
      }

/** Locks the job first: nothing can be sent for it between the check of its provider jobs and its end. */
async function lockedCostAtEnd(tx: Tx, jobId: string): Promise<MicroUsd | 'held'> {
  await lockJob(tx, jobId)
  return costAtEnd(tx, jobId)
}

async function settleAtEnd(tx: Tx, jobId: string, cost: MicroUsd | 'held'): Promise<void> {
  await settle(tx, jobId, cost)
  if (cost === 'held') await checkAgainLater(tx, jobId)
}

/** Cancels a job. A cancel that began in Temporal itself passes through `cancelling` in the same transaction. */
export async function recordCancelled(
  db: Db,
  jobId: string,
  fence: Fence | undefined,
  outcome: CancelOutcome
): Promise<Transition> {
  return db.transaction((tx) => recordCancellation(tx, jobId, outcome, fence ? { fence } : {}))
}

export async function recordCancellation(
  tx: Tx,
  jobId: string,
  outcome: CancelOutcome,
  by: EndedBy = {}
): Promise<Transition> {
  const cost = by.fence?.lease ? 0n : await lockedCostAtEnd(tx, jobId)
  await transition(tx, jobId, 'cancelling', {
    ...by,
    reason: 'cancelled in the workflow engine',
    set: { cancelRequestedAt: now },
    where: and(eq(jobs.status, 'running'), by.where)
  })
  const moved = await transition(tx, jobId, 'cancelled', {
    ...by,
    reason: 'cancelled',
    set: cost === 'held' ? { cancelOutcome: 'provider_unknown' } : { cancelOutcome: outcome, actualCost: cost }
  })
  if (moved !== 'won') return moved
  await closeOpenAttempts(tx, jobId, 'cancelled', null)
  await closeTasks(tx, jobId)
  await settleAtEnd(tx, jobId, cost)
  return moved
}

/** The columns that an outbox row copies from its job. */
export const outboxFacts = {
  teamId: jobs.teamId,
  backend: jobs.backend,
  mode: sql<ExecutionMode>`case when ${jobs.durable} then 'temporal' else 'direct' end`,
  generation: jobs.generation
}

/**
 * The effect of a cancel request: it cancelled a waiting job, marked a running one for its worker to stop, or came too
 * late.
 */
export type CancelRequest = 'cancelled' | 'cancelling' | 'final'

/**
 * Cancels a waiting job at once. A running one is marked, and an outbox row notifies its dispatch target until the job
 * is final.
 */
export async function requestCancel(db: DbOrTx, jobId: string): Promise<CancelRequest> {
  return db.transaction(async (tx) => {
    const requested = { cancelRequestedAt: now }
    const ended = await transition(tx, jobId, 'cancelled', {
      reason: 'cancelled before it started',
      set: { ...requested, cancelOutcome: 'stopped_before_provider', actualCost: 0n },
      where: eq(jobs.status, 'pending')
    })
    if (ended === 'won') {
      await settle(tx, jobId, 0n)
      return 'cancelled'
    }
    const marked = await transition(tx, jobId, 'cancelling', {
      reason: 'cancel requested',
      set: requested,
      where: eq(jobs.status, 'running')
    })
    const [job] = await tx
      .select({ status: jobs.status, ...outboxFacts })
      .from(jobs)
      .where(eq(jobs.id, jobId))
    const { status, ...facts } = job!
    if (marked === 'won')
      await tx
        .insert(outbox)
        .values({ jobId, kind: 'cancel', ...facts, dueAt: now, nextAt: now })
        .onConflictDoNothing()
    return isFinal(status) ? 'final' : 'cancelling'
  })
}

/** `requestCancel` for a caller who needs an error. @throws ServiceError `conflict` when the job is already final. */
export async function cancelJob(db: DbOrTx, jobId: string): Promise<void> {
  if ((await requestCancel(db, jobId)) !== 'final') return
  const [job] = await db.select({ status: jobs.status }).from(jobs).where(eq(jobs.id, jobId))
  assertCancellable(job!.status)
}
