import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import type { Static } from 'typebox'
import type { Db, DbOrTx } from '../../../db/client.js'
import { removedOf } from '../../../db/contents/removed-contents.js'
import { resultBytes, resultContent, resultText } from '../../../db/jobs/attempts.js'
import { type JobRow, loadJob } from '../../../db/jobs/jobs.js'
import { type StoredContent, wholeOf } from '../../../db/stored-content.js'
import { ServiceError } from '../../../domain/errors.js'
import type { RemovedAt } from '../../../domain/teams/content-retention.js'
import type { ApiDeps } from '../deps.js'
import { callerOf } from '../http/access.js'
import { LARGE_BYTES } from '../http/memory.js'
import { type BodyOf, type JsonText, type RouteReply, type Sent, sendJson } from '../http/response.js'
import { type Job, type JobViewOptions, jobRecordJson } from './job-view.js'

/** The job that the path's `id` names. @throws ServiceError `not_found` unless the caller can see it. */
export async function requestedJob(db: DbOrTx, request: FastifyRequest): Promise<JobRow> {
  const { id } = request.params as { id: string }
  const job = await loadJob(db, callerOf(request), id)
  if (!job) throw new ServiceError('not_found', 'no such job')
  return job
}

export const viewOptionsOf = (deps: ApiDeps): JobViewOptions => ({ ...deps.config, now: deps.now() })

/**
 * Sends a record that ends with the job's result; a large result is sent in slices.
 * @param text the record with a result (JSON text), which is its last field.
 */
export async function sendWithResult<const Schema extends FastifySchema>(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: RouteReply<Schema>,
  { db, job, text }: { db: Db; job: JobRow; text: (result: string | null) => JsonText<BodyOf<Schema>> }
): Promise<Sent> {
  const stored = await storedResult(db, job)
  if (!stored || stored.sizeBytes <= LARGE_BYTES)
    return sendJson(reply, text(stored && ((await wholeOf(db, stored))?.toString('utf8') ?? null)))
  const whole = text(null)
  const around = { before: whole.slice(0, -'null}'.length), after: '}' }
  const typed = (reply as FastifyReply).type('application/json; charset=utf-8')
  return app.large.sendStored(request, typed, stored, around)
}

/** `null` for a job without a result. */
export async function storedResult(db: DbOrTx, job: JobRow): Promise<StoredContent | null> {
  const sha256 = resultDigest(job)
  return sha256 === null ? null : resultContent(db, job.id, sha256)
}

/** The bytes of the result, which is not loaded. */
export async function resultSize(db: DbOrTx, job: JobRow): Promise<number | null> {
  const sha256 = resultDigest(job)
  return sha256 === null ? null : resultBytes(db, job.id, sha256)
}

/** The record of a failed job has its error in the place of the result. */
const resultDigest = ({ resultSha256, errorMessage }: JobRow): string | null =>
  errorMessage === null ? resultSha256 : null

export const resultOf = async (db: DbOrTx, job: JobRow): Promise<string | null> =>
  job.resultSha256 === null ? null : resultText(db, job.id, job.resultSha256)

/** The full record of a job, as JSON text. */
export const recordJson = async (deps: ApiDeps, db: DbOrTx, job: JobRow): Promise<JsonText<Static<typeof Job>>> =>
  jobRecordJson(job, await resultOf(db, job), viewOptionsOf(deps))

/** Nothing is kept for less than a day; the clocks of two machines can differ. */
const REMOVED_AFTER_MS = 12 * 3_600_000

/** When contents of the job were removed, without a look for one that has just ended. */
export const removedAtOf = async (
  db: DbOrTx,
  job: Pick<JobRow, 'id' | 'completedAt'>,
  { now }: Pick<JobViewOptions, 'now'>
): Promise<RemovedAt> =>
  job.completedAt && now.getTime() - job.completedAt.getTime() >= REMOVED_AFTER_MS ? removedOf(db, job.id) : {}

export function removedView(removed: RemovedAt): Pick<Static<typeof Job>, 'removed'> {
  const times = Object.entries(removed).map(([kind, at]) => [kind, at.toISOString()])
  return times.length === 0 ? {} : { removed: Object.fromEntries(times) }
}
