// Estimates the cost of a job before it is submitted: /api/jobs/estimate.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, type TObject, Type } from 'typebox'
import { findBackend } from '../../../db/backends/backends.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { SHOTS_MAX } from '../../../domain/jobs/params/params.js'
import { readWishes, wishFields } from '../../../domain/jobs/submission.js'
import { estimateCost } from '../../../domain/money/cost.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import type { ApiDeps } from '../deps.js'
import { readTeam } from '../http/access.js'
import { json, nullable, usd } from '../http/response.js'
import { Budget, budgetView } from '../teams/budget-view.js'
import { BackendChoice } from './choice/choice-view.js'
import { chosenFor } from './choice/choose-backend.js'
import { CostBreakdown, costBreakdown } from './cost-breakdown.js'

const TASKS_MAX = 1_000

export const estimateRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/jobs/estimate',
    {
      schema: {
        tags: ['jobs'],
        summary: 'What a job would cost, and what is left of the budget',
        description:
          'tasks x max(task_fee + per_shot x shots, minimum_cost), at present prices. Says nothing of whether the backend can be used.',
        querystring: Type.Object({
          backend: Type.String({ minLength: 1, maxLength: 100, description: 'Slug, or `auto` with the wishes below' }),
          shots: Type.Integer({ minimum: 1, maximum: SHOTS_MAX }),
          tasks: Type.Optional(
            Type.Integer({ minimum: 1, maximum: TASKS_MAX, description: 'Circuits; 1 when left out' })
          ),
          circuit_count: Type.Optional(
            Type.Integer({ minimum: 1, maximum: TASKS_MAX, description: 'The same, as a submission names it' })
          ),
          team_id: Type.Optional(Type.String({ format: 'uuid' })),
          ...wishFields
        }),
        response: {
          200: json(
            'The estimate',
            Type.Object({
              estimated_cost_usd: usd,
              breakdown: CostBreakdown,
              budget: Budget,
              choice: nullable(BackendChoice, 'The backend that `auto` would choose now')
            })
          )
        },
        errors: ['not_found', 'backend_unavailable']
      }
    },
    async (request) => {
      const { backend: slug, shots, circuit_count, team_id } = request.query
      const tasks = request.query.tasks ?? circuit_count ?? 1
      const wishes = readWishes(slug, wishesIn(request.query), '')
      if (circuit_count !== undefined && circuit_count !== tasks)
        throw validationError(
          `circuit_count: says the same as tasks, and differs from it (got ${circuit_count} and ${tasks})`
        )
      const team = await readTeam(request, db, team_id)
      const job = { shots: [shots], circuitCount: tasks, qubits: null, params: {}, maxCost: null }
      const chosen = wishes && (await chosenFor(db, request, team?.id ?? null, job, wishes, deps.now()))
      const backend = chosen?.backend ?? (await findBackend(db, slug))
      if (!backend) throw new ServiceError('not_found', `no backend is called ${JSON.stringify(slug)}`)
      return {
        estimated_cost_usd: usdFromMicro(estimateCost(backend.pricing, shots, tasks)),
        breakdown: costBreakdown(backend.pricing, shots, tasks),
        budget: await budgetView(db, team?.id ?? null, deps.now()),
        choice: chosen?.choice ?? null
      }
    }
  )
}

/** The fields of a query that wishes have. */
const wishesIn = (query: object): Static<TObject<typeof wishFields>> =>
  Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(wishFields, name)))
