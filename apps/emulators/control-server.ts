// The control interface of the emulated providers, for tests and people: `<control_url>/tasks`, `/requests`, `/clock`,
// `/faults`, `/timing`, `/noise`, `/devices`, `/reset`. Loopback only, without credentials.
import fastify, { type FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Emulator, EmulatorDescription } from './emulator.js'
import { type FaultOrder, faultOrder } from './faults.js'
import { takeEmptyBodies } from './provider-server.js'

const yearMs = 366 * 24 * 3600 * 1000
const strict = { additionalProperties: false }

const bodies = {
  clock: Type.Object({ advance_ms: Type.Integer({ minimum: 0, maximum: yearMs }) }, strict),
  timing: Type.Object(
    {
      queue_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: yearMs })),
      run_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: yearMs })),
      result_lag_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: yearMs }))
    },
    strict
  ),
  noise: Type.Object({ level: Type.Number({ minimum: 0, maximum: 1 }) }, strict),
  device: Type.Object({ device: Type.String(), status: Type.String() }, strict)
}

/** Builds the control server; each emulator's routes are below its provider's name. */
export function buildControlServer(
  emulators: readonly Emulator[],
  describe: () => readonly EmulatorDescription[]
): FastifyInstance {
  const app = fastify({
    forceCloseConnections: true,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } }
  })
  takeEmptyBodies(app)
  app.setErrorHandler((error: Error & { statusCode?: number; validation?: unknown }, _request, reply) => {
    void reply.code(error.statusCode ?? 500).send({ error: error.message })
  })
  app.setNotFoundHandler((request, reply) => {
    const names = emulators.map(({ name }) => name).join(', ')
    const routes = 'GET tasks, requests, faults; POST clock, faults, timing, noise, devices, reset'
    void reply.code(404).send({
      error: `${request.method} ${request.url} does not exist. Providers: ${names}. Routes of each: ${routes}.`
    })
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/providers', async () => ({ providers: describe() }))
  for (const emulator of emulators) {
    void app.register(async (scope) => emulatorRoutes(scope, emulator), { prefix: `/${emulator.name}` })
  }
  return app
}

function emulatorRoutes(app: FastifyInstance, { control, provider }: Emulator): void {
  app.get('/tasks', async () => ({ tasks: control.tasks() }))
  app.get('/requests', async () => ({ requests: control.requests() }))
  app.get('/faults', async () => ({ faults: control.faults() }))

  app.post<{ Body: Static<typeof bodies.clock> }>('/clock', { schema: { body: bodies.clock } }, async ({ body }) => ({
    now: control.advance(body.advance_ms)
  }))

  app.post<{ Body: FaultOrder }>('/faults', { schema: { body: faultOrder } }, async ({ body }) => control.fault(body))
  provider.controlRoutes?.(app)

  app.post<{ Body: Static<typeof bodies.timing> }>('/timing', { schema: { body: bodies.timing } }, async ({ body }) => {
    control.timing({
      ...(body.queue_ms !== undefined && { queueMs: body.queue_ms }),
      ...(body.run_ms !== undefined && { runMs: body.run_ms }),
      ...(body.result_lag_ms !== undefined && { resultLagMs: body.result_lag_ms })
    })
    return { ok: true }
  })

  app.post<{ Body: Static<typeof bodies.noise> }>('/noise', { schema: { body: bodies.noise } }, async ({ body }) => {
    control.noise(body.level)
    return { ok: true }
  })

  app.post<{ Body: Static<typeof bodies.device> }>(
    '/devices',
    { schema: { body: bodies.device } },
    async (request, reply) => {
      try {
        control.device(request.body.device, request.body.status)
        return { ok: true }
      } catch (error) {
        return reply.code(400).send({ error: (error as Error).message })
      }
    }
  )

  app.post('/reset', async () => {
    control.reset()
    return { ok: true }
  })
}
