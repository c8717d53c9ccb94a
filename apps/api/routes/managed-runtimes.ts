// What the public client asks before it submits a native program: GET /api/jobs/managed-runtimes.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { ApiDeps } from '../deps.js'
import { readTeam } from '../plugins/access.js'

export const managedRuntimeRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.get(
    '/api/jobs/managed-runtimes',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Where a team may run native programs',
        description: 'This version runs none, so the list is empty, and the client refuses such a program by itself.',
        querystring: Type.Object({ team_id: Type.String({ format: 'uuid' }) })
      }
    },
    async (request) => {
      await readTeam(request, deps.db, request.query.team_id)
      return { runtimes: [] }
    }
  )
}
