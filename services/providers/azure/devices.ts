// What a workspace says about its targets: those of the providers that were added to it.
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { type BackendState, type DeviceFacts, ProviderFault } from '../adapter.js'
import { answerOf, textOf } from './answers.js'
import type { AzureTarget } from './targets.js'
import type { Workspaces } from './workspace.js'

const PAGES_MAX = 5
/** A workspace has some thirty. */
const TARGETS_MAX = 1000
const NAME_MAX = 120
/** That of the executor's targets. */
const QUBITS_MAX = 1024

export interface TargetState {
  id: string
  status: BackendState['status']
  queueTimeSeconds: number | null
  qubits: number | null
}

interface StatusPage {
  value?: unknown
  nextLink?: unknown
}

const statuses: Readonly<Record<string, BackendState['status']>> = {
  Available: 'online',
  // It takes jobs, more slowly.
  Degraded: 'online',
  Unavailable: 'offline'
}

export async function targetsOf(
  workspaces: Workspaces,
  credentials: Credentials,
  signal: AbortSignal
): Promise<TargetState[]> {
  const found: TargetState[] = []
  let query: Record<string, string> = {}
  for (let page = 0; page < PAGES_MAX; page++) {
    const call = { method: 'GET', path: '/providerStatus', query } as const
    const { value, nextLink } = answerOf<StatusPage>(await workspaces.call(credentials, call, signal))
    // An answer of another form must not look like a workspace without targets.
    if (!Array.isArray(value)) throw new ProviderFault('unclear', 'Azure Quantum listed no providers')
    const listed = value.flatMap(targetsOfProvider)
    if (found.length + listed.length > TARGETS_MAX) break
    found.push(...listed)
    if (typeof nextLink !== 'string' || !URL.canParse(nextLink)) return found
    // Only the place in the list is taken from the link: the request goes to the workspace.
    query = Object.fromEntries(new URL(nextLink).searchParams)
  }
  throw new ProviderFault('unclear', "Azure Quantum's list of targets has no end")
}

function targetsOfProvider(provider: unknown): TargetState[] {
  const { targets } = (provider ?? {}) as { targets?: unknown }
  return Array.isArray(targets) ? targets.flatMap(targetState) : []
}

function targetState(target: unknown): TargetState[] {
  const { id, currentAvailability, averageQueueTime, numQubits } = (target ?? {}) as Record<string, unknown>
  if (typeof id !== 'string' || id === '' || id.length > NAME_MAX) return []
  const word = textOf(currentAvailability)
  return [
    {
      id,
      // A target with an unknown status is not relied on.
      status: Object.hasOwn(statuses, word) ? statuses[word]! : 'offline',
      queueTimeSeconds: isNumber(averageQueueTime) ? Math.round(averageQueueTime) : null,
      qubits:
        isNumber(numQubits) && Number.isInteger(numQubits) && numQubits > 0 ? Math.min(numQubits, QUBITS_MAX) : null
    }
  ]
}

const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < 1e9

export const backendState = ({ id, status, queueTimeSeconds }: TargetState): BackendState => ({
  target: id,
  status,
  queueTimeSeconds,
  queueLength: null
})

/** @param width that of the catalogue. */
export const factsOf = (target: AzureTarget, state: TargetState, width: number | null): DeviceFacts => ({
  target: { format: target.compile, num_qubits: state.qubits ?? target.qubits ?? width },
  status: state.status,
  shots: target.shots,
  price: null
})
