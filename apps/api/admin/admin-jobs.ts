// Platform administration of jobs: finding those of any team, and cancelling one, also of a suspended team.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { cancelAnyJob } from '../../../db/admin/administration.js'
import { loadAnyJob, loadAnyJobRecord } from '../../../db/admin/administration-lists.js'
import { searchJobs } from '../../../db/admin/job-search.js'
import { ServiceError } from '../../../domain/errors.js'
import { assertMoneyHeld } from '../../../domain/jobs/held-job.js'
import { assertCancellable } from '../../../domain/jobs/job-actions.js'
import { jobStatuses } from '../../../domain/jobs/job-status.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { estimateView, pageView } from '../../../domain/json/page.js'
import type { ApiDeps } from '../deps.js'
import { userOf } from '../http/access.js'
import { json, longPageEnd, sendJson } from '../http/response.js'
import { verdict } from '../http/verdict.js'
import { AnyJob, AnyJobRecord, anyJobView, Job, jobItemJson, jobPageJson } from '../jobs/job-view.js'
import type { Nudge } from '../jobs/nudge.js'
import { recordJson, viewOptionsOf } from '../jobs/requested-job.js'
import { searchFields } from './admin-search.js'

export const adminJobRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; nudge: Nudge }> = async (
  app,
  { deps, nudge }
) => {
  const { db } = deps

  app.get(
    '/api/admin/jobs',
    {
      schema: {
        tags: ['administration'],
        summary:
          "Jobs of all teams, newest first; q: an id (of a job, team or user), or part of the name, backend, team's name or user's address, among the newest 5,000 jobs (total_capped: there are older ones)",
        querystring: Type.Object(
          {
            ...searchFields,
            status: Type.Optional(oneOf(jobStatuses))
          },
          { additionalProperties: false }
        ),
        response: { 200: json('The jobs', Type.Object({ jobs: Type.Array(AnyJob), ...longPageEnd })) }
      }
    },
    async (request, reply) => {
      const { rows, total, estimate, unfinished } = await searchJobs(db, request.query)
      const options = viewOptionsOf(deps)
      const items = rows.map((job) => jobItemJson(job, options, { team_name: job.teamName, user_email: job.userEmail }))
      return sendJson(
        reply,
        jobPageJson(items, {
          ...pageView(total, request.query),
          ...estimateView(estimate),
          ...(unfinished && { total_capped: true })
        })
      )
    }
  )

  app.get(
    '/api/admin/jobs/:id',
    {
      schema: {
        tags: ['administration'],
        summary: 'A job of any team, without its program, parameters and result',
        params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
        response: { 200: json('The job', AnyJobRecord) }
      }
    },
    async (request) => {
      const job = await loadAnyJobRecord(db, request.params.id)
      if (!job) throw new ServiceError('not_found', 'no such job')
      const can = {
        cancel: verdict(() => assertCancellable(job.status)),
        settle: verdict(() => assertMoneyHeld(job))
      }
      return anyJobView(job, can, viewOptionsOf(deps))
    }
  )

  app.post(
    '/api/admin/jobs/:id/cancel',
    {
      schema: {
        tags: ['administration'],
        summary: 'Cancel a job of any team; what is running is stopped',
        params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
        response: { 202: json('The record; what is running is being stopped', Job) },
        errors: ['conflict']
      }
    },
    async (request, reply) => {
      const { id } = request.params
      return app.writeOnce(request, reply, async ({ tx, afterCommit }) => {
        await cancelAnyJob(tx, userOf(request), id)
        const job = (await loadAnyJob(tx, id))!
        afterCommit(() => {
          deps.announce(id)
          nudge(id, job.mode)
        })
        return { status: 202, body: await recordJson(deps, tx, job) }
      })
    }
  )
}
