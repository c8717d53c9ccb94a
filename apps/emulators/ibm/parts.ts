import type { EmulatedClock } from '../clock.js'
import type { Devices } from './devices.js'
import type { ApiKeys } from './iam/accounts.js'
import type { AccessTokens } from './iam/tokens.js'
import type { IbmSettings } from './job.js'
import type { JobStore } from './jobs.js'
import type { StartRate } from './start-rate.js'

export interface IbmParts {
  clock: EmulatedClock
  keys: ApiKeys
  tokens: AccessTokens
  devices: Devices
  jobs: JobStore
  starts: StartRate
  settings: IbmSettings
}
