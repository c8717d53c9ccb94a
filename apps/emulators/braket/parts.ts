import type { EmulatedClock } from '../clock.js'
import type { Keys } from './aws/keys.js'
import type { ObjectStore } from './aws/s3.js'
import type { Devices } from './devices.js'
import type { BraketSettings } from './task.js'
import type { TaskStore } from './tasks.js'

export interface BraketParts {
  clock: EmulatedClock
  keys: Keys
  devices: Devices
  tasks: TaskStore
  objects: ObjectStore
  settings: BraketSettings
}
