// Intent rows of work at providers. A row is written before anything is sent, of a circuit that was asked for together with
// what it makes sure of the budget; each try to submit takes it by a conditional UPDATE, so that two sides never send at
// once; whoever lost the job (its generation) writes nothing more.
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { ProviderJobState } from '../../domain/backends/provider-job.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Db, DbOrTx } from '../client.js'
import { now } from '../clock.js'
import { openAttempt } from '../jobs/attempts.js'
import type { Fence } from '../jobs/fence.js'
import { reserveCircuit } from '../money/budget.js'
import { jobAsks, jobs } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'
import { type ProviderRef, requestedRef } from './provider-refs.js'

export type ProviderJob = typeof providerJobs.$inferSelect

export const taskAt = ({ jobId, task, attempt }: Omit<ProviderRef, 'asked'>) =>
  and(eq(providerJobs.jobId, jobId), eq(providerJobs.task, task), eq(providerJobs.attempt, attempt))

const presentGeneration = (jobId: string, { generation }: Fence) =>
  sql`exists (select 1 from ${jobs} where ${jobs.id} = ${jobId} and ${jobs.generation} = ${generation})`

export async function loadProviderJob(db: DbOrTx, ref: ProviderRef): Promise<ProviderJob | null> {
  const [row] = await db.select().from(providerJobs).where(taskAt(ref))
  return row ?? null
}

/** A try to submit, as its taker knows it. Times by the database's clock. */
export interface SubmitTry {
  /** Counts from 1; the fence of this try. */
  number: number
  createdAt: Date
  /** When a request of an earlier try may last have been under way; `null`: certainly never. */
  lastSentAt: Date | null
  /** The credentials that request went out with, as `credentialsVersion` names them. */
  sentWith: string | null
  secondsSinceSent: number | null
  /** Since the provider last answered about this task, or since the row was written. */
  secondsSilent: number
}

/**
 * Writes the intent if there is none yet, and takes it for a try. The money of a circuit that was asked for is made sure of
 * with its intent, once.
 * @param task `estimate`: the price of a circuit that was asked for; a plain job's is reserved already.
 * @returns `null` when there is nothing to submit: it was accepted or ended, or the job is another side's.
 * @throws ServiceError as `reserveCircuit` does; nothing is written then.
 */
export async function takeForSubmit(
  db: Db,
  ref: ProviderRef,
  fence: Fence,
  task: { provider: string; token: string; estimate?: MicroUsd }
): Promise<SubmitTry | null> {
  const { jobId, attempt, asked } = ref
  return db.transaction(async (tx) => {
    const [mine] = await tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.id, jobId), eq(jobs.generation, fence.generation), eq(jobs.status, 'running')))
      .for('no key update')
    if (!mine || (asked && !(await isOpen(tx, ref)))) return null
    const written = await tx
      .insert(providerJobs)
      .values({ jobId, task: ref.task, attempt, ...task, generation: fence.generation, state: 'intended' })
      .onConflictDoNothing()
      .returning({ jobId: providerJobs.jobId })
    if (asked && written.length > 0) await reserveCircuit(tx, ref)
    return takeRow(tx, ref, fence)
  })
}

/** Whether nobody has answered the ask yet. */
async function isOpen(db: DbOrTx, { jobId, task, attempt }: ProviderRef): Promise<boolean> {
  const asks = await db
    .select({ state: jobAsks.state })
    .from(jobAsks)
    .where(and(eq(jobAsks.jobId, jobId), eq(jobAsks.task, task), eq(jobAsks.number, attempt)))
  return asks[0]?.state === 'open'
}

async function takeRow(db: DbOrTx, ref: ProviderRef, fence: Fence): Promise<SubmitTry | null> {
  const { jobId } = ref
  const [row] = await db
    .update(providerJobs)
    .set({ tries: sql`${providerJobs.tries} + 1`, takenAt: now, generation: fence.generation })
    .where(and(taskAt(ref), eq(providerJobs.state, 'intended'), presentGeneration(jobId, fence)))
    .returning({
      number: providerJobs.tries,
      createdAt: providerJobs.createdAt,
      lastSentAt: providerJobs.lastSentAt,
      sentWith: providerJobs.sentWith,
      secondsSinceSent: sql<number | null>`extract(epoch from ${now} - ${providerJobs.lastSentAt})::float8`,
      secondsSilent: sql<number>`extract(epoch from ${now} - coalesce(${providerJobs.seenAt}, ${providerJobs.createdAt}))::float8`
    })
  return row ?? null
}

/** Takes the intent of a job that is being cancelled, to find out whether anything was accepted; it is never sent again. */
export const takeForLookUp = takeRow

/** The row as this try holds it; false as soon as another one has taken it. */
const heldBy = (ref: ProviderRef, number: number) =>
  and(taskAt(ref), eq(providerJobs.state, 'intended'), eq(providerJobs.tries, number))

/**
 * Notes that a request may be under way from now on. Nothing may be sent without it.
 * @returns `false` when another try has taken the row, or the job is no longer to run.
 */
export async function markSending(
  db: Db,
  ref: ProviderRef,
  fence: Fence,
  number: number,
  sentWith: string
): Promise<boolean> {
  return db.transaction(async (tx) => {
    // Held until this is committed: whoever ends the job decides about its money before this, or knows of it.
    const [mine] = await tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.id, ref.jobId), eq(jobs.generation, fence.generation), eq(jobs.status, 'running')))
      .for('share')
    if (!mine) return false
    const marked = await tx
      .update(providerJobs)
      .set({ lastSentAt: now, sentWith })
      .where(heldBy(ref, number))
      .returning({ jobId: providerJobs.jobId })
    return marked.length > 0
  })
}

/** Takes back `markSending` of a request that certainly did not arrive. */
export async function markNotSent(
  db: Db,
  ref: ProviderRef,
  { number, lastSentAt, sentWith }: SubmitTry
): Promise<void> {
  await db.update(providerJobs).set({ lastSentAt, sentWith }).where(heldBy(ref, number))
}

/** Notes that the provider answered a look-up, whatever it said. */
export async function markResponded(db: Db, ref: ProviderRef, number: number): Promise<void> {
  await db.update(providerJobs).set({ seenAt: now }).where(heldBy(ref, number))
}

/**
 * The provider has the task: its id is recorded, and a plain job's attempt begins. Whoever asked for a circuit is in an
 * attempt already.
 * @returns `false` when this side no longer holds the row; whoever does finds the task by its token.
 */
export async function markAccepted(db: Db, ref: ProviderRef, fence: Fence, providerJobId: string): Promise<boolean> {
  const { jobId } = ref
  return db.transaction(async (tx) => {
    // The job before its task, as everywhere: its attempt is opened below.
    await tx.select({ id: jobs.id }).from(jobs).where(eq(jobs.id, jobId)).for('no key update')
    const accepted = await tx
      .update(providerJobs)
      .set({ state: 'accepted', providerJobId, acceptedAt: now, seenAt: now, providerStatus: 'queued' })
      .where(and(taskAt(ref), eq(providerJobs.state, 'intended'), presentGeneration(jobId, fence)))
      .returning({ jobId: providerJobs.jobId })
    if (accepted.length === 0) return false
    if (!ref.asked) await openAttempt(tx, jobId, fence, { statuses: ['running', 'cancelling'] })
    return true
  })
}

/** Closes an intent that the provider certainly did not accept. `false` when it is another side's, or was accepted. */
export async function markWithdrawn(
  db: DbOrTx,
  ref: ProviderRef,
  fence: Fence,
  error: { code: string; message: string } | null
): Promise<boolean> {
  const withdrawn = await db
    .update(providerJobs)
    .set({ state: 'withdrawn', endedAt: now, errorCode: error?.code ?? null, errorMessage: error?.message ?? null })
    .where(and(taskAt(ref), eq(providerJobs.state, 'intended'), presentGeneration(ref.jobId, fence)))
    .returning({ jobId: providerJobs.jobId })
  return withdrawn.length > 0
}

/** What the provider said of an accepted task. */
export interface SeenTask {
  state: Extract<ProviderJobState, 'accepted' | 'completed' | 'failed' | 'cancelled'>
  status: string
  queuePosition: number | null
  predictedWaitSeconds: number | null
  cost: MicroUsd | null
  failure: string | null
}

/** Notes what the provider said. @returns whether that is news for whoever waits. */
export async function markSeen(db: DbOrTx, ref: ProviderRef, seen: SeenTask): Promise<boolean> {
  const over = seen.state !== 'accepted'
  const values = {
    state: seen.state,
    providerStatus: seen.status,
    queuePosition: seen.queuePosition,
    predictedWaitSeconds: seen.predictedWaitSeconds,
    ...(over && {
      endedAt: now,
      cost: seen.cost,
      errorCode: seen.state === 'failed' ? 'provider_failed' : null,
      errorMessage: seen.failure
    })
  }
  const before = db
    .select({ status: providerJobs.providerStatus, position: providerJobs.queuePosition })
    .from(providerJobs)
    .where(taskAt(ref))
    .for('no key update')
    .as('before')
  // What a provider said at the end stays: an answer that was under way meanwhile is older.
  const [row] = await db
    .update(providerJobs)
    .set({ ...values, seenAt: now })
    .from(before)
    .where(and(taskAt(ref), eq(providerJobs.state, 'accepted')))
    .returning({ status: before.status, position: before.position })
  return row !== undefined && (row.status !== seen.status || row.position !== seen.queuePosition || over)
}

/** Nobody will ever know what became of the task. Its money stays held. */
export async function markUnknown(db: DbOrTx, ref: ProviderRef, fence: Fence): Promise<void> {
  await db
    .update(providerJobs)
    .set({ state: 'unknown', endedAt: now })
    .where(and(taskAt(ref), inArray(providerJobs.state, ['intended', 'accepted']), presentGeneration(ref.jobId, fence)))
}

export async function markCancelRequested(db: DbOrTx, ref: ProviderRef): Promise<void> {
  await db
    .update(providerJobs)
    .set({ cancelRequestedAt: sql`coalesce(${providerJobs.cancelRequestedAt}, ${now})` })
    .where(taskAt(ref))
}

/** The circuits that a job has asked for and whose end at the provider is not known. */
export async function openCircuits(db: DbOrTx, jobId: string): Promise<ProviderRef[]> {
  const rows = await db
    .select({ task: providerJobs.task, attempt: providerJobs.attempt })
    .from(providerJobs)
    .where(and(eq(providerJobs.jobId, jobId), inArray(providerJobs.state, ['intended', 'accepted'])))
    .orderBy(asc(providerJobs.createdAt))
  return rows.map(({ task, attempt }) => requestedRef(jobId, task, attempt))
}

/** Of a job's circuits: how many a provider has accepted, and of how many nobody knows how they ended. */
export async function circuitsSoFar(db: DbOrTx, jobId: string): Promise<{ accepted: number; unknown: number }> {
  const [row] = await db
    .select({
      accepted: sql<number>`(count(*) filter (where ${providerJobs.providerJobId} is not null))::int`,
      unknown: sql<number>`(count(*) filter (where ${providerJobs.state} in ('intended', 'accepted', 'unknown')))::int`
    })
    .from(providerJobs)
    .where(eq(providerJobs.jobId, jobId))
  return row!
}
