import type { EmulatedClock } from '../clock.js'
import type { Device } from './devices.js'
import type { JobStore } from './jobs.js'

export interface IonqParts {
  clock: EmulatedClock
  store: JobStore
  devices: () => Map<string, Device>
  apiKey: string
  queueMs: () => number
}
