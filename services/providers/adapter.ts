// The interface to a provider of quantum machines. One adapter per provider translates these calls to its API; nothing here
// depends on a job's status, its money or its workflow.

import type { Readout } from '../../domain/backends/provider-counts.js'
import type { Credentials } from '../../domain/backends/provider-credentials.js'
import type { QuantumProvider } from '../../domain/backends/quantum-providers.js'

/** A compiled program in the provider's form, and how to read its results. */
export interface ProviderProgram {
  /** Text in the provider's own form. */
  text: string
  qubits: number
  readout: Readout
}

export interface ProviderJobRequest {
  /** Identifies the provider job in the provider's list, even if the response was lost: hex SHA-256. */
  token: string
  /** The provider's name of the device. */
  target: string
  program: ProviderProgram
  shots: number
  /** Shown in the provider's own console. */
  name: string
}

/** The status of a provider job. `raw` is the provider's own word; an unknown word counts as `running`. */
export interface ProviderJobView {
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  raw: string
  queuePosition: number | null
  predictedWaitSeconds: number | null
  /** What the provider charged, in micro-USD; `null` when it does not report that. */
  cost: bigint | null
  /** Why it failed, in the provider's words. */
  failure: string | null
}

/** Counts by canonical bit string (qubit 0 leftmost), and their source. */
export interface ProviderJobCounts {
  counts: Record<string, number>
  source: 'provider_measurements' | 'provider_counts' | 'probability_derived'
  /** The provider's probabilities by canonical bit string; `null` when it returns only counts. */
  probabilities: Record<string, number> | null
  executionTimeMs: number | null
  /** The provider's id of the calibration under which the job ran; `null` where it names none. */
  calibrationId: string | null
}

export interface BackendState {
  target: string
  status: 'online' | 'offline' | 'maintenance'
  queueTimeSeconds: number | null
  queueLength: number | null
}

/** The calls of one provider. Each rejects with ProviderFault alone. */
export interface ProviderCalls {
  /** The provider treats a request with the same token as the same job, so no look-up is needed before another try. */
  readonly submitsOnce: boolean
  /** Resolves when the provider accepts the credentials; rejects with the fault `unauthorized` when it does not. */
  verify(credentials: Credentials, signal: AbortSignal): Promise<void>
  /** @returns the provider's id of the new job. */
  submit(credentials: Credentials, task: ProviderJobRequest, signal: AbortSignal): Promise<string>
  /** The id of the provider job with this token; `null` when the provider's list, read back to `since`, lacks it. */
  find(credentials: Credentials, token: string, since: Date, signal: AbortSignal): Promise<string | null>
  look(credentials: Credentials, id: string, signal: AbortSignal): Promise<ProviderJobView>
  counts(
    credentials: Credentials,
    id: string,
    task: { program: ProviderProgram; shots: number },
    signal: AbortSignal
  ): Promise<ProviderJobCounts>
  /** Requests a cancellation; `look` shows whether it took effect. */
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
 * `refused`: certainly not accepted; `unauthorized`: the credentials are wrong; `not_found`: the id does not exist (or not
 * yet); `busy`: too many requests, nothing was done; `unreachable`: the request certainly did not arrive; `unclear`: it may
 * have arrived, and its outcome is unknown.
 */
export type ProviderFaultKind = 'refused' | 'unauthorized' | 'not_found' | 'busy' | 'unreachable' | 'unclear'

/** The message is public: it never contains a credential. */
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
