// How long a team keeps results, values of tasks and output of its jobs: /api/team/retention. Members read, the owner sets it.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { contentRetentionOf, setContentRetention } from '../../../db/teams/content-retention.js'
import { KEPT_DAYS_MAX } from '../../../domain/teams/content-retention.js'
import type { ApiDeps } from '../deps.js'
import { readTeam, teamForWrite } from '../http/access.js'
import { json } from '../http/response.js'
import { Retention, retentionView } from './retention-view.js'

const Days = Type.Optional(
  Type.Union([Type.Integer({ minimum: 1, maximum: KEPT_DAYS_MAX }), Type.Null()], {
    description: 'After the end of a job; `null`: as long as the platform keeps it'
  })
)

export const retentionRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps
  const platform = deps.config.keptDays

  app.get(
    '/api/team/retention',
    {
      schema: {
        tags: ['teams'],
        summary: 'How long results, values of tasks and output are kept',
        querystring: Type.Object({ team_id: Type.Optional(Type.String({ format: 'uuid' })) }),
        response: { 200: json('What is kept how long', Retention) }
      }
    },
    async (request) => {
      const team = await readTeam(request, db, request.query.team_id)
      return retentionView(team?.id ?? null, team && (await contentRetentionOf(db, team.id)), platform)
    }
  )

  app.patch(
    '/api/team/retention',
    {
      schema: {
        tags: ['teams'],
        summary: 'Set how long they are kept (owner); what is left out stays',
        description: 'A number holds a day after it was set. What is removed then cannot be brought back.',
        body: Type.Object(
          {
            team_id: Type.Optional(Type.String({ format: 'uuid' })),
            results_days: Days,
            task_values_days: Days,
            output_days: Days
          },
          { additionalProperties: false }
        ),
        response: { 200: json('What is kept how long', Retention) }
      }
    },
    async (request, reply) => {
      const { team_id: named, results_days, task_values_days, output_days } = request.body
      return app.writeOnce(request, reply, async ({ tx }) => {
        const id = await teamForWrite(request, tx, named ?? null)
        await setContentRetention(tx, id, { results: results_days, task_values: task_values_days, output: output_days })
        return { body: retentionView(id, await contentRetentionOf(tx, id), platform) }
      })
    }
  )
}
