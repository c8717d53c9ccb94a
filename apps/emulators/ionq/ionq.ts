// The emulated IonQ, API v0.4.
import type { EmulatedClock } from '../clock.js'
import { type EmulatedProvider, jsonReply, type Timing } from '../provider.js'
import { type DeviceStatus, newDevices } from './devices.js'
import { JobStore } from './jobs.js'
import { ionqError, withUnknownStatus } from './replies.js'
import { ionqRoutes } from './routes.js'

/** Not a secret: it opens only an emulator on this machine, and a team's stored key must work after every start. */
const apiKey = 'emulated-ionq-key'
const basePath = '/v0.4'
const resultPath = /\/jobs\/[^/]+\/(results|artifacts)\//
const statuses: readonly DeviceStatus[] = ['available', 'unavailable', 'retired']

export function createIonq(clock: EmulatedClock, { timing }: { timing?: Partial<Timing> } = {}): EmulatedProvider {
  const store = new JobStore(clock, timing)
  let devices = newDevices()
  return {
    name: 'ionq',
    basePath,
    credentials: { api_key: apiKey },
    variables: (address) => ({ IONQ_API_URL: `${address}${basePath}` }),
    routes: (app) => ionqRoutes(app, { clock, store, devices: () => devices, apiKey, queueMs: () => store.queueMs }),
    refusal: (status, message) => jsonReply(status, ionqError(status, message)),
    expiredToken: () => null,
    resultNotThere: ({ path }) =>
      resultPath.test(path) ? jsonReply(404, ionqError(404, 'The job has no such results, or none yet.')) : null,
    withUnknownStatus,
    tasks: () => store.ledger(),
    setTiming: (changed) => store.setTiming(changed),
    setNoise: (level) => store.setNoise(level),
    setDeviceStatus(name, status) {
      const device = devices.get(name)
      if (!device) throw new Error(`There is no device ${name} (devices: ${[...devices.keys()].join(', ')}).`)
      if (!(statuses as readonly string[]).includes(status))
        throw new Error(`status: must be one of ${statuses.join(', ')} (got ${status})`)
      device.status = status as DeviceStatus
      device.changes.push({ at: clock.now(), status: device.status })
    },
    reset() {
      store.reset()
      devices = newDevices()
    }
  }
}
