import type { EmulatedClock } from '../clock.js'
import type { Identities } from './identity/identities.js'
import type { AzureSettings } from './job.js'
import type { JobStore } from './jobs.js'
import type { BlobStore } from './storage/blobs.js'
import type { Targets } from './targets.js'

export interface AzureParts {
  clock: EmulatedClock
  identities: Identities
  targets: Targets
  jobs: JobStore
  blobs: BlobStore
  settings: AzureSettings
}
