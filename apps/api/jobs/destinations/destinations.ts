// GET /api/jobs/destinations: where a circuit could run, at what price, and why a submission would be refused there now.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { Membership } from '../../../../db/teams/memberships.js'
import { type Backend, backendStatuses, deviceTypes } from '../../../../domain/backends/backend.js'
import { SHOTS_MAX } from '../../../../domain/jobs/params/shots.js'
import { oneOf } from '../../../../domain/json/one-of.js'
import { estimateCost } from '../../../../domain/money/cost.js'
import { usdFromMicro } from '../../../../domain/money/money.js'
import { roles } from '../../../../domain/teams/role.js'
import type { ApiDeps } from '../../deps.js'
import { readTeam } from '../../http/access.js'
import { count, json, nullable, text, usd, uuid } from '../../http/response.js'
import { Budget, standingView } from '../../teams/budget-view.js'
import { CostBreakdown, costBreakdown } from '../cost-breakdown.js'
import { type Refusal, refusalChecks, refusalsOf, type Standing, standingOf } from './refusals.js'

export const DestinationTeam = nullable(
  Type.Object({ id: uuid, name: text, role: oneOf(roles), suspended: Type.Boolean() }),
  'null for a caller who has no team yet'
)

export const destinationTeam = (team: Membership | null): Static<typeof DestinationTeam> =>
  team && { id: team.id, name: team.name, role: team.role, suspended: team.suspended }

export const SubmissionRefusal = Type.Object(
  { check: oneOf(refusalChecks), message: text },
  { $id: 'SubmissionRefusal' }
)

const Destination = Type.Object(
  {
    backend: text,
    name: text,
    provider: text,
    device_type: oneOf(deviceTypes),
    emulated: Type.Boolean({ description: 'Whether an emulator runs it in the place of its provider' }),
    status: oneOf(backendStatuses),
    queue_length: nullable(count, 'Jobs in the queue of its provider, as it last reported'),
    queue_seconds: nullable(count, 'The same, as time; 0 for a simulator of this service, null for unknown'),
    max_qubits: nullable(count),
    max_shots: nullable(count),
    estimated_cost_usd: usd,
    breakdown: CostBreakdown,
    available: Type.Boolean({ description: 'Whether a submission would be accepted now' }),
    refusals: Type.Array(SubmissionRefusal, {
      description: 'Why it would be refused now, in the order of the checks, with every limit that it would exceed'
    })
  },
  { $id: 'Destination' }
)

const CIRCUITS_MAX = 1_000
const SHOTS_DEFAULT = 1_000
const QUBITS_MAX = 10_000

export const destinationRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/jobs/destinations',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Every backend with price and queue, and why a submission there would be refused now',
        description:
          'For a circuit, and the team named, else the first that you joined. Nothing is reserved: the answer is of this moment. `qubits` is the width of the circuit, if it is known. The limit of submissions a minute and the storage of the team are not checked.',
        querystring: Type.Object(
          {
            shots: Type.Integer({ minimum: 1, maximum: SHOTS_MAX, default: SHOTS_DEFAULT }),
            circuit_count: Type.Integer({ minimum: 1, maximum: CIRCUITS_MAX, default: 1 }),
            qubits: Type.Optional(Type.Integer({ minimum: 1, maximum: QUBITS_MAX })),
            team_id: Type.Optional(Type.String({ format: 'uuid' }))
          },
          { additionalProperties: false }
        ),
        response: {
          200: json(
            'Every backend, in the order of the catalogue',
            Type.Object({ team: DestinationTeam, budget: Budget, destinations: Type.Array(Destination) })
          )
        }
      }
    },
    async (request) => {
      const { shots, circuit_count: circuits, qubits = null, team_id } = request.query
      const team = await readTeam(request, db, team_id)
      const at = deps.now()
      const standing = await standingOf(db, request, team, at)
      return {
        team: destinationTeam(team),
        budget: standingView(team?.id ?? null, standing.budget, at),
        destinations: standing.backends.map((backend) => {
          const refusals = circuitRefusals(standing, backend, { shots, circuits, qubits })
          return destinationView(backend, { shots, circuits }, refusals)
        })
      }
    }
  )
}

/** Why a circuit of a submission without further parameters would be refused. */
export const circuitRefusals = (
  standing: Standing,
  backend: Backend,
  { shots, circuits, qubits }: { shots: number; circuits: number; qubits: number | null }
): Refusal[] =>
  refusalsOf(standing, backend, {
    program: 'circuit',
    shots,
    qubits,
    params: {},
    cost: estimateCost(backend.pricing, shots, circuits),
    maxCost: null
  })

const destinationView = (
  backend: Backend,
  { shots, circuits }: { shots: number; circuits: number },
  refusals: Refusal[]
): Static<typeof Destination> => ({
  backend: backend.slug,
  name: backend.name,
  provider: backend.provider,
  device_type: backend.deviceType,
  emulated: backend.emulated,
  status: backend.status,
  queue_length: backend.queueLength,
  // A simulator of this service has no queue of its own: its jobs take turns with all others.
  queue_seconds: backend.engine !== null ? 0 : backend.queueTimeSeconds,
  max_qubits: backend.maxQubits,
  max_shots: backend.maxShots,
  estimated_cost_usd: usdFromMicro(estimateCost(backend.pricing, shots, circuits)),
  breakdown: costBreakdown(backend.pricing, shots, circuits),
  available: refusals.length === 0,
  refusals
})
