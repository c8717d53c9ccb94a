// Lists where a team can run native programs: GET /api/jobs/managed-runtimes. The public client reads it before it submits one.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { listBackends } from '../../../db/backends/backends.js'
import { credentialNames } from '../../../db/backends/provider-workers.js'
import type { Db } from '../../../db/client.js'
import { type Backend, isAtProvider, isForCircuits, unavailableReason } from '../../../domain/backends/backend.js'
import { credentialsOfProvider } from '../../../domain/backends/quantum-providers.js'
import { capsFrom, nativeShots, programmingModels } from '../../../domain/jobs/native/native-submission.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { estimateCost } from '../../../domain/money/cost.js'
import type { ApiDeps } from '../deps.js'
import { readTeam } from '../http/access.js'
import { json, text } from '../http/response.js'

/** The public client requires entries with exactly these four fields. */
const ManagedRuntime = Type.Object(
  {
    backend: text,
    programming_model: oneOf(programmingModels),
    min_cap_cents: Type.Integer({ minimum: 1 }),
    max_cap_cents: Type.Integer({ minimum: 1 })
  },
  { $id: 'ManagedRuntime' }
)

export const managedRuntimeRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.get(
    '/api/jobs/managed-runtimes',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Where a team may run native programs',
        description:
          'One entry for each backend that takes jobs of the team now and each kind of program, with the caps in US cents that a submission may have. Advisory: a submission is checked again.',
        querystring: Type.Object({ team_id: Type.String({ format: 'uuid' }) }),
        response: { 200: json('The runtimes', Type.Object({ runtimes: Type.Array(ManagedRuntime) })) },
        errors: ['not_found']
      }
    },
    async (request) => {
      const { team_id } = request.query
      await readTeam(request, deps.db, team_id)
      const [backends, reached] = await Promise.all([listBackends(deps.db), providersOf(deps.db, team_id)])
      return {
        runtimes: backends
          .filter((backend) => !isAtProvider(backend) || reached.has(backend.provider))
          .flatMap(runtimesOf)
      }
    }
  )
}

/** The providers for which the team has credentials. */
async function providersOf(db: Db, teamId: string): Promise<Set<string>> {
  const stored = await credentialNames(db, teamId)
  const known = Object.entries(credentialsOfProvider)
  return new Set(known.flatMap(([provider, credentials]) => (stored.has(credentials) ? [provider] : [])))
}

function runtimesOf(backend: Backend): Static<typeof ManagedRuntime>[] {
  if (!isForCircuits(backend) || unavailableReason(backend) !== null) return []
  const caps = capsFrom(estimateCost(backend.pricing, nativeShots(backend)))
  if (!caps) return []
  return programmingModels.map((model) => ({
    backend: backend.slug,
    programming_model: model,
    min_cap_cents: caps.min,
    max_cap_cents: caps.max
  }))
}
