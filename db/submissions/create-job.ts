// Records jobs. A job, its reservation and its outbox row are one transaction, which starts nothing.
import { sql } from 'drizzle-orm'
import type { Backend } from '../../domain/backends/backend.js'
import { shotsOfRuns } from '../../domain/jobs/params/params.js'
import type { Submission } from '../../domain/jobs/submission.js'
import { type BudgetRefusal, budgetError } from '../../domain/money/budget.js'
import { estimateRuns } from '../../domain/money/cost.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Tx } from '../client.js'
import { newId } from '../ids.js'
import { reserve } from '../money/budget.js'
import { statement } from '../statement.js'
import type { Caller } from '../teams/memberships.js'
import { assertFits, assertStorageLeft, type StorageFigures, storageFigures } from '../teams/team-storage.js'
import { insertionOf, type PricedSubmission, type RowsOfJob, rowsOfJob, type SubmittedBy } from './job-rows.js'

/** A larger submission is not written before all that could refuse it is known. */
export const RECORDED_FIRST_BYTES = 64 * 1024

/**
 * Records a job with its reservation and its outbox row, for a team that the transaction has locked
 * (`lockTeamForWrite`).
 * @returns the job's id.
 * @throws ServiceError `budget_exceeded`, `spend_limit_exceeded` or `storage_limit_exceeded` with the figures; the
 * transaction must then be rolled back.
 */
export async function createJob(
  tx: Tx,
  submission: Submission & { teamId: string },
  context: {
    caller: Caller
    keyDailyLimit?: MicroUsd | null
    backend: Backend
    at: Date
    /** The id of the request that submits it. */
    requestId?: string
    /** The place of that request in a trace (W3C traceparent). */
    traceParent?: string | null
    /**
     * Called with a refusal before it is thrown. The notification (`recordBudgetExceeded`) must wait until after the
     * rollback.
     */
    refused?: (refusal: BudgetRefusal) => void
  }
): Promise<string> {
  const { caller, keyDailyLimit = null, backend, at, refused } = context
  const { teamId } = submission
  const id = newId()
  const estimate = estimateOf(submission, backend)
  const startsAt = submission.notBefore ?? at
  const key = caller.key && keyDailyLimit !== null ? { id: caller.key.id, dailyLimit: keyDailyLimit } : null
  const reserveEstimate = async () => {
    const refusal = await reserve(tx, { id, teamId, estimate, startsAt, maxCost: submission.maxCost, key })
    if (!refusal) return
    refused?.(refusal)
    throw budgetError(refusal)
  }
  const rows = rowsOfJob(
    { ...submission, id, estimate },
    { ...context, owner: { ...caller, keyId: caller.key?.id ?? null } }
  )
  const bytes = submissionBytes(submission)
  if (bytes > RECORDED_FIRST_BYTES) {
    await assertStorageLeft(tx, teamId, bytes)
    await reserveEstimate()
    await insertRows(tx, rows)
    return id
  }
  // One statement, since the caller waits for every round trip. The money comes last, since other jobs of the team wait for
  // its counters from there to the commit.
  const [figures] = await insertWithFigures(tx, rows)
  assertFits(figures!, bytes)
  await reserveEstimate()
  return id
}

/** What a submission stores. Its result is stored in addition, also when it exceeds the team's limit by then. */
export const submissionBytes = ({ source, params, native, choice }: Submission): number =>
  [source.text, params.text, native?.input ?? '', choice ? JSON.stringify(choice) : ''].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0
  )

/** The most that a run on the backend can cost at the current price. */
export const estimateOf = (
  { params, circuitCount }: Pick<Submission, 'params' | 'circuitCount'>,
  { pricing }: Pick<Backend, 'pricing'>
): MicroUsd => estimateRuns(pricing, shotsOfRuns(params.value), circuitCount)

/** Records a job. Its estimate is reserved in the same transaction, and its bytes fit. */
export async function insertJob(tx: Tx, submission: PricedSubmission, by: SubmittedBy): Promise<void> {
  await insertRows(tx, rowsOfJob(submission, by))
}

const oneRow = sql`(select) one`

const insertRows = statement<RowsOfJob, Record<string, never>>(
  (given) => sql`with ${insertionOf(given, oneRow)} select 1`
)

const insertWithFigures = statement<RowsOfJob, StorageFigures>(
  (given) => sql`with ${insertionOf(given, oneRow)} ${storageFigures(given.teamId)}`
)
