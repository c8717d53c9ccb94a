// Intent rows of provider jobs. A row is inserted before anything is sent; for a requested circuit, together with its
// reservation. Each try to submit takes the row by a conditional UPDATE, so two workers never send at once. A worker
// that has lost the job (its generation) can no longer write to it.
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Place, ProviderJobState } from '../../domain/backends/provider-job.js'
import type { CircuitPrice } from '../../domain/money/charge.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Db, DbOrTx } from '../client.js'
import { now } from '../clock.js'
import { openAttempt } from '../jobs/attempts.js'
import type { Fence } from '../jobs/fence.js'
import { reserveCircuit } from '../money/budget.js'
import { jobs, scriptRequests } from '../tables/jobs.js'
import { restores } from '../tables/operations.js'
import { providerJobs } from '../tables/providers.js'
import { priceColumns, priceValues, type StatedUsage, storedPrice, usageValues } from './provider-charge.js'
import { type ProviderRef, requestedRef } from './provider-refs.js'

export type ProviderJob = typeof providerJobs.$inferSelect

export const providerJobAt = ({ jobId, task, attempt }: Omit<ProviderRef, 'asked'>) =>
  and(eq(providerJobs.jobId, jobId), eq(providerJobs.task, task), eq(providerJobs.attempt, attempt))

const presentGeneration = (jobId: string, { generation }: Fence) =>
  sql`exists (select 1 from ${jobs} where ${jobs.id} = ${jobId} and ${jobs.generation} = ${generation})`

export async function loadProviderJob(db: DbOrTx, ref: ProviderRef): Promise<ProviderJob | null> {
  const [row] = await db.select().from(providerJobs).where(providerJobAt(ref))
  return row ?? null
}

/** A try to submit. Times are from the database's clock. */
export interface SubmitTry {
  /** Counts from 1, and is the fence of this try. */
  number: number
  createdAt: Date
  /** When a request of an earlier try may last have been in flight; `null` when there certainly was none. */
  lastSentAt: Date | null
  /** The version of the credentials that the request used, as `credentialsVersion` returns it. */
  sentWith: string | null
  /** The price of a requested circuit when it was requested; `null` for a plain job. */
  estimate: MicroUsd | null
  /** Where that request was sent, and the price on which its cap is based. */
  place: Place | null
  price: CircuitPrice | null
  secondsSinceSent: number | null
  /** Seconds since the provider last responded about this job, or since the row was inserted. */
  secondsSilent: number
  /** Seconds for which the provider could have accepted it. */
  secondsTrying: number
}

/** A try of a worker that still has the job. */
export interface OwnSubmitTry extends SubmitTry {
  /** What is reserved for it: of a requested circuit its own price, otherwise the job's estimate. */
  reserved: MicroUsd
  /**
   * The circuit was requested after its job was restored from a backup, and not sent since. If the provider has a job of
   * this token, the script requested it before, and may have requested another circuit then.
   */
  mayBeAnother: boolean
}

/** When the database was last restored from a backup that has the job. Since the backup, it may have been sent. */
const lastRestore = sql`(select max(${restores.restoredAt}) from ${restores} where ${restores.takenAt} >= ${jobs.createdAt})`

/**
 * Inserts the intent if there is none, and takes it for a try. The money of a requested circuit is reserved with its
 * intent, once.
 * @param task `estimate` is the price of a requested circuit; a plain job has a reservation already.
 * @returns `null` when there is nothing to submit: the job was accepted or ended, or another worker has it.
 * @throws ServiceError as `reserveCircuit` does; nothing is written then.
 */
export async function takeForSubmit(
  db: Db,
  ref: ProviderRef,
  fence: Fence,
  task: { provider: string; token: string; emulated?: boolean; estimate?: MicroUsd }
): Promise<OwnSubmitTry | null> {
  const { jobId, attempt, asked } = ref
  return db.transaction(async (tx) => {
    const [mine] = await tx
      .select({
        createdAt: jobs.createdAt,
        jobEstimate: jobs.estimatedCost,
        restoredAt: lastRestore.mapWith(restores.restoredAt)
      })
      .from(jobs)
      .where(and(eq(jobs.id, jobId), eq(jobs.generation, fence.generation), eq(jobs.status, 'running')))
      .for('no key update')
    const request = mine && asked ? await openRequest(tx, ref) : null
    if (!mine || (asked && !request)) return null
    const { createdAt, jobEstimate } = mine
    const restoredAt = mine.restoredAt as Date | null
    // The look-up comes first, and goes back to the creation of the job.
    const maybeSent = restoredAt && { lastSentAt: restoredAt, seenAt: restoredAt, createdAt }
    const written = await tx
      .insert(providerJobs)
      .values({
        jobId,
        task: ref.task,
        attempt,
        ...task,
        generation: fence.generation,
        state: 'intended',
        ...maybeSent
      })
      .onConflictDoNothing()
      .returning({ jobId: providerJobs.jobId })
    if (asked && written.length > 0) await reserveCircuit(tx, ref)
    const taken = await takeRow(tx, ref, fence)
    const requestedAgain = restoredAt !== null && request !== null && request.createdAt > restoredAt
    if (!taken) return null
    const reserved = taken.estimate ?? jobEstimate
    return { ...taken, reserved, mayBeAnother: requestedAgain && taken.sentWith === null }
  })
}

/** The request of a circuit, unless it was answered. */
async function openRequest(db: DbOrTx, { jobId, task, attempt }: ProviderRef): Promise<{ createdAt: Date } | null> {
  const [request] = await db
    .select({ state: scriptRequests.state, createdAt: scriptRequests.createdAt })
    .from(scriptRequests)
    .where(and(eq(scriptRequests.jobId, jobId), eq(scriptRequests.task, task), eq(scriptRequests.number, attempt)))
  return request?.state === 'open' ? request : null
}

async function takeRow(db: DbOrTx, ref: ProviderRef, fence: Fence): Promise<SubmitTry | null> {
  const { jobId } = ref
  const [row] = await db
    .update(providerJobs)
    .set({ tries: sql`${providerJobs.tries} + 1`, takenAt: now, generation: fence.generation })
    .where(and(providerJobAt(ref), eq(providerJobs.state, 'intended'), presentGeneration(jobId, fence)))
    .returning({
      number: providerJobs.tries,
      createdAt: providerJobs.createdAt,
      lastSentAt: providerJobs.lastSentAt,
      sentWith: providerJobs.sentWith,
      estimate: providerJobs.estimate,
      place: providerJobs.place,
      ...priceColumns,
      secondsSinceSent: sql<number | null>`extract(epoch from ${now} - ${providerJobs.lastSentAt})::float8`,
      secondsSilent: sql<number>`extract(epoch from ${now} - coalesce(${providerJobs.seenAt}, ${providerJobs.createdAt}))::float8`,
      secondsTrying: sql<number>`extract(epoch from ${now} - ${providerJobs.tryingSince})::float8`
    })
  return row ? { ...row, price: storedPrice(row) } : null
}

/**
 * Takes the intent of a job that is being cancelled, to find out whether anything was accepted. The intent is never
 * sent again.
 */
export const takeForLookUp = takeRow

/** The row while this try holds it; false once another try has taken it. */
const heldBy = (ref: ProviderRef, number: number) =>
  and(providerJobAt(ref), eq(providerJobs.state, 'intended'), eq(providerJobs.tries, number))

/**
 * Records that a request may be in flight from now on, where it goes, and the price on which its cap is based. Must
 * precede every paid request. What comes before it, such as an upload, can take its time: the try takes its row again.
 * @returns `false` when another try has taken the row, or the job is no longer to run.
 */
export async function markSending(
  db: Db,
  ref: ProviderRef,
  fence: Fence,
  number: number,
  sentWith: string,
  place: Place = {},
  price: CircuitPrice | null = null
): Promise<boolean> {
  return db.transaction(async (tx) => {
    // Locked until the commit: a writer that ends the job either decides about its money before this, or sees this row.
    const [mine] = await tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.id, ref.jobId), eq(jobs.generation, fence.generation), eq(jobs.status, 'running')))
      .for('share')
    if (!mine) return false
    const marked = await tx
      .update(providerJobs)
      .set({ lastSentAt: now, sentWith, place, ...priceValues(price), takenAt: now })
      .where(heldBy(ref, number))
      .returning({ jobId: providerJobs.jobId })
    return marked.length > 0
  })
}

/** Whether this try still holds the row, and took it at most `seconds` ago by the database's clock. */
export async function maySend(db: Db, ref: ProviderRef, number: number, seconds: number): Promise<boolean> {
  const rows = await db
    .select({ jobId: providerJobs.jobId })
    .from(providerJobs)
    .where(and(heldBy(ref, number), sql`${providerJobs.takenAt} > ${now} - make_interval(secs => ${seconds})`))
  return rows.length > 0
}

/** Takes back `markSending` for a request that certainly did not arrive. */
export async function markNotSent(
  db: Db,
  ref: ProviderRef,
  { number, lastSentAt, sentWith, place, price }: SubmitTry
): Promise<void> {
  await db
    .update(providerJobs)
    .set({ lastSentAt, sentWith, place, ...priceValues(price) })
    .where(heldBy(ref, number))
}

/** The device takes no jobs at present: the time until a submission is given up begins anew. */
export async function markDeviceAway(db: Db, ref: ProviderRef, number: number): Promise<void> {
  await db.update(providerJobs).set({ tryingSince: now }).where(heldBy(ref, number))
}

/** Records why a provider job waits. @returns whether that is news. */
export async function markWaiting(db: DbOrTx, ref: ProviderRef, message: string | null): Promise<boolean> {
  const rows = await db
    .update(providerJobs)
    .set({ waitMessage: message })
    .where(
      and(
        providerJobAt(ref),
        inArray(providerJobs.state, ['intended', 'accepted']),
        sql`${providerJobs.waitMessage} is distinct from ${message}`
      )
    )
    .returning({ jobId: providerJobs.jobId })
  return rows.length > 0
}

/** Records that the provider responded to a look-up, whatever the response. */
export async function recordProviderResponse(db: Db, ref: ProviderRef, number: number): Promise<void> {
  await db.update(providerJobs).set({ seenAt: now }).where(heldBy(ref, number))
}

/**
 * Records that the provider has the job: its id is stored, and a plain job's attempt begins. The requester of a circuit
 * has an attempt already.
 * @returns `false` when this worker no longer holds the row; the one that does finds the provider's job by its token.
 */
export async function markAccepted(db: Db, ref: ProviderRef, fence: Fence, providerJobId: string): Promise<boolean> {
  const { jobId } = ref
  return db.transaction(async (tx) => {
    // The job is locked before its provider job, as everywhere: its attempt is opened below.
    await tx.select({ id: jobs.id }).from(jobs).where(eq(jobs.id, jobId)).for('no key update')
    const accepted = await tx
      .update(providerJobs)
      .set({
        state: 'accepted',
        providerJobId,
        acceptedAt: now,
        seenAt: now,
        providerStatus: 'queued',
        waitMessage: null
      })
      .where(and(providerJobAt(ref), eq(providerJobs.state, 'intended'), presentGeneration(jobId, fence)))
      .returning({ jobId: providerJobs.jobId })
    if (accepted.length === 0) return false
    if (!ref.asked) await openAttempt(tx, jobId, fence, { statuses: ['running', 'cancelling'] })
    return true
  })
}

/**
 * Closes an intent that the provider certainly did not accept. Returns `false` when another worker has it, or it was
 * accepted.
 */
export async function markWithdrawn(
  db: DbOrTx,
  ref: ProviderRef,
  fence: Fence,
  error: { code: string; message: string } | null
): Promise<boolean> {
  const withdrawn = await db
    .update(providerJobs)
    .set({ state: 'withdrawn', endedAt: now, errorCode: error?.code ?? null, errorMessage: error?.message ?? null })
    .where(and(providerJobAt(ref), eq(providerJobs.state, 'intended'), presentGeneration(ref.jobId, fence)))
    .returning({ jobId: providerJobs.jobId })
  return withdrawn.length > 0
}

/** What the provider reported about an accepted job. */
export interface ReportedStatus extends StatedUsage {
  state: Extract<ProviderJobState, 'accepted' | 'completed' | 'failed' | 'cancelled'>
  status: string
  queuePosition: number | null
  predictedWaitSeconds: number | null
  cost: MicroUsd | null
  failure: string | null
}

/** Records the provider's report. @returns whether waiting requests should be woken. */
export async function markSeen(db: DbOrTx, ref: ProviderRef, seen: ReportedStatus): Promise<boolean> {
  const over = seen.state !== 'accepted'
  const values = {
    state: seen.state,
    providerStatus: seen.status,
    queuePosition: seen.queuePosition,
    predictedWaitSeconds: seen.predictedWaitSeconds,
    ...(over && {
      endedAt: now,
      cost: seen.cost,
      ...usageValues(seen),
      errorCode: seen.state === 'failed' ? 'provider_failed' : null,
      errorMessage: seen.failure
    })
  }
  const before = db
    .select({
      status: providerJobs.providerStatus,
      position: providerJobs.queuePosition,
      waitMessage: providerJobs.waitMessage
    })
    .from(providerJobs)
    .where(providerJobAt(ref))
    .for('no key update')
    .as('before')
  // A reported end is final: a response that arrives later was sent earlier.
  const [row] = await db
    .update(providerJobs)
    .set({ ...values, seenAt: now, waitMessage: null })
    .from(before)
    .where(and(providerJobAt(ref), eq(providerJobs.state, 'accepted')))
    .returning({ status: before.status, position: before.position, waitMessage: before.waitMessage })
  if (row === undefined) return false
  return row.status !== seen.status || row.position !== seen.queuePosition || row.waitMessage !== null || over
}

/** The outcome of the provider job can never be known. Its money stays held. */
export async function markUnknown(db: DbOrTx, ref: ProviderRef, fence: Fence): Promise<void> {
  await db
    .update(providerJobs)
    .set({ state: 'unknown', endedAt: now })
    .where(
      and(
        providerJobAt(ref),
        inArray(providerJobs.state, ['intended', 'accepted']),
        presentGeneration(ref.jobId, fence)
      )
    )
}

export async function markCancelRequested(db: DbOrTx, ref: ProviderRef): Promise<void> {
  await db
    .update(providerJobs)
    .set({ cancelRequestedAt: sql`coalesce(${providerJobs.cancelRequestedAt}, ${now})` })
    .where(providerJobAt(ref))
}

/** The circuits that a job has requested and whose end at the provider is not known. */
export async function openCircuits(db: DbOrTx, jobId: string): Promise<ProviderRef[]> {
  const rows = await db
    .select({ task: providerJobs.task, attempt: providerJobs.attempt })
    .from(providerJobs)
    .where(and(eq(providerJobs.jobId, jobId), inArray(providerJobs.state, ['intended', 'accepted'])))
    .orderBy(asc(providerJobs.createdAt))
  return rows.map(({ task, attempt }) => requestedRef(jobId, task, attempt))
}

/** For the circuits of a job: how many a provider has accepted, and how many have an unknown outcome. */
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
