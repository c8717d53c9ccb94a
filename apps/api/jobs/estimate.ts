// Estimates the cost of a job before it is submitted: /api/jobs/estimate.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, type TObject, Type } from 'typebox'
import { assertParamsOfAny, isAtProvider } from '../../../domain/backends/backend.js'
import { assertParameters } from '../../../domain/capsules/capsule-definition.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { circuitsOf } from '../../../domain/jobs/params/circuits.js'
import { assertPoints, JobParams, shotsOfRuns } from '../../../domain/jobs/params/params.js'
import { SHOTS_MAX } from '../../../domain/jobs/params/shots.js'
import { Choose, readUsd, readWishes, type Wishes, wishFields } from '../../../domain/jobs/submission.js'
import { estimateRuns } from '../../../domain/money/cost.js'
import { type MicroUsd, usdFromMicro } from '../../../domain/money/money.js'
import type { ApiDeps } from '../deps.js'
import { readTeam } from '../http/access.js'
import { SUBMISSION_BODY_MAX } from '../http/body/body-limits.js'
import { count, json, nullable, usd } from '../http/response.js'
import { Budget, standingView } from '../teams/budget-view.js'
import { BackendChoice } from './choice/choice-view.js'
import { chosenFor } from './choice/choose-backend.js'
import { CostBreakdown, costBreakdown } from './cost-breakdown.js'
import { SubmissionRefusal } from './destinations/destinations.js'
import { refusalsOf, standingOf } from './destinations/refusals.js'

const TASKS_MAX = 1_000
const QUBITS_MAX = 10_000
/** In the address each character can take twelve bytes, and longer headers are refused before this code. */
const PARAMS_TEXT_MAX = 1_000

const Estimate = Type.Object(
  {
    estimated_cost_usd: usd,
    circuits: { ...count, description: 'Of all points together' },
    breakdown: CostBreakdown,
    budget: Budget,
    refusals: Type.Array(SubmissionRefusal, {
      description: 'Why a submission would be refused now, in the order of the checks'
    }),
    choice: nullable(BackendChoice, 'The backend that `auto` would choose now')
  },
  // The name from before the second route, by which generated clients know it.
  { $id: 'EstimateJobResponse' }
)

const BackendName = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Slug, or `auto` with the wishes below'
})

/** The job that an estimate is about. */
interface Planned {
  backend: string
  params: JobParams
  /** `null` where nothing says how wide its circuit is. */
  qubits: number | null
  /** The submission's own cap. */
  maxCost: MicroUsd | null
  wishes: Wishes | null
  teamId: string | undefined
}

export const estimateRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/jobs/estimate',
    {
      schema: {
        tags: ['jobs'],
        summary: 'What a job would cost, and what is left of the budget',
        description:
          'circuits x max(task_fee + per_shot x shots + per_second x seconds_max, minimum_cost), at present prices. `circuits` is tasks x the circuits that observables and mitigation in `job_params` make of one, for each of its points. `refusals` says why a submission would be refused now.',
        querystring: Type.Object({
          backend: BackendName,
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
              description:
                'JSON of parameters of the job: its `observables`, `mitigation` and `points` can take more circuits',
              examples: ['{"observables":["ZZ"]}']
            })
          ),
          team_id: Type.Optional(Type.String({ format: 'uuid' })),
          ...wishFields
        }),
        response: { 200: json('The estimate', Estimate) },
        errors: ['not_found', 'backend_unavailable']
      }
    },
    async (request) => {
      const { backend, shots, circuit_count, team_id: teamId } = request.query
      const tasks = request.query.tasks ?? circuit_count
      const wishes = readWishes(backend, wishesIn(request.query), '')
      if (circuit_count !== undefined && circuit_count !== tasks)
        throw validationError(
          `circuit_count: says the same as tasks, and differs from it (got ${circuit_count} and ${tasks})`
        )
      const params = { ...readParams(request.query.job_params), shots, ...(tasks && { circuit_count: tasks }) }
      return estimate(request, { backend, params, qubits: null, maxCost: null, wishes, teamId })
    }
  )

  app.post(
    '/api/jobs/estimate',
    {
      bodyLimit: SUBMISSION_BODY_MAX,
      schema: {
        tags: ['jobs'],
        summary: 'The same for all parameters of a job, which need not fit into an address',
        description:
          'Takes these fields as a submission does, and records nothing. `estimated_cost_usd` is what a submission would reserve now. In `breakdown`, `tasks` counts the circuits of all points, and `shots` are those of the point that has most.',
        body: Type.Object(
          {
            backend: BackendName,
            params: JobParams,
            choose: Type.Optional(Choose),
            max_cost_usd: Type.Optional(
              Type.Number({ minimum: 0, maximum: 1_000_000, description: 'The cap of the submission' })
            ),
            qubits: Type.Optional(
              Type.Integer({ minimum: 1, maximum: QUBITS_MAX, description: 'The width of the circuit' })
            ),
            team_id: Type.Optional(Type.String({ format: 'uuid' }))
          },
          { additionalProperties: false }
        ),
        response: { 200: json('The estimate', Estimate) },
        errors: ['not_found', 'backend_unavailable']
      }
    },
    async (request) => {
      const { backend, params, choose, max_cost_usd, qubits = null, team_id: teamId } = request.body
      const wishes = readWishes(backend, choose, 'choose.')
      const maxCost = readUsd(max_cost_usd, 'max_cost_usd')
      assertPoints(params)
      assertParamsOfAny(params)
      return estimate(request, { backend, params, qubits, maxCost, wishes, teamId })
    }
  )

  async function estimate(
    request: FastifyRequest,
    { backend: slug, params, qubits, maxCost, wishes, teamId }: Planned
  ): Promise<Static<typeof Estimate>> {
    const team = await readTeam(request, db, teamId)
    const at = deps.now()
    const shots = shotsOfRuns(params)
    const circuitCount = params.circuit_count ?? 1
    const job = { shots, program: 'circuit', circuitCount, qubits, params, maxCost } as const
    const chosen = wishes && (await chosenFor(db, request, team?.id ?? null, job, wishes, at))
    const standing = await standingOf(db, request, team, at)
    const backend = chosen?.backend ?? standing.backends.find((one) => one.slug === slug)
    if (!backend) throw new ServiceError('not_found', `no backend is called ${JSON.stringify(slug)}`)
    const ofRun = circuitCount * circuitsOf(params, isAtProvider(backend))
    const circuits = ofRun * shots.length
    const cost = estimateRuns(backend.pricing, shots, ofRun)
    const run = { program: 'circuit', shots: params.shots, qubits, params, cost, maxCost } as const
    return {
      estimated_cost_usd: usdFromMicro(cost),
      circuits,
      breakdown: costBreakdown(backend.pricing, Math.max(...shots), circuits),
      budget: standingView(team?.id ?? null, standing.budget, at),
      refusals: refusalsOf(standing, backend, run),
      choice: chosen?.choice ?? null
    }
  }
}

/** @throws ServiceError `validation_error` for parameters that no job could have. */
function readParams(text: string | undefined): Partial<JobParams> {
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
