// The list of jobs: GET /api/jobs.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { listJobs } from '../../../db/jobs/job-list.js'
import { jobStatuses } from '../../../domain/jobs/job-status.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { estimateView, pageView, TOTAL_MAX } from '../../../domain/json/page.js'
import type { ApiDeps } from '../deps.js'
import { callerOf, readTeam } from '../http/access.js'
import { json, longPageEnd, nullable, sendJson, uuid } from '../http/response.js'
import { idEnd } from '../http/validation/id-end.js'
import { timeOf } from '../http/validation/time-of.js'
import { JobSummary, jobItemJson, jobPageJson } from './job-view.js'
import { viewOptionsOf } from './requested-job.js'

export const jobListRoute: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/jobs',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Jobs of your teams, newest first',
        querystring: Type.Object({
          team_id: Type.Optional(Type.String({ format: 'uuid' })),
          status: Type.Optional(
            Type.Union([oneOf(jobStatuses), Type.Array(oneOf(jobStatuses), { maxItems: jobStatuses.length })], {
              description: 'Can be repeated: those in one of the statuses'
            })
          ),
          backend: Type.Optional(Type.String({ maxLength: 100 })),
          script_id: Type.Optional(Type.String({ format: 'uuid' })),
          capsule_id: Type.Optional(
            Type.String({ format: 'uuid', description: 'Those of its runs, and the one that it was made from' })
          ),
          mine: Type.Boolean({ default: false, description: 'Only those that you submitted' }),
          id_end: idEnd,
          created_after: Type.Optional(Type.String({ format: 'date-time' })),
          created_before: Type.Optional(Type.String({ format: 'date-time' })),
          q: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 200,
              description:
                'In the name, a label, or the beginning of the id. Looks through the newest 5,000 jobs that match the ' +
                'rest and says with total_capped that there are older ones; next_cursor leads on to them.'
            })
          ),
          cursor: Type.Optional(Type.String({ format: 'uuid', description: 'next_cursor of the page before' })),
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
          offset: Type.Integer({ minimum: 0, maximum: TOTAL_MAX, default: 0 })
        }),
        response: {
          200: json(
            'The jobs',
            Type.Object({ jobs: Type.Array(JobSummary), ...longPageEnd, next_cursor: nullable(uuid) })
          )
        },
        errors: ['service_busy']
      }
    },
    async (request, reply) => {
      const {
        team_id,
        status,
        backend,
        script_id,
        capsule_id,
        mine,
        id_end,
        created_after,
        created_before,
        q,
        cursor,
        limit,
        offset
      } = request.query
      if (team_id) await readTeam(request, db, team_id)
      const { rows, next, total, estimate, unfinished } = await listJobs(db, callerOf(request), {
        limit,
        offset,
        ...(team_id && { teamId: team_id }),
        ...(status && { statuses: [status].flat() }),
        ...(backend && { backend }),
        ...(script_id && { scriptId: script_id }),
        ...(capsule_id && { capsuleId: capsule_id }),
        ...(mine && { mine }),
        ...(id_end && { idEnd: id_end }),
        ...(created_after && { createdAfter: timeOf('created_after', created_after) }),
        ...(created_before && { createdBefore: timeOf('created_before', created_before) }),
        ...(q && { text: q }),
        ...(cursor && { before: cursor })
      })
      const options = viewOptionsOf(deps)
      const items = rows.map((row) => jobItemJson(row, options))
      return sendJson(
        reply,
        jobPageJson(items, {
          ...pageView(total, { limit, offset }),
          ...estimateView(estimate),
          ...(unfinished && { total_capped: true }),
          next_cursor: next
        })
      )
    }
  )
}
