// Reports on the service itself: /healthz (this process), /readyz (its parts), /api/meta.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { browserSimulator } from '../../../domain/backends/browser-simulator.js'
import { frameworkNames } from '../../../domain/jobs/framework.js'
import { executionModes } from '../../../domain/jobs/job-status.js'
import { oneOf } from '../../../domain/json/one-of.js'
import type { ApiDeps } from '../deps.js'
import { count, json, text } from '../http/response.js'
import { API_VERSION, SERVICE_NAME, SERVICE_VERSION } from '../version.js'
import { createPartProbes, Parts, type ServiceState, serviceStates } from './part-probes.js'

const Readiness = Type.Object(
  {
    status: oneOf(serviceStates),
    parts: Parts
  },
  { $id: 'Readiness' }
)

const signInMethods = ['password', 'oidc'] as const

const Meta = Type.Object({
  name: text,
  api_version: text,
  version: text,
  features: Type.Object({
    execution_modes: Type.Array(oneOf(executionModes)),
    sign_in: Type.Array(oneOf(signInMethods)),
    frameworks: Type.Array(oneOf(frameworkNames)),
    access_codes: Type.Boolean({ description: 'Whether a new account needs an access code' }),
    mail: Type.Boolean({ description: 'Whether this service sends mail' }),
    browser_simulator: Type.Object(
      { warn_from_qubits: count, qubits_max: count },
      { description: 'Up to how many qubits a page simulates in the browser' }
    )
  })
})

export const serviceRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; isClosing: () => boolean }> = async (
  app,
  { deps, isClosing }
) => {
  const readParts = createPartProbes(deps)

  app.get(
    '/healthz',
    {
      schema: {
        tags: ['service'],
        summary: 'The process responds',
        response: { 200: json('The process responds', Type.Object({ status: Type.Literal('ok') })) }
      }
    },
    async () => ({ status: 'ok' as const })
  )

  app.get(
    '/readyz',
    {
      schema: {
        tags: ['service'],
        summary: 'The parts with state and latency; 503 only without the database',
        description:
          'It answers within half a second, whatever hangs. Each part is probed at most once a second; one that has not answered yet is as it was, at most two seconds ago.',
        response: {
          200: json('Requests can be served', Readiness),
          503: json('Requests cannot be served: the database is away, or the process is shutting down', Readiness)
        }
      }
    },
    async (_request, reply) => {
      const parts = await readParts()
      const states = Object.values(parts)
      const ready = parts.database.state !== 'down' && !isClosing()
      const status: ServiceState = !ready ? 'down' : states.every((part) => part.state === 'ok') ? 'ok' : 'degraded'
      reply.code(ready ? 200 : 503).header('cache-control', 'no-store')
      return { status, parts }
    }
  )

  app.get(
    '/api/meta',
    {
      schema: {
        tags: ['service'],
        summary: 'Name, version, features',
        response: { 200: json('What this service is', Meta) }
      }
    },
    async () => ({
      name: SERVICE_NAME,
      api_version: API_VERSION,
      version: SERVICE_VERSION,
      features: {
        execution_modes: [...executionModes],
        frameworks: [...frameworkNames],
        sign_in: signInMethods.filter((method) => method === 'password' || deps.oidc),
        access_codes: deps.config.codesNeeded,
        mail: deps.mailer.sends,
        browser_simulator: { ...browserSimulator }
      }
    })
  )
}
