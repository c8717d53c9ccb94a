// Reports on the service itself: /healthz (this process), /readyz (its parts), /api/meta.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import pTimeout from 'p-timeout'
import { type Static, Type } from 'typebox'
import { browserSimulator } from '../../../domain/backends/browser-simulator.js'
import { frameworkNames } from '../../../domain/jobs/framework.js'
import { executionModes } from '../../../domain/jobs/job-status.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { TargetRefusal } from '../../../services/dispatch/target-probe.js'
import type { ApiDeps } from '../deps.js'
import { count, json, text } from '../http/response.js'
import { API_VERSION, SERVICE_NAME, SERVICE_VERSION } from '../version.js'

const serviceStates = ['ok', 'degraded', 'down'] as const
type ServiceState = (typeof serviceStates)[number]
const partNames = ['database', 'redis', 'temporal', 'executor'] as const satisfies (keyof ApiDeps['probes'])[]

const Part = Type.Object({
  state: oneOf(serviceStates),
  latency_ms: Type.Number({ minimum: 0 }),
  message: Type.Optional(
    Type.String({ description: 'What the part refuses, in its own words, or that its disk is full' })
  )
})

const Readiness = Type.Object(
  {
    status: oneOf(serviceStates),
    parts: Type.Object({ database: Part, redis: Part, temporal: Part, executor: Part })
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

const PROBE_MS = 2_000
/** /readyz needs no credential: the parts are probed at most this often, and requests in between share the result. */
const PROBE_EVERY_MS = 1_000

export const serviceRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps; isClosing: () => boolean }> = async (
  app,
  { deps, isClosing }
) => {
  const probeShared = shared(PROBE_EVERY_MS, () => probeParts(deps))

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
        description: 'The parts are probed at most once a second.',
        response: {
          200: json('Requests can be served', Readiness),
          503: json('Requests cannot be served: the database is away, or the process is shutting down', Readiness)
        }
      }
    },
    async (_request, reply) => {
      const parts = await probeShared()
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

/** Calls `read` at most once in `everyMs`, and never twice at a time. `read` must not reject. */
function shared<T>(everyMs: number, read: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | null = null
  let nextAt = 0
  let reading = false
  return () => {
    if (latest && (reading || performance.now() < nextAt)) return latest
    nextAt = performance.now() + everyMs
    reading = true
    latest = read().finally(() => {
      reading = false
    })
    return latest
  }
}

/** In the order of `partNames`. */
async function probeParts({
  probes,
  disk
}: Pick<ApiDeps, 'probes' | 'disk'>): Promise<Static<typeof Readiness>['parts']> {
  const parts = await Promise.all(
    partNames.map(async (name) => [name, await probe(probes[name], name === 'database')] as const)
  )
  const byName = Object.fromEntries(parts) as Static<typeof Readiness>['parts']
  return { ...byName, database: withDisk(byName.database, disk.problem()) }
}

/** On a full disk the database still answers reads, or has stopped; in both cases the disk is what to look at. */
const withDisk = (database: Static<typeof Part>, problem: string | null): Static<typeof Part> =>
  problem === null
    ? database
    : { ...database, state: database.state === 'ok' ? 'degraded' : database.state, message: problem }

async function probe(read: () => Promise<unknown>, essential: boolean): Promise<Static<typeof Part>> {
  const started = performance.now()
  const failure: unknown = await pTimeout(
    read().then(
      () => null,
      (error: unknown) => error ?? true
    ),
    { milliseconds: PROBE_MS, fallback: () => true }
  )
  const state: ServiceState = failure === null ? 'ok' : essential ? 'down' : 'degraded'
  return {
    state,
    latency_ms: Math.round((performance.now() - started) * 10) / 10,
    // Other errors can name addresses, and this route is public.
    ...(failure instanceof TargetRefusal && { message: failure.message })
  }
}
