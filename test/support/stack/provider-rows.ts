// The providers of the tests that run at every provider: one row each, with what differs between their protocols.
import type { ProviderName } from '../../../apps/emulators/emulators.js'
import type { FaultOrder } from '../../../apps/emulators/faults.js'
import type { LoggedRequest } from '../../../apps/emulators/request-log.js'
import { quantumProviders } from '../../../domain/backends/quantum-providers.js'

type Requests = NonNullable<FaultOrder['match']>

export interface Provider {
  name: ProviderName
  /** The paid request. */
  submitting: Requests
  /** The look-up of a token in the provider's list. Absent where the provider itself knows a repeated submission. */
  finding?: Requests
  looking: Requests
  fetching: Requests
  /** The provider's word for a cancelled task. */
  cancelled: string
  /** What its circuits can do beside gates and a measurement at the end. */
  permits?: readonly ('branches' | 'resets' | 'continues after a measurement')[]
  /** It bills the time of a run that is cancelled. */
  billsCancelledRuns?: true
  /** A quantum computer, and the provider's words for its states. */
  device: { backend: string; name: string; online: string; offline: string; retired: string }
  /** It takes no jobs for a device that is offline. Elsewhere they are accepted, and wait there. */
  refusesOffline?: true
  /** The code of a job for a device that was retired after it was last seen. `backend_retired` where the provider says so. */
  retiredCode: 'backend_retired' | 'provider_refused'
}

/** Of the emulated Azure. */
const workspace =
  '/subscriptions/00000000-e000-4000-8000-000000000001/resourceGroups/emulated-group' +
  '/providers/Microsoft.Quantum/workspaces/emulated-workspace'

export const providers: Provider[] = [
  {
    name: 'ionq',
    submitting: { method: 'POST', path: '/jobs' },
    finding: { method: 'GET', path: '/jobs' },
    looking: { method: 'GET', path: '/jobs/' },
    fetching: { method: 'GET', path: '/jobs/' },
    cancelled: 'canceled',
    device: {
      backend: 'ionq-direct-forte-1',
      name: 'qpu.forte-1',
      online: 'available',
      offline: 'unavailable',
      retired: 'retired'
    },
    retiredCode: 'provider_refused'
  },
  {
    name: 'aws-braket',
    submitting: { method: 'POST', path: '/quantum-task' },
    finding: { method: 'POST', path: '/quantum-tasks' },
    looking: { method: 'GET', path: '/quantum-task/' },
    fetching: { method: 'GET', path: '/amazon-braket-emulated/' },
    cancelled: 'CANCELLED',
    device: { backend: 'iqm-garnet', name: 'Garnet', online: 'ONLINE', offline: 'OFFLINE', retired: 'RETIRED' },
    refusesOffline: true,
    retiredCode: 'backend_retired'
  },
  {
    name: 'ibm-quantum',
    submitting: { method: 'POST', path: '/jobs' },
    finding: { method: 'GET', path: '/jobs' },
    looking: { method: 'GET', path: '/jobs/' },
    fetching: { method: 'GET', path: '/jobs/' },
    cancelled: 'Cancelled',
    billsCancelledRuns: true,
    device: {
      backend: 'ibm-marrakesh',
      name: 'ibm_marrakesh',
      online: 'online',
      offline: 'paused',
      retired: 'retired'
    },
    retiredCode: 'provider_refused',
    permits: ['resets', 'continues after a measurement']
  },
  {
    name: 'azure-quantum',
    submitting: { method: 'PUT', path: `${workspace}/jobs/` },
    finding: { method: 'GET', path: `${workspace}/jobs/` },
    looking: { method: 'GET', path: `${workspace}/jobs/` },
    fetching: { method: 'GET', path: '/emulatedquantum/' },
    cancelled: 'Cancelled',
    device: {
      backend: 'azure-quantinuum-h2-1',
      name: 'quantinuum.qpu.h2-1',
      online: 'Available',
      offline: 'Unavailable',
      retired: 'Retired'
    },
    retiredCode: 'provider_refused',
    permits: ['branches', 'resets', 'continues after a measurement']
  }
]

export const isFirst = ({ name }: Provider): boolean => name === providers[0]!.name

/** The provider's name in the catalogue. */
export const titleOf = ({ name }: Provider): string =>
  quantumProviders.find(({ credentials }) => credentials === name)!.name

/** The requests to exactly this path, without the provider's own base path; for a path that ends with `/`, below it. */
export const requestsTo = (requests: readonly LoggedRequest[], { method, path }: Requests): LoggedRequest[] =>
  requests.filter((sent) => {
    const reaches = path!.endsWith('/') ? sent.path.includes(path!) : sent.path.endsWith(path!)
    return sent.method === method && reaches
  })
