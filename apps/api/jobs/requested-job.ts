import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import type { Static } from 'typebox'
import type { Db, DbOrTx } from '../../../db/client.js'
import { resultContent, resultText } from '../../../db/jobs/attempts.js'
import { type JobRow, loadJob } from '../../../db/jobs/jobs.js'
import { wholeOf } from '../../../db/stored-content.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
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
  // The record of a failed job has its error in the place of the result.
  const stored =
    job.resultSha256 === null || job.errorMessage !== null ? null : await resultContent(db, job.id, job.resultSha256)
  if (!stored || stored.sizeBytes <= LARGE_BYTES)
    return sendJson(reply, text(stored && ((await wholeOf(db, stored))?.toString('utf8') ?? null)))
  const whole = text(null)
  const around = { before: whole.slice(0, -'null}'.length), after: '}' }
  const typed = (reply as FastifyReply).type('application/json; charset=utf-8')
  return app.large.sendStored(request, typed, stored, around)
}

export const resultOf = async (db: DbOrTx, job: JobRow): Promise<string | null> =>
  job.resultSha256 === null ? null : resultText(db, job.id, job.resultSha256)

/** The full record of a job, as JSON text. */
export const recordJson = async (deps: ApiDeps, db: DbOrTx, job: JobRow): Promise<JsonText<Static<typeof Job>>> =>
  jobRecordJson(job, await resultOf(db, job), viewOptionsOf(deps))

/** The parameters that a page of jobs can have together: sent, they take four times as much memory. */
const PAGE_BYTES_MAX = 30 * 1024 ** 2

/** Holds memory for a page of jobs whose parameters are large. @throws ServiceError `validation_error`, `service_busy`. */
export const roomForPage =
  ({ large }: FastifyInstance, request: FastifyRequest, reply: FastifyReply) =>
  async (bytes: number): Promise<void> => {
    if (bytes > PAGE_BYTES_MAX)
      throw validationError(
        `limit: the parameters of these jobs have ${Math.ceil(bytes / 1024 ** 2)} MiB together, and a page can have ${PAGE_BYTES_MAX / 1024 ** 2}; ask for fewer jobs at once`
      )
    if (bytes > LARGE_BYTES) await large.hold(request, reply, 4 * bytes, 'transfers')
  }
