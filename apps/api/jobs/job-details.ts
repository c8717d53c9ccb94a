// The parts of a job (source, tasks, events, followed live), and running the same job again.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { findBackend } from '../../../db/backends/backends.js'
import { listTasks } from '../../../db/jobs/job-tasks.js'
import { loadJob, loadSource } from '../../../db/jobs/jobs.js'
import { assertParams, assertUsable } from '../../../domain/backends/backend.js'
import { programKindOf } from '../../../domain/jobs/source.js'
import { submissionAgain } from '../../../domain/jobs/submission.js'
import type { ApiDeps } from '../deps.js'
import { callerOf, userOf } from '../http/access.js'
import { beginStream } from '../http/begin-stream.js'
import { empty, json, media, sent, uuid } from '../http/response.js'
import type { EventStreams } from './event-stream.js'
import { assertHasItsResults } from './job-actions.js'
import { Progress, progressView } from './job-view.js'
import type { Nudge } from './nudge.js'
import { requestedJob } from './requested-job.js'
import { submitErrors, submitJob } from './submit-job.js'
import { onlyTaskView, Task, taskView } from './task-view.js'

const JobId = Type.Object({ id: Type.String({ format: 'uuid' }) })

export const jobDetailRoutes: FastifyPluginAsyncTypebox<{
  deps: ApiDeps
  nudge: Nudge
  streams: EventStreams
}> = async (app, { deps, nudge, streams }) => {
  const { db } = deps

  app.get(
    '/api/jobs/:id/source',
    {
      schema: {
        tags: ['jobs'],
        summary: 'What was submitted, as text',
        params: JobId,
        response: { 200: media('The source, unchanged', 'text/plain') }
      }
    },
    async (request, reply) => {
      const job = await requestedJob(db, request)
      reply.type('text/plain; charset=utf-8')
      return (await loadSource(db, job.id)).text
    }
  )

  app.get(
    '/api/jobs/:id/tasks',
    {
      schema: {
        tags: ['jobs'],
        summary: 'The tasks of a job; a plain job has one. And how far a sweep is',
        params: JobId,
        response: { 200: json('The tasks', Type.Object({ tasks: Type.Array(Task), progress: Progress })) }
      }
    },
    async (request) => {
      const job = await requestedJob(db, request)
      const tasks = await listTasks(db, job.id)
      return { tasks: tasks.length > 0 ? tasks.map(taskView) : [onlyTaskView(job)], progress: progressView(job) }
    }
  )

  app.get(
    '/api/jobs/:id/events',
    {
      schema: {
        tags: ['jobs'],
        summary:
          'Every change of its status, every attempt, and what its program prints, as it happens (text/event-stream)',
        description:
          'One event for each change of the status, for each attempt that begins or ends, and for what a program prints, its number as `id`; with `Last-Event-ID` those after that one. The last one is the final status. A stream ends after an hour, and when the caller loses access; a user can have 20 open. With `follow=false` it ends after the events so far.',
        params: JobId,
        querystring: Type.Object({ follow: Type.Boolean({ default: true }) }),
        headers: Type.Object({ 'last-event-id': Type.Optional(Type.String({ maxLength: 20 })) }),
        response: {
          200: media(
            '`status` for each change of the status, with `data` of `{ "seq", "type", "status", "reason", "at" }`; `attempt` for each execution that begins or ends, with `{ "seq", "type", "task", "number", "state", "status", "at" }`; `output` for what an attempt prints, with `{ "seq", "type", "attempt", "text", "offset", "at" }`, `task` for a task of a workflow, after a cut `truncated_bytes`, and `removed` where the text is no longer kept. The `id` is the number too, and rises by one. A comment every 15 seconds',
            'text/event-stream'
          ),
          204: empty('The job has ended, and no event can come after the one that Last-Event-ID names')
        }
      }
    },
    async (request, reply) => {
      const job = await requestedJob(db, request)
      const given = request.headers['last-event-id'] ?? ''
      const after = /^\d{1,9}$/.test(given) ? Number(given) : 0
      // A browser asks again for ever after the end of a stream, unless it gets this.
      if (after > 0 && (await streams.isOver(job.id, after))) return sent(reply.code(204).send())
      const leave = streams.enter(userOf(request).id)
      const mayRead = async () =>
        (await app.isSignedIn(request)) && (await loadJob(db, callerOf(request), job.id)) !== null
      beginStream(reply)
      await streams
        .send(job.id, { after, follow: request.query.follow }, reply.raw, mayRead)
        .catch((err) => request.log.warn({ err, job: job.id }, 'event stream ended early'))
        .finally(leave)
    }
  )

  app.post(
    '/api/jobs/:id/rerun',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Submit the same source, parameters and backend again',
        description: 'At present prices, as a job of the same team.',
        params: JobId,
        response: { 201: json('The job is recorded', Type.Object({ job_id: uuid })) },
        errors: ['conflict', ...submitErrors]
      }
    },
    async (request, reply) => {
      const job = await requestedJob(db, request)
      const submission = submissionAgain(job, await loadSource(db, job.id))
      assertHasItsResults(job, submission.params)
      const backend = await findBackend(db, submission.backend)
      assertUsable(backend, submission.backend, {
        shots: submission.params.value.shots,
        program: programKindOf(submission.source)
      })
      assertParams(backend, submission.params.value)
      return app.writeOnce(request, reply, async (write) => {
        const jobId = await submitJob(deps, request, write, submission, backend)
        write.afterCommit(() => nudge(jobId, submission.mode))
        return { status: 201, body: { job_id: jobId } }
      })
    }
  )
}
