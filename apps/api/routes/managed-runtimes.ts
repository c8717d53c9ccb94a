// What the public client asks before it submits a native program: GET /api/jobs/managed-runtimes.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { listBackends } from '../../../db/backends.js'
import { type Backend, isAtProvider, isForCircuits, unavailableReason } from '../../../domain/backend.js'
import { estimateCost } from '../../../domain/cost.js'
import { capsFrom, NATIVE_SHOTS, programmingModels } from '../../../domain/native-submission.js'
import type { ApiDeps } from '../deps.js'
import { readTeam } from '../plugins/access.js'

export const managedRuntimeRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.get(
    '/api/jobs/managed-runtimes',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Where a team may run native programs',
        description:
          'One entry for each backend that takes jobs now and each kind of program, with the caps in US cents that a submission may have. Advisory: a submission is judged anew.',
        querystring: Type.Object({ team_id: Type.String({ format: 'uuid' }) })
      }
    },
    async (request) => {
      await readTeam(request, deps.db, request.query.team_id)
      return { runtimes: (await listBackends(deps.db)).flatMap(runtimesOf) }
    }
  )
}

/** Its public client takes entries of exactly these four fields. */
function runtimesOf(backend: Backend) {
  if (isAtProvider(backend) || !isForCircuits(backend) || unavailableReason(backend) !== null) return []
  const caps = capsFrom(estimateCost(backend.pricing, NATIVE_SHOTS))
  if (!caps) return []
  return programmingModels.map((model) => ({
    backend: backend.slug,
    programming_model: model,
    min_cap_cents: caps.min,
    max_cap_cents: caps.max
  }))
}
