// The emulated Azure Quantum, with the parts of the directory, Resource Manager and blob storage that belong to it.
import type { EmulatedClock } from '../clock.js'
import type { EmulatedProvider, RequestLine, Timing } from '../provider.js'
import { azureControls } from './control-routes.js'
import { expiredToken } from './identity/access.js'
import { expiredSecret } from './identity/directory.js'
import { describedCredentials, Identities } from './identity/identities.js'
import type { AzureSettings } from './job.js'
import { JobStore } from './jobs.js'
import type { AzureParts } from './parts.js'
import { errorOfStatus, refusalOf, serviceOf } from './replies.js'
import { azureRoutes } from './routes.js'
import { BlobStore } from './storage/blobs.js'
import { authenticationFailed } from './storage/sas.js'
import { Targets } from './targets.js'

const hourMs = 3_600_000
const firstSettings: AzureSettings = { costMs: 500, tokenMs: hourMs, sasMs: 24 * hourMs, repeatedPut: 'conflict' }

export function createAzure(clock: EmulatedClock, { timing }: { timing?: Partial<Timing> } = {}): EmulatedProvider {
  const settings = { ...firstSettings }
  const now = () => clock.now()
  const targets = new Targets(now)
  const jobs = new JobStore(clock, targets, settings, timing)
  const blobs = new BlobStore(now, (place) => jobs.resultAt(place))
  const parts: AzureParts = { clock, identities: new Identities(), targets, jobs, blobs, settings }
  return {
    name: 'azure-quantum',
    basePath: '',
    credentials: describedCredentials,
    variables: (address) => ({
      AZURE_AUTHORITY_HOST: address,
      AZURE_RESOURCE_MANAGER_URL: address,
      AZURE_QUANTUM_URL: address
    }),
    routes: (app) => azureRoutes(app, parts),
    controlRoutes: (app) => azureControls(app, parts),
    refusal: errorOfStatus,
    expiredToken: (line) => refusalOf(expired[serviceOf(line)](), line),
    resultNotThere: (line) => (isResult(line) ? refusalOf(blobs.missing(), line) : null),
    withUnknownStatus: (payload, line) => (serviceOf(line) === 'workspace' ? withUnknownStatus(payload) : payload),
    tasks: () => jobs.ledger(),
    setTiming: (changed) => jobs.setTiming(changed),
    setNoise: (level) => jobs.setNoise(level),
    setDeviceStatus: (id, status) => targets.setStatus(id, status),
    reset() {
      jobs.reset()
      blobs.reset()
      targets.reset()
      parts.identities.reset()
      Object.assign(settings, firstSettings)
    }
  }
}

const expired = {
  directory: () => expiredSecret(),
  workspace: () => expiredToken(),
  storage: () => authenticationFailed('Signature not valid in the specified time frame: it has expired.')
}

const isResult = (line: RequestLine): boolean =>
  (line.method === 'GET' || line.method === 'HEAD') &&
  serviceOf(line) === 'storage' &&
  line.path.endsWith('/outputData')

/** Replaces the `status` of every job. */
const withUnknownStatus = (payload: string): string =>
  JSON.stringify(
    JSON.parse(payload, (_key, value) =>
      value !== null && typeof value === 'object' && value.itemType === 'Job' && 'status' in value
        ? { ...value, status: 'Recalibrating' }
        : value
    )
  )
