// Estimates the cost of a job before it is submitted: /api/jobs/estimate.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, type TObject, Type } from 'typebox'
import { assertParamsOfAny, type BackendParams, isAtProvider } from '../../../domain/backends/backend.js'
import { assertParameters } from '../../../domain/capsules/capsule-definition.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { circuitsOf } from '../../../domain/jobs/params/circuits.js'
import { SHOTS_MAX } from '../../../domain/jobs/params/shots.js'
import { readWishes, wishFields } from '../../../domain/jobs/submission.js'
import { estimateCost } from '../../../domain/money/cost.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import type { ApiDeps } from '../deps.js'
import { readTeam } from '../http/access.js'
import { count, json, nullable, usd } from '../http/response.js'
import { Budget, standingView } from '../teams/budget-view.js'
import { BackendChoice } from './choice/choice-view.js'
import { chosenFor } from './choice/choose-backend.js'
import { CostBreakdown, costBreakdown } from './cost-breakdown.js'
import { SubmissionRefusal } from './destinations/destinations.js'
import { refusalsOf, standingOf } from './destinations/refusals.js'

const TASKS_MAX = 1_000
/** In the address each character can take twelve bytes, and longer headers are refused before this code. */
const PARAMS_TEXT_MAX = 1_000

export const estimateRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/jobs/estimate',
    {
      schema: {
        tags: ['jobs'],
        summary: 'What a job would cost, and what is left of the budget',
        description:
          'circuits x max(task_fee + per_shot x shots + per_second x seconds_max, minimum_cost), at present prices. `circuits` is tasks x the circuits that observables and mitigation in `job_params` make of one. `refusals` says why a submission would be refused now.',
        querystring: Type.Object({
          backend: Type.String({ minLength: 1, maxLength: 100, description: 'Slug, or `auto` with the wishes below' }),
          shots: Type.Integer({ minimum: 1, maximum: SHOTS_MAX }),
          tasks: Type.Optional(
            Type.Integer({ minimum: 1, maximum: TASKS_MAX, description: 'Circuits; 1 when left out' })
          ),
          circuit_count: Type.Optional(
            Type.Integer({ minimum: 1, maximum: TASKS_MAX, description: 'The same, as a submission names it' })
          ),
          job_params: Type.Optional(
            Type.String({
              maxLength: PARAMS_TEXT_MAX,
              description: 'JSON of parameters of the job: its `observables` and `mitigation` can take more circuits',
              examples: ['{"observables":["ZZ"]}']
            })
          ),
          team_id: Type.Optional(Type.String({ format: 'uuid' })),
          ...wishFields
        }),
        response: {
          200: json(
            'The estimate',
            Type.Object({
              estimated_cost_usd: usd,
              circuits: count,
              breakdown: CostBreakdown,
              budget: Budget,
              refusals: Type.Array(SubmissionRefusal, {
                description: 'Why a submission would be refused now, in the order of the checks'
              }),
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
      const params = readParams(request.query.job_params)
      const team = await readTeam(request, db, team_id)
      const job = {
        shots: [shots],
        program: 'circuit',
        circuitCount: tasks,
        qubits: null,
        params,
        maxCost: null
      } as const
      const at = deps.now()
      const chosen = wishes && (await chosenFor(db, request, team?.id ?? null, job, wishes, at))
      const standing = await standingOf(db, request, team, at)
      const backend = chosen?.backend ?? standing.backends.find((one) => one.slug === slug)
      if (!backend) throw new ServiceError('not_found', `no backend is called ${JSON.stringify(slug)}`)
      const circuits = tasks * circuitsOf(params, isAtProvider(backend))
      const cost = estimateCost(backend.pricing, shots, circuits)
      const run = { program: 'circuit', shots, qubits: null, params, cost, maxCost: null } as const
      return {
        estimated_cost_usd: usdFromMicro(cost),
        circuits,
        breakdown: costBreakdown(backend.pricing, shots, circuits),
        budget: standingView(team?.id ?? null, standing.budget, at),
        refusals: refusalsOf(standing, backend, run),
        choice: chosen?.choice ?? null
      }
    }
  )
}

/** @throws ServiceError `validation_error` for parameters that no job could have. */
function readParams(text: string | undefined): BackendParams {
  if (text === undefined) return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw validationError('job_params: must be JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw validationError('job_params: must be JSON of an object')
  assertParameters(value as Record<string, unknown>, 'job_params')
  assertParamsOfAny(value)
  return value
}

/** The fields of a query that wishes have. */
const wishesIn = (query: object): Static<TObject<typeof wishFields>> =>
  Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(wishFields, name)))
