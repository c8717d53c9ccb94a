// What the platform asks of a provider of quantum machines. One adapter per provider turns these questions into its wire
// language and back; nothing here knows a job's status, its money or its workflow.

import type { Readout } from '../../domain/backends/provider-counts.js'
import type { Credentials } from '../../domain/backends/provider-credentials.js'
import type { QuantumProvider } from '../../domain/backends/quantum-providers.js'

/** A compiled program as the provider takes it, with what its results mean. */
export interface ProviderProgram {
  /** Text in the provider's own form. */
  text: string
  qubits: number
  readout: Readout
}

export interface ProviderJobRequest {
  /** Finds the task again whatever became of the answer: hex SHA-256, ours alone. */
  token: string
  /** The provider's name of the device. */
  target: string
  program: ProviderProgram
  shots: number
  /** Shown in the provider's own console. */
  name: string
}

/** What a provider says of a task, in our words. `raw` is its own. An unknown word counts as `running`. */
export interface ProviderJobView {
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  raw: string
  queuePosition: number | null
  predictedWaitSeconds: number | null
  /** What it charged, in micro-USD; `null` when it does not say. */
  cost: bigint | null
  /** Why it failed, in the provider's words. */
  failure: string | null
}

/** Counts by canonical bit string (qubit 0 leftmost), and how sure they are. */
export interface ProviderJobCounts {
  counts: Record<string, number>
  source: 'provider_measurements' | 'provider_counts' | 'probability_derived'
  /** As the provider gave them, by canonical bit string; `null` where it gives counts alone. */
  probabilities: Record<string, number> | null
  executionTimeMs: number | null
}

export interface BackendState {
  target: string
  status: 'online' | 'offline' | 'maintenance'
  queueTimeSeconds: number | null
  queueLength: number | null
}

/** The calls of one provider. Each rejects with ProviderFault alone. */
export interface ProviderCalls {
  /** The same request with the same token is the same task there: no look-up is needed before it is sent again. */
  readonly submitsOnce: boolean
  /** Resolves when the provider takes the credentials; the fault `unauthorized` says that it does not. */
  verify(credentials: Credentials, signal: AbortSignal): Promise<void>
  /** @returns the provider's id of the task. */
  submit(credentials: Credentials, task: ProviderJobRequest, signal: AbortSignal): Promise<string>
  /** The id of the task with this token; `null` when the provider's list, read to `since`, does not have it. */
  find(credentials: Credentials, token: string, since: Date, signal: AbortSignal): Promise<string | null>
  look(credentials: Credentials, id: string, signal: AbortSignal): Promise<ProviderJobView>
  counts(
    credentials: Credentials,
    id: string,
    task: { program: ProviderProgram; shots: number },
    signal: AbortSignal
  ): Promise<ProviderJobCounts>
  /** Asks for the end of a task; whether it takes hold, or came too late, is for `look` to say. */
  cancel(credentials: Credentials, id: string, signal: AbortSignal): Promise<void>
  backends(signal: AbortSignal): Promise<BackendState[]>
}

/** A provider's row of the registry, with its calls. */
export type ProviderAdapter = Readonly<Pick<QuantumProvider, 'name' | 'credentials' | 'compileTarget'>> & ProviderCalls

/** @param baseUrl replaces the address of the provider's own service. @param callTimeoutMs for a whole call. */
export type CreateProviderCalls = (
  baseUrl?: string,
  callTimeoutMs?: number
) => ProviderCalls & { close(): Promise<void> }

/**
 * `refused`: answered, and certainly not accepted; `unauthorized`: the credentials are wrong; `not_found`: nothing has that
 * id (or not yet); `busy`: too many requests, nothing was done; `unreachable`: certainly nothing arrived; `unclear`: it may
 * have arrived, and what became of it is not known.
 */
export type ProviderFaultKind = 'refused' | 'unauthorized' | 'not_found' | 'busy' | 'unreachable' | 'unclear'

/** The message is public: it never holds a credential. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault'
  constructor(
    readonly kind: ProviderFaultKind,
    message: string,
    readonly retryAfterMs: number | null = null
  ) {
    super(message)
  }
}
