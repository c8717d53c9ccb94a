// Jobs: /api/jobs/*. Submitting answers right after the commit; the engines are told afterwards.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { listAttempts, resultText } from '../../../db/attempts.js'
import { findBackend } from '../../../db/backends.js'
import type { Db } from '../../../db/client.js'
import { requestCancel } from '../../../db/job-steps.js'
import { createJob, type JobRow, listJobs, loadJob, TOTAL_MAX } from '../../../db/jobs.js'
import { assertNotSuspended } from '../../../db/teams.js'
import { assertParams, assertUsable } from '../../../domain/backend.js'
import { ServiceError } from '../../../domain/errors.js'
import { isFinal, type JobStatus, jobStatuses } from '../../../domain/job-status.js'
import { readSubmission, SubmitBody } from '../../../domain/submission.js'
import type { ApiDeps } from '../deps.js'
import { attemptView, type JobViewOptions, jobRecordJson, jobStatusJson, jobView } from '../job-view.js'
import type { JobWaits } from '../job-waits.js'
import type { Nudge } from '../nudge.js'
import { userOf } from '../plugins/session.js'

const SUBMIT_BODY_MAX = 4 * 1024 * 1024
/** Below the 30 s after which the public client gives a poll up. */
const WAIT_SECONDS_MAX = 22

/** Refused by name: a list that ignores its filter is a wrong answer. */
const laterFilters = ['script_id', 'capsule_id', 'created_after', 'created_before', 'q']

const JobId = Type.Object({ id: Type.String({ format: 'uuid' }) })

export interface JobRouteDeps {
  deps: ApiDeps
  nudge: Nudge
  waits: JobWaits
}

export const jobRoutes: FastifyPluginAsyncTypebox<JobRouteDeps> = async (app, { deps, nudge, waits }) => {
  const { db } = deps
  const viewOptions = (): JobViewOptions => ({ ...deps.config, now: deps.now() })

  app.post(
    '/api/jobs/submit',
    {
      bodyLimit: SUBMIT_BODY_MAX,
      schema: { tags: ['jobs'], summary: 'Submit a circuit as a job', body: SubmitBody }
    },
    async (request, reply) => {
      const user = userOf(request)
      const at = deps.now()
      const submission = readSubmission(request.body, at)
      const backend = await findBackend(db, submission.backend)
      assertUsable(backend, submission.backend, submission.params.shots)
      assertParams(backend, submission.params)
      const jobId = await createJob(db, submission, { userId: user.id, email: user.email, backend, at })
      reply.code(201).send({ job_id: jobId })
      nudge(jobId, submission.mode)
      return reply
    }
  )

  app.get(
    '/api/jobs',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Jobs of your teams, newest first',
        querystring: Type.Object({
          team_id: Type.Optional(Type.String({ format: 'uuid' })),
          status: Type.Optional(Type.Unsafe<JobStatus>({ type: 'string', enum: jobStatuses })),
          backend: Type.Optional(Type.String({ maxLength: 100 })),
          cursor: Type.Optional(Type.String({ format: 'uuid', description: 'next_cursor of the page before' })),
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
          offset: Type.Integer({ minimum: 0, maximum: TOTAL_MAX, default: 0 })
        })
      }
    },
    async (request) => {
      const { team_id, status, backend, cursor, limit, offset } = request.query
      const later = laterFilters.find((name) => name in request.query)
      if (later) throw new ServiceError('not_available', `${later}: this filter is not available in this version`)
      const { rows, more, total } = await listJobs(db, userOf(request).id, {
        limit,
        offset,
        ...(team_id && { teamId: team_id }),
        ...(status && { status }),
        ...(backend && { backend }),
        ...(cursor && { before: cursor })
      })
      const options = viewOptions()
      return {
        jobs: rows.map((row) => jobView(row, options)),
        total: Math.min(total, TOTAL_MAX),
        ...(total > TOTAL_MAX && { total_capped: true }),
        limit,
        offset,
        next_cursor: more ? rows.at(-1)!.id : null
      }
    }
  )

  app.get(
    '/api/jobs/:id',
    { schema: { tags: ['jobs'], summary: 'The record of a job', params: JobId } },
    async (request, reply) => sendRecord(reply, await jobOf(request))
  )

  app.get(
    '/api/jobs/:id/status',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Status and result; with ?wait=S held until the status changes, at most 22 s',
        params: JobId,
        querystring: Type.Object({ wait: Type.Optional(Type.Unknown()) })
      }
    },
    async (request, reply) => {
      let job = await jobOf(request)
      const waitMs = readWait(request.query.wait) * 1000
      if (waitMs > 0 && !isFinal(job.status)) {
        const left = new AbortController()
        const leave = () => left.abort()
        request.raw.socket.once('close', leave)
        try {
          await waits.statusChange(job.id, job.status, waitMs, left.signal)
        } finally {
          // The socket may live on and carry many more polls.
          request.raw.socket.off('close', leave)
        }
        job = await jobOf(request)
      }
      return sendJson(reply, jobStatusJson(job, await resultOf(job)))
    }
  )

  app.get(
    '/api/jobs/:id/attempts',
    { schema: { tags: ['jobs'], summary: 'Every execution that the executor accepted', params: JobId } },
    async (request) => {
      const job = await jobOf(request)
      return { attempts: (await listAttempts(db, job.id)).map(attemptView) }
    }
  )

  app.post(
    '/api/jobs/:id/cancel',
    { schema: { tags: ['jobs'], summary: 'Cancel a job; what is running is stopped', params: JobId } },
    async (request, reply) => {
      const job = await jobOf(request)
      await assertNotSuspended(db, job.teamId)
      if ((await requestCancel(db, job.id)) === 'final') {
        const { status } = await jobOf(request)
        throw new ServiceError('conflict', `job is ${status} already; only a job that is not final can be cancelled`)
      }
      deps.announce(job.id)
      nudge(job.id, job.mode)
      return sendRecord(reply.code(202), await jobOf(request))
    }
  )

  const jobOf = (request: FastifyRequest): Promise<JobRow> => requestedJob(db, request)

  const resultOf = async (job: JobRow): Promise<string | null> =>
    job.resultSha256 === null ? null : resultText(db, job.id, job.resultSha256)

  const sendRecord = async (reply: FastifyReply, job: JobRow): Promise<FastifyReply> =>
    sendJson(reply, jobRecordJson(job, await resultOf(job), viewOptions()))
}

/** The job that the path's `id` names. @throws ServiceError `not_found` when it is none of the caller's. */
export async function requestedJob(db: Db, request: FastifyRequest): Promise<JobRow> {
  const { id } = request.params as { id: string }
  const job = await loadJob(db, userOf(request).id, id)
  if (!job) throw new ServiceError('not_found', 'no such job')
  return job
}

/** The text is JSON already; an object would be serialised a second time. */
export const sendJson = (reply: FastifyReply, json: string): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(json)

/** Whole seconds from 0 to 22; anything else counts as no wait, since a refused poll would end a client's patience. */
function readWait(given: unknown): number {
  const seconds = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : 0
  return Math.min(seconds, WAIT_SECONDS_MAX)
}
