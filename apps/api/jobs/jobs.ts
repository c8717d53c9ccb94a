// Jobs: /api/jobs/*. A submission responds right after its commit; the job is dispatched afterwards.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { findBackend } from '../../../db/backends/backends.js'
import { cancelJob } from '../../../db/job-steps/job-steps.js'
import { listAttempts } from '../../../db/jobs/attempts.js'
import type { JobRow } from '../../../db/jobs/jobs.js'
import { assertParams, assertUsable, type Backend, isAtProvider } from '../../../domain/backends/backend.js'
import { isFinal } from '../../../domain/jobs/job-status.js'
import { isNative, NativeSubmitBody } from '../../../domain/jobs/native/native-submission.js'
import { circuitsOf } from '../../../domain/jobs/params/circuits.js'
import { programKindOf } from '../../../domain/jobs/source.js'
import {
  type JobSource,
  readSubmission,
  type SavedScript,
  type Submission,
  SubmitBody
} from '../../../domain/jobs/submission.js'
import { oneOf } from '../../../domain/json/one-of.js'
import type { ApiDeps } from '../deps.js'
import { ownerForWrite, userOf } from '../http/access.js'
import { SUBMISSION_BODY_MAX } from '../http/body/body-limits.js'
import { json, sendJson, uuid } from '../http/response.js'
import { eitherBody } from '../http/validation/either-body.js'
import type { Write } from '../http/write-once.js'
import { Attempt, attemptView } from './attempt-view.js'
import { chosenBackend } from './choice/choose-backend.js'
import { actionsOf } from './job-actions.js'
import { jobListRoute } from './job-list-route.js'
import { Job, JobState, jobRecordJson, jobStatusJson } from './job-view.js'
import type { JobWaits } from './job-waits.js'
import { AdmissionReceipt, submitNative } from './native-submissions.js'
import type { Nudge } from './nudge.js'
import {
  recordJson,
  removedAtOf,
  removedView,
  requestedJob,
  resultSize,
  sendWithResult,
  viewOptionsOf
} from './requested-job.js'
import { submitAtOnce, submitErrors, submitJob } from './submit-job.js'

/** Below the 30 s after which the public client gives up a poll. */
const WAIT_SECONDS_MAX = 22

const JobId = Type.Object({ id: Type.String({ format: 'uuid' }) })

const SubmittedJob = Type.Object({ job_id: uuid }, { $id: 'SubmittedJob' })

const AnySubmitBody = eitherBody('protocol_version', NativeSubmitBody, SubmitBody)

export interface JobRouteDeps {
  deps: ApiDeps
  nudge: Nudge
  waits: JobWaits
}

export const jobRoutes: FastifyPluginAsyncTypebox<JobRouteDeps> = async (app, { deps, nudge, waits }) => {
  const { db } = deps
  app.post(
    '/api/jobs/submit',
    {
      bodyLimit: SUBMISSION_BODY_MAX,
      schema: {
        tags: ['jobs'],
        summary: 'Submit a circuit or a program as a job',
        description:
          'A body that has a protocol_version is a native program of the public client (docs/clients/python-client.md) and gets a receipt; any other is a plain submission. With `backend` auto, the service chooses among the backends that the team can use, and the record says why.',
        body: AnySubmitBody,
        response: {
          201: json(
            'The job is recorded; a native program gets a receipt',
            Type.Union([AdmissionReceipt, SubmittedJob])
          )
        },
        errors: ['conflict', 'not_available', 'analysis_mismatch', ...submitErrors]
      }
    },
    async (request, reply) => {
      if (isNative(request.body))
        return submitNative({ deps, nudge, writeOnce: app.writeOnce }, request, reply, request.body)
      const submission = readSubmission(request.body, request.jsonText!, deps.now())
      const named = submission.choose ? null : await namedBackend(request, submission)
      const settled = (backend: Backend) => ({
        ...submission,
        backend: backend.slug,
        circuitCount: submission.circuitCount * circuitsOf(submission.params.value, isAtProvider(backend))
      })
      const responseIn = (write: Pick<Write, 'afterCommit'>) => (jobId: string) => {
        write.afterCommit(() => nudge(jobId, submission.mode))
        return { status: 201, body: { job_id: jobId } } as const
      }
      return app.writeOnce(
        request,
        reply,
        async (write) => {
          const { backend, ...choice } = named
            ? { backend: named }
            : await chosenBackend(deps, request, write.tx, submission, submission.choose!)
          const jobId = await submitJob(deps, request, write, { ...settled(backend), ...choice }, backend)
          return responseIn(write)(jobId)
        },
        async (write) => named && submitAtOnce(deps, request, write, settled(named), named, responseIn(write))
      )
    }
  )

  await app.register(jobListRoute, { deps })

  app.get(
    '/api/jobs/:id',
    {
      schema: {
        tags: ['jobs'],
        summary: 'The record of a job',
        params: JobId,
        querystring: Type.Object({
          result: Type.Optional(
            oneOf(['omit'], 'Leaves out the result, which GET /api/jobs/:id/result has, and states its size')
          )
        }),
        response: { 200: json('The record', Job) },
        errors: ['content_store_unavailable']
      }
    },
    async (request, reply) => {
      const job = await jobOf(request)
      const options = viewOptionsOf(deps)
      const removed = await removedAtOf(db, job, options)
      const more = {
        can: await actionsOf(db, request, { job, removed }, options.now),
        ...removedView(removed)
      }
      if (request.query.result === 'omit')
        return sendJson(reply, jobRecordJson(job, null, options, { ...more, result_bytes: await resultSize(db, job) }))
      const text = (result: string | null) => jobRecordJson(job, result, options, more)
      return sendWithResult(app, request, reply, { db, job, text })
    }
  )

  app.get(
    '/api/jobs/:id/status',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Status and result; with ?wait=S after the status has changed, at most 22 s',
        params: JobId,
        querystring: Type.Object({ wait: Type.Optional(Type.Unknown()) }),
        response: { 200: json('The status', JobState) }
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
          await waits.statusChange({
            jobId: job.id,
            userId: userOf(request).id,
            seen: job.status,
            waitMs,
            left: left.signal
          })
        } finally {
          // The socket may stay open for many more polls.
          request.raw.socket.off('close', leave)
        }
        job = await jobOf(request)
      }
      return sendWithResult(app, request, reply, { db, job, text: (result) => jobStatusJson(job, result) })
    }
  )

  app.get(
    '/api/jobs/:id/attempts',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Every execution that the executor accepted',
        params: JobId,
        response: { 200: json('The attempts', Type.Object({ attempts: Type.Array(Attempt) })) }
      }
    },
    async (request) => {
      const job = await jobOf(request)
      return { attempts: (await listAttempts(db, job.id)).map(attemptView) }
    }
  )

  app.post(
    '/api/jobs/:id/cancel',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Cancel a job; what is running is stopped',
        params: JobId,
        response: { 202: json('The record; what is running is being stopped', Job) },
        errors: ['conflict']
      }
    },
    async (request, reply) => {
      const job = await jobOf(request)
      return app.writeOnce(request, reply, async ({ tx, afterCommit }) => {
        await ownerForWrite(request, tx, job.teamId, 'job')
        await cancelJob(tx, job.id)
        afterCommit(() => {
          deps.announce(job.id)
          nudge(job.id, job.mode)
        })
        return { status: 202, body: await recordJson(deps, tx, await requestedJob(tx, request)) }
      })
    }
  )

  /** @throws ServiceError when the backend that a submission names cannot take it. */
  async function namedBackend(
    request: FastifyRequest,
    { source, backend: slug, params, mode }: Submission<JobSource | SavedScript>
  ) {
    const backend = await findBackend(db, slug)
    request.submission = backend && { mode, backend: backend.slug }
    assertUsable(backend, slug, { shots: params.value.shots, program: programKindOf(source) })
    assertParams(backend, params.value)
    return backend
  }

  const jobOf = (request: FastifyRequest): Promise<JobRow> => requestedJob(db, request)
}

/** Whole seconds from 0 to 22. Anything else counts as 0, because a refused poll makes clients give up. */
function readWait(given: unknown): number {
  const seconds = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : 0
  return Math.min(seconds, WAIT_SECONDS_MAX)
}
