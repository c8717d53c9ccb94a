// The service about itself: /healthz (this process), /readyz (its parts), /api/meta.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import pTimeout from 'p-timeout'
import { frameworks } from '../../../domain/jobs/framework.js'
import type { ApiDeps } from '../deps.js'
import { API_VERSION, SERVICE_NAME, SERVICE_VERSION } from '../version.js'

const PROBE_MS = 2_000

export const serviceRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; isClosing: () => boolean }> = async (
  app,
  { deps, isClosing }
) => {
  app.get('/healthz', { schema: { tags: ['service'], summary: 'The process answers' } }, async () => ({ status: 'ok' }))

  app.get(
    '/readyz',
    { schema: { tags: ['service'], summary: 'The parts with state and latency; 503 only without the database' } },
    async (_request, reply) => {
      const names = Object.keys(deps.probes) as (keyof ApiDeps['probes'])[]
      const states = await Promise.all(names.map((name) => probe(deps.probes[name], name === 'database')))
      const parts = Object.fromEntries(names.map((name, at) => [name, states[at]!]))
      const ready = parts.database?.state === 'ok' && !isClosing()
      const status = !ready ? 'down' : states.every((part) => part.state === 'ok') ? 'ok' : 'degraded'
      return reply
        .code(ready ? 200 : 503)
        .header('cache-control', 'no-store')
        .send({ status, parts })
    }
  )

  app.get('/api/meta', { schema: { tags: ['service'], summary: 'Name, version, features' } }, async () => ({
    name: SERVICE_NAME,
    api_version: API_VERSION,
    version: SERVICE_VERSION,
    features: {
      execution_modes: ['direct', 'temporal'],
      frameworks,
      sign_in: deps.oidc ? ['password', 'oidc'] : ['password']
    }
  }))
}

async function probe(ask: () => Promise<unknown>, essential: boolean) {
  const started = performance.now()
  const answers = await pTimeout(
    ask().then(
      () => true,
      () => false
    ),
    { milliseconds: PROBE_MS, fallback: () => false }
  )
  const state = answers ? 'ok' : essential ? 'down' : 'degraded'
  return { state, latency_ms: Math.round((performance.now() - started) * 10) / 10 }
}
