// /api/jobs/destinations: where a job could run, at what price, and why a submission would be refused there now. GET is for a
// circuit of so many shots, POST for all parameters of a submission.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Membership } from '../../../../db/teams/memberships.js'
import {
  assertParamsOfAny,
  type Backend,
  backendStatuses,
  deviceTypes,
  isAtProvider
} from '../../../../domain/backends/backend.js'
import { assertAnalogParams } from '../../../../domain/jobs/circuits/analog-program.js'
import { assertStateVectorFits } from '../../../../domain/jobs/declared-width.js'
import { circuitsOf } from '../../../../domain/jobs/params/circuits.js'
import { assertPoints, JobParams, shotsOfRuns } from '../../../../domain/jobs/params/params.js'
import { SHOTS_MAX } from '../../../../domain/jobs/params/shots.js'
import { programKinds } from '../../../../domain/jobs/source.js'
import { maxCostField, readUsd } from '../../../../domain/jobs/submission.js'
import { oneOf } from '../../../../domain/json/one-of.js'
import { estimateCost, estimateRuns } from '../../../../domain/money/cost.js'
import { type MicroUsd, usdFromMicro } from '../../../../domain/money/money.js'
import { roles } from '../../../../domain/teams/role.js'
import type { ApiDeps } from '../../deps.js'
import { readTeam } from '../../http/access.js'
import { SUBMISSION_BODY_MAX } from '../../http/body/body-limits.js'
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

const Destinations = Type.Object(
  { team: DestinationTeam, budget: Budget, destinations: Type.Array(Destination) },
  { $id: 'JobDestinations' }
)

const CIRCUITS_MAX = 1_000
const SHOTS_DEFAULT = 1_000
const QUBITS_MAX = 10_000

const aboutJob = {
  qubits: Type.Optional(Type.Integer({ minimum: 1, maximum: QUBITS_MAX })),
  team_id: Type.Optional(Type.String({ format: 'uuid' }))
}

/** What a job of one backend would take. */
interface Price {
  /** Of the run that has most. */
  shots: number
  /** Of all runs together. */
  circuits: number
  cost: MicroUsd
}

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
            ...aboutJob
          },
          { additionalProperties: false }
        ),
        response: { 200: json('Every backend, in the order of the catalogue', Destinations) }
      }
    },
    (request) => {
      const { shots, circuit_count: circuits, qubits = null, team_id } = request.query
      return destinations(request, team_id, (standing, backend) => ({
        price: { shots, circuits, cost: estimateCost(backend.pricing, shots, circuits) },
        refusals: circuitRefusals(standing, backend, { shots, circuits, qubits })
      }))
    }
  )

  app.post(
    '/api/jobs/destinations',
    {
      bodyLimit: SUBMISSION_BODY_MAX,
      schema: {
        tags: ['jobs'],
        summary: 'The same for all parameters of a job: points, observables and mitigation have their price',
        description:
          'Takes `params` as a submission does, and records nothing. `program` is `analog` for an analog program, whose sites count as `qubits`; `max_cost_usd` is the cap of the submission itself. `estimated_cost_usd` is what a submission would reserve now. In `breakdown`, `tasks` counts the circuits of all points, and `shots` are those of the point that has most.',
        body: Type.Object(
          {
            params: JobParams,
            program: Type.Optional(oneOf(programKinds, 'What would be submitted; a circuit when left out')),
            max_cost_usd: maxCostField,
            ...aboutJob
          },
          { additionalProperties: false }
        ),
        response: { 200: json('Every backend, in the order of the catalogue', Destinations) }
      }
    },
    (request) => {
      const { params, program = 'circuit', qubits = null, team_id } = request.body
      const maxCost = readUsd(request.body.max_cost_usd, 'max_cost_usd')
      assertPoints(params)
      assertParamsOfAny(params)
      if (program === 'analog') assertAnalogParams(params)
      if (qubits !== null) assertStateVectorFits(qubits, params)
      const shots = shotsOfRuns(params)
      // Groups of observables take time to find, and are the same for every provider.
      const circuits = {
        here: (params.circuit_count ?? 1) * circuitsOf(params, false),
        atProvider: (params.circuit_count ?? 1) * circuitsOf(params, true)
      }
      return destinations(request, team_id, (standing, backend) => {
        const ofRun = isAtProvider(backend) ? circuits.atProvider : circuits.here
        const cost = estimateRuns(backend.pricing, shots, ofRun)
        const run = { program, shots: params.shots, qubits, params, cost, maxCost }
        return {
          price: { shots: Math.max(...shots), circuits: ofRun * shots.length, cost },
          refusals: refusalsOf(standing, backend, run)
        }
      })
    }
  )

  async function destinations(
    request: FastifyRequest,
    teamId: string | undefined,
    planned: (standing: Standing, backend: Backend) => { price: Price; refusals: Refusal[] }
  ): Promise<Static<typeof Destinations>> {
    const team = await readTeam(request, db, teamId)
    const at = deps.now()
    const standing = await standingOf(db, request, team, at)
    return {
      team: destinationTeam(team),
      budget: standingView(team?.id ?? null, standing.budget, at),
      destinations: standing.backends.map((backend) => {
        const { price, refusals } = planned(standing, backend)
        return destinationView(backend, price, refusals)
      })
    }
  }
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
  { shots, circuits, cost }: Price,
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
  estimated_cost_usd: usdFromMicro(cost),
  breakdown: costBreakdown(backend.pricing, shots, circuits),
  available: refusals.length === 0,
  refusals
})
