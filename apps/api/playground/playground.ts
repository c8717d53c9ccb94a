// The playground: /api/playground/*. It runs a program and returns its counts, without a job record and free of charge.
import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { findBackend } from '../../../db/backends/backends.js'
import { recordTelemetry } from '../../../db/service/playground.js'
import { teamForRuns } from '../../../db/teams/teams.js'
import { assertForPlayground, assertUsable } from '../../../domain/backends/backend.js'
import { browserSimulators } from '../../../domain/backends/browser-simulator.js'
import { type ErrorCode, errorCatalogue, ServiceError } from '../../../domain/errors.js'
import { frameworkNamed, frameworkNames } from '../../../domain/jobs/framework.js'
import { SHOTS_MAX } from '../../../domain/jobs/params/shots.js'
import { oneOf } from '../../../domain/json/one-of.js'
import type { ApiDeps } from '../deps.js'
import { callerOf, userOf } from '../http/access.js'
import { PROGRAM_BODY_MAX, TELEMETRY_BODY_MAX } from '../http/body/body-limits.js'
import { createInteractiveRuns } from '../http/executor-calls.js'
import { accepted, json, sendJson, sent, success } from '../http/response.js'
import { ConvertedCircuit, circuitJson, RunResult, runResultJson } from './playground-view.js'

const CODE_MAX = 100_000
/** Shorter than the wait for the executor, so that an endless program gets an error of its own. */
const WALL_SECONDS = 60
/** The body of a report has at most 512 KiB, so not every field can be at its limit. */
const COUNTS_MAX = 10_000
/** The longest outcome, one character per bit. */
const OUTCOME_BITS_MAX = 256

const Code = Type.String({ minLength: 1, maxLength: CODE_MAX, description: 'Length in code points' })
const Shots = Type.Integer({ minimum: 1, maximum: SHOTS_MAX })

const runErrors = [
  'execution_error',
  'unsupported_operation',
  'worker_unreachable',
  'worker_not_configured'
] as const satisfies ErrorCode[]

const RunBody = Type.Object(
  {
    code: Code,
    language: oneOf(['auto', ...frameworkNames], '`auto` goes by the imports and the OPENQASM header'),
    backend: Type.String({ minLength: 1, maxLength: 100, description: 'Slug of a free local simulator' }),
    shots: Shots
  },
  { additionalProperties: false }
)

const pythonFrameworks = frameworkNames.filter((framework) => framework !== 'openqasm')

const ConvertBody = Type.Object({ code: Code, language: oneOf(pythonFrameworks) }, { additionalProperties: false })

const TelemetryBody = Type.Object(
  {
    session_id: Type.String({ minLength: 1, maxLength: 200 }),
    team_id: Type.String({ format: 'uuid' }),
    simulator: oneOf(browserSimulators),
    simulator_version: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    qasm_input: Type.String({ maxLength: CODE_MAX }),
    shots: Shots,
    qubit_count: Type.Integer({ minimum: 1, maximum: 50 }),
    gate_count: Type.Integer({ minimum: 0, maximum: 10_000 }),
    execution_time_ms: Type.Number({ minimum: 0 }),
    counts: Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: SHOTS_MAX }), {
      maxProperties: COUNTS_MAX,
      propertyNames: { maxLength: OUTCOME_BITS_MAX }
    }),
    source_framework: Type.Optional(oneOf(['qiskit', 'cirq', 'pennylane', 'qasm'])),
    user_agent: Type.Optional(Type.String({ maxLength: 500 }))
  },
  { additionalProperties: false }
)

export const playgroundRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps
  const runs = createInteractiveRuns(deps.executor, deps.executorDeadlineMs)
  app.addHook('preClose', async () => runs.close())

  app.post(
    '/api/playground/run',
    {
      bodyLimit: PROGRAM_BODY_MAX,
      schema: {
        tags: ['playground'],
        summary: 'Run a program on a free simulator and wait for its counts',
        description:
          'Returns counts, backend, shots, execution_time_ms, cost_usd (always 0), language_detected, circuit_info, ' +
          'metadata, warnings and stdout. 422: no language was detected, or the program failed (the message says where). ' +
          '429: two runs of yours are in progress, or the executor is full. 502: it is away or has not responded within 90 s; ' +
          '503: none is configured. Disconnecting stops the run.',
        body: RunBody,
        response: { 200: json('The result', RunResult) },
        errors: ['backend_unknown', 'backend_retired', 'backend_unavailable', 'language_not_detected', ...runErrors]
      }
    },
    async (request, reply) => {
      const user = userOf(request)
      const { code, backend: slug, shots } = request.body
      const language = frameworkNamed(request.body.language)
      const [backend, team] = await Promise.all([findBackend(db, slug), teamForRuns(db, callerOf(request))])
      assertForPlayground(backend, slug)
      runs.assertConfigured()
      assertUsable(backend, slug, { shots, program: 'circuit' }, 'shots')
      const end = await runs.run(request, user.id, (executor, signal) =>
        executor.runInteractive(
          {
            run_id: `playground.${randomUUID()}`,
            request_id: request.id,
            source: { kind: 'code', framework: language, code },
            backend: slug,
            engine: backend.engine,
            max_qubits: backend.maxQubits,
            params: { shots },
            limits: { wall_seconds: WALL_SECONDS },
            keys: { user: user.id, team: team ?? user.id }
          },
          signal
        )
      )
      if (!end) return sent(reply.hijack())
      if (end.kind === 'refused') throw userFault('execution_error', end.message)
      if (end.kind === 'failed') throw userFault(end.error.code, end.error.message)
      return sendJson(reply, runResultJson(end.result, { backend: slug, language: end.framework ?? language }))
    }
  )

  app.post(
    '/api/playground/convert',
    {
      bodyLimit: PROGRAM_BODY_MAX,
      schema: {
        tags: ['playground'],
        summary: 'The circuit that a program builds, as OpenQASM 3',
        description: 'Returns qasm, circuit_info and warnings. 422, 429, 502 and 503 as for a run.',
        body: ConvertBody,
        response: { 200: json('The circuit', ConvertedCircuit) },
        errors: runErrors
      }
    },
    async (request, reply) => {
      const user = userOf(request)
      const { code } = request.body
      const language = frameworkNamed(request.body.language)
      const team = await teamForRuns(db, callerOf(request))
      const end = await runs.run(request, user.id, (executor, signal) =>
        executor.convert(
          {
            run_id: 'convert',
            request_id: request.id,
            source: { kind: 'code', framework: language, code },
            keys: { user: user.id, team: team ?? user.id }
          },
          signal
        )
      )
      if (!end) return sent(reply.hijack())
      if (end.kind === 'failed') throw userFault(end.error.code, end.error.message)
      return sendJson(reply, circuitJson(end.answer))
    }
  )

  app.post(
    '/api/playground/telemetry',
    {
      bodyLimit: TELEMETRY_BODY_MAX,
      schema: {
        tags: ['playground'],
        summary: 'Record a simulation that ran in the browser',
        body: TelemetryBody,
        response: { 201: accepted('The simulation is recorded') },
        errors: ['storage_limit_exceeded']
      }
    },
    async (request, reply) => {
      const { body } = request
      const report = {
        teamId: body.team_id,
        sessionId: body.session_id,
        simulator: body.simulator,
        simulatorVersion: body.simulator_version ?? null,
        sourceFramework: body.source_framework ?? null,
        qasmInput: body.qasm_input,
        shots: body.shots,
        qubitCount: body.qubit_count,
        gateCount: body.gate_count,
        executionTimeMs: body.execution_time_ms,
        counts: body.counts,
        userAgent: body.user_agent ?? null
      }
      await recordTelemetry(db, callerOf(request), report, TELEMETRY_BODY_MAX)
      reply.code(201)
      return success
    }
  )
}

/** A fault of the caller's program is 422, whatever code the executor gives. */
const userFault = (code: ErrorCode, message: string): ServiceError =>
  new ServiceError(errorCatalogue[code].http === 422 ? code : 'execution_error', message)
