// Analyses a script before it runs: where it could run, and what would prevent it or cause problems there.

import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { findBackend } from '../../../db/backends/backends.js'
import { storeAnalysis } from '../../../db/scripts/script-analyses.js'
import { adviceFor, isAtProvider } from '../../../domain/backends/backend.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { SHOTS_MAX } from '../../../domain/jobs/params/shots.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { estimateCost } from '../../../domain/money/cost.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import { SCRIPT_BYTES_MAX } from '../../../domain/scripts/script.js'
import { type AnalysisCheck, checkLevels, textHint } from '../../../domain/scripts/script-analysis.js'
import type { ApiDeps } from '../deps.js'
import { actorOf, readTeam, teamForWrite } from '../http/access.js'
import { PROGRAM_BODY_MAX } from '../http/body/body-limits.js'
import { json, nullable, sent, sha256, text, usd, uuid } from '../http/response.js'
import { assertNotSuspended } from '../http/team-access.js'
import { CostBreakdown, costBreakdown } from '../jobs/cost-breakdown.js'
import { circuitRefusals, DestinationTeam, destinationTeam } from '../jobs/destinations/destinations.js'
import { type Refusal, standingOf } from '../jobs/destinations/refusals.js'
import { requestedScript } from './script-access.js'
import { readErrors, type ScriptReader } from './script-reader.js'

const ExecutionOptions = Type.Object({
  script_id: uuid,
  source_sha256: sha256,
  team: DestinationTeam,
  destinations: Type.Array(
    Type.Object({
      backend: text,
      name: text,
      available: Type.Boolean(),
      reason: nullable(text),
      estimated_cost_usd: usd,
      requires_analysis: Type.Boolean()
    })
  )
})

const ScriptCheck = Type.Object(
  { id: text, level: oneOf(checkLevels), message: text, line: Type.Optional(Type.Integer({ minimum: 1 })) },
  { $id: 'ScriptCheck' }
)

const Analysis = Type.Object({
  analysis_id: uuid,
  content_hash: Type.String({ description: 'A hint by which clients know the text: djb2, signed, in decimal' }),
  can_run: Type.Boolean({ description: 'No check has the level error' }),
  checks: Type.Array(ScriptCheck),
  cost: Type.Object({ total_usd: usd, breakdown: CostBreakdown })
})

const SHOTS_DEFAULT = 1_000
const CIRCUITS_MAX = 1_000

const ScriptId = Type.Object({ id: Type.String({ format: 'uuid' }) })
const Shots = { minimum: 1, maximum: SHOTS_MAX }
const Circuits = Type.Optional(
  Type.Integer({ minimum: 1, maximum: CIRCUITS_MAX, description: 'Number of circuits to estimate; default 1' })
)
const TeamId = Type.Optional(Type.String({ format: 'uuid' }))

export const scriptAnalysisRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; reader: ScriptReader }> = async (
  app,
  { deps, reader }
) => {
  const { db } = deps

  app.get(
    '/api/scripts/:id/execution-options',
    {
      schema: {
        tags: ['scripts'],
        summary: 'Where a script could run, and what it would cost there',
        description:
          'For the team named, else the first that you joined (`null` without any). reason says why a job would be refused. No backend needs an analysis.',
        params: ScriptId,
        querystring: Type.Object({
          shots: Type.Integer({ ...Shots, default: SHOTS_DEFAULT }),
          circuit_count: Circuits,
          team_id: TeamId
        }),
        response: { 200: json('Every backend', ExecutionOptions) }
      }
    },
    async (request) => {
      const { shots, circuit_count: circuits = 1, team_id } = request.query
      const script = await requestedScript(db, request)
      const team = await readTeam(request, db, team_id)
      const standing = await standingOf(db, request, team, deps.now())
      const planned = { shots, circuits, qubits: script.metadata.qubits ?? null }
      return {
        script_id: script.id,
        source_sha256: script.sourceSha256,
        team: destinationTeam(team),
        destinations: standing.backends.map((backend) => {
          const refusals = circuitRefusals(standing, backend, planned)
          // What holds for every backend comes first.
          const first = refusals.find(({ check }) => check === 'team') ?? refusals[0]
          return {
            backend: backend.slug,
            name: backend.name,
            available: refusals.length === 0,
            reason: first?.message ?? null,
            estimated_cost_usd: usdFromMicro(estimateCost(backend.pricing, shots, circuits)),
            requires_analysis: false
          }
        })
      }
    }
  )

  app.post(
    '/api/scripts/:id/analyse',
    {
      bodyLimit: PROGRAM_BODY_MAX,
      schema: {
        tags: ['scripts'],
        summary: 'Check a script for a backend, and what it would cost there',
        description:
          'For the team named, else your personal team, as a submission. content must be the source that is saved (409 analysis_mismatch), content_hash its SHA-256. A submission with the analysis_id names in warn_check_ids each check of level warning. An analysis is kept for a week.',
        params: ScriptId,
        body: Type.Object(
          {
            content: Type.String({ minLength: 1, maxLength: SCRIPT_BYTES_MAX }),
            content_hash: Type.String({ maxLength: 64, pattern: '^[0-9a-fA-F]{64}$' }),
            backend: Type.String({ minLength: 1, maxLength: 100, description: 'Slug' }),
            shots: Type.Integer(Shots),
            circuit_count: Circuits,
            team_id: TeamId
          },
          { additionalProperties: false }
        ),
        response: { 200: json('What is known of the run', Analysis) },
        errors: ['analysis_mismatch', 'backend_unknown', 'rate_limited', ...readErrors]
      }
    },
    async (request, reply) => {
      const { content, content_hash, backend: slug, shots, circuit_count: circuitCount = 1, team_id } = request.body
      const script = await requestedScript(db, request)
      const { key } = actorOf(request)
      if (team_id !== undefined || key) await assertNotSuspended(request, db, team_id)
      assertSaved(content, content_hash, script.sourceSha256)
      const backend = await findBackend(db, slug)
      if (!backend)
        throw new ServiceError(
          'backend_unknown',
          `backend: no backend is called ${JSON.stringify(slug)}; ${adviceFor(slug)}`
        )
      const read = await reader.read(request, { content, requirements: script.requirements, teamId: team_id ?? null })
      if (!read) return sent(reply.hijack())
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await teamForWrite(request, tx, team_id ?? null)
        const cost = estimateCost(backend.pricing, shots, circuitCount)
        // The team is locked, and not suspended.
        const team = { id: teamId, suspended: false, suspended_reason: null }
        const standing = await standingOf(tx, request, team, deps.now())
        const planned = { shots, circuits: circuitCount, qubits: read.metadata.qubits ?? null }
        const checks: AnalysisCheck[] = [
          ...errorChecks(circuitRefusals(standing, backend, planned)),
          ...read.warnings,
          entryPoint(read.metadata.entry_point),
          ...(isAtProvider(backend)
            ? [info('provider', `circuits are sent to ${backend.provider}, and wait in its queue`)]
            : [])
        ]
        const canRun = checks.every(({ level }) => level !== 'error')
        const analysis = {
          scriptId: script.id,
          teamId,
          sourceSha256: script.sourceSha256,
          backend: slug,
          shots,
          circuitCount,
          canRun,
          checks,
          cost
        }
        return {
          body: {
            analysis_id: await storeAnalysis(tx, analysis),
            content_hash: textHint(content),
            can_run: canRun,
            checks,
            cost: {
              total_usd: usdFromMicro(cost),
              breakdown: costBreakdown(backend.pricing, shots, circuitCount)
            }
          }
        }
      })
    }
  )
}

/** @throws ServiceError `validation_error` when the digest is not the content's, `analysis_mismatch` for another content. */
function assertSaved(content: string, given: string, saved: string): void {
  const digest = createHash('sha256').update(content).digest('hex')
  if (digest !== given.toLowerCase())
    throw validationError(`content_hash: must be the SHA-256 of content (which is ${digest})`)
  if (digest !== saved)
    throw new ServiceError(
      'analysis_mismatch',
      `content: differs from the saved source (SHA-256 ${saved}); read the script again, or save the change first`
    )
}

/** The first refusal of each check, which has one id. */
const errorChecks = (refusals: readonly Refusal[]): AnalysisCheck[] =>
  refusals
    .filter(({ check }, at) => refusals.findIndex((other) => other.check === check) === at)
    .map(({ check, message }) => ({ id: check, level: 'error', message }))

const info = (id: string, message: string): AnalysisCheck => ({ id, level: 'info', message })

function entryPoint(name: string | null): AnalysisCheck {
  if (name === 'circuit') return info('entry_point', 'it is run for its circuit')
  return info('entry_point', name === null ? 'the source names no entry point' : `it is run by calling ${name}()`)
}
