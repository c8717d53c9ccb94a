// The public routes of IonQ's API about its machines.
import type { FastifyInstance } from 'fastify'
import { isoTime } from '../clock.js'
import { type Device, type DeviceStatus, qisGates } from './devices.js'
import { refuse } from './job-schema.js'
import type { Characterization } from './jobs.js'
import type { IonqParts } from './parts.js'
import { fail, invalid } from './replies.js'

export function backendRoutes(app: FastifyInstance, parts: IonqParts): void {
  app.get('/backends', async () => [...parts.devices().values()].map((device) => deviceView(device, parts)))
  app.get<{ Params: { backend: string } }>('/backends/:backend', async (request, reply) => {
    const device = parts.devices().get(request.params.backend)
    return device ? deviceView(device, parts) : fail(reply, 404, 'Resource not found.')
  })
  characterizationRoutes(app, parts)
}

/** The most characterizations in a page, whatever the request. */
const characterizationsPageMax = 10

function characterizationRoutes(app: FastifyInstance, { store, devices }: IonqParts): void {
  const deviceOf = (name: string): Device | null => {
    const device = devices().get(name)
    return device && !device.exact ? device : null
  }
  app.get<{ Params: { backend: string }; Querystring: { limit?: string } }>(
    '/backends/:backend/characterizations',
    async ({ params, query }, reply) => {
      const device = deviceOf(params.backend)
      if (!device) return fail(reply, 404, 'Resource not found.')
      const limit = Math.min(Number(query.limit ?? characterizationsPageMax), characterizationsPageMax)
      if (!Number.isSafeInteger(limit) || limit < 1)
        return invalid(reply, refuse('limit', 'it must be a whole number from 1').refusal, 'query')
      const all = store.characterizations()
      return {
        characterizations: all.slice(0, limit).map((found) => characterizationView(found, device)),
        pages: Math.ceil(all.length / limit)
      }
    }
  )
  app.get<{ Params: { backend: string; id: string } }>(
    '/backends/:backend/characterizations/:id',
    async ({ params }, reply) => {
      const device = deviceOf(params.backend)
      const found = store.characterizations().find(({ id }) => id === params.id)
      return device && found ? characterizationView(found, device) : fail(reply, 404, 'Resource not found.')
    }
  )
}

const lastUpdated = '2026-09-02T00:00:00Z'

const characterizationView = ({ id, at, noise }: Characterization, device: Device): Record<string, unknown> => ({
  id,
  date: isoTime(at),
  backend: device.name,
  qubits: device.qubits,
  fidelity: { spam: { median: 1 - noise, stderr: null } },
  timing: {}
})

function deviceView(device: Device, { queueMs, store }: IonqParts): Record<string, unknown> {
  return {
    backend: device.name,
    status: device.status satisfies DeviceStatus,
    qubits: device.qubits,
    average_queue_time: device.exact ? 0 : queueMs(),
    last_updated: lastUpdated,
    degraded: false,
    ...(!device.exact && {
      location: 'this machine (emulated)',
      characterization_id: store.characterizations()[0]!.id
    }),
    supported_gates: [...qisGates],
    supported_native_gates: [...device.nativeGates]
  }
}
