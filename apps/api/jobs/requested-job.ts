import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { DbOrTx } from '../../../db/client.js'
import { resultText } from '../../../db/jobs/attempts.js'
import { type JobRow, loadJob } from '../../../db/jobs/jobs.js'
import { ServiceError } from '../../../domain/errors.js'
import type { ApiDeps } from '../deps.js'
import { callerOf } from '../http/access.js'
import type { JsonText } from '../http/response.js'
import { type Job, type JobViewOptions, jobRecordJson } from './job-view.js'

/** The job that the path's `id` names. @throws ServiceError `not_found` unless the caller can see it. */
export async function requestedJob(db: DbOrTx, request: FastifyRequest): Promise<JobRow> {
  const { id } = request.params as { id: string }
  const job = await loadJob(db, callerOf(request), id)
  if (!job) throw new ServiceError('not_found', 'no such job')
  return job
}

export const viewOptionsOf = (deps: ApiDeps): JobViewOptions => ({ ...deps.config, now: deps.now() })

export const resultOf = async (db: DbOrTx, job: JobRow): Promise<string | null> =>
  job.resultSha256 === null ? null : resultText(db, job.id, job.resultSha256)

/** The full record of a job, as JSON text. */
export const recordJson = async (deps: ApiDeps, db: DbOrTx, job: JobRow): Promise<JsonText<Static<typeof Job>>> =>
  jobRecordJson(job, await resultOf(db, job), viewOptionsOf(deps))
