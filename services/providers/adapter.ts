// The interface to a provider of quantum machines. One adapter per provider translates these calls to its API; nothing here
// depends on a job's status, its money or its workflow.

import type { Readout } from '../../domain/backends/provider-counts.js'
import type { Credentials } from '../../domain/backends/provider-credentials.js'
import type { Place } from '../../domain/backends/provider-job.js'
import type { CompileFormat, QuantumProvider } from '../../domain/backends/quantum-providers.js'

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
  /** How many seconds of the machine are paid for at most; absent where the device is not billed by time. */
  secondsMax?: number
}

/** The status of a provider job. `raw` is the provider's own word; an unknown word counts as `running`. */
export interface ProviderJobView {
  status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  raw: string
  queuePosition: number | null
  predictedWaitSeconds: number | null
  /** What the provider charged, in micro-USD; `null` when it does not report that. */
  cost: bigint | null
  /** What the job used, in a unit of the provider such as `seconds`; absent when it does not report that. */
  usage?: { amount: number; unit: string }
  /** Whether `cost` or `usage` of an ended job is still to come. */
  isUsagePending?: boolean
  /** Why it failed, in the provider's words. */
  failure: string | null
}

/** Counts by canonical bit string (qubit 0 leftmost; of an analog program, a letter for each site), and their source. */
export interface ProviderJobCounts {
  counts: Record<string, number>
  source: 'provider_measurements' | 'provider_counts' | 'probability_derived'
  /** The provider's probabilities by canonical bit string; `null` when it returns only counts. */
  probabilities: Record<string, number> | null
  executionTimeMs: number | null
  /** The provider's id of the calibration under which the job ran; `null` where it names none. */
  calibrationId: string | null
  /** Part of the job's result, such as that shots are left out. */
  warnings?: readonly string[]
}

export interface BackendState {
  target: string
  /** `retired`: its provider has given it up for good. */
  status: 'online' | 'offline' | 'maintenance' | 'retired'
  queueTimeSeconds: number | null
  queueLength: number | null
}

/** What a provider says that credentials open. No secret. */
export interface CredentialDetails {
  account?: string
  instance?: string
  region?: string
  bucket?: string
  /** The provider's names of the devices that they can use. */
  devices?: string[]
  /** What keeps jobs, or some of them, from running with credentials that the provider takes. */
  faults?: string[]
}

/** A team's credentials, and the place in which they are used. */
export interface Located {
  credentials: Credentials
  place: Place
}

/** What a provider says about a device when a circuit is compiled for it. */
export interface DeviceFacts {
  /** The `target` of the executor's `/compile`. */
  target: { format: CompileFormat; num_qubits: number | null } & Record<string, unknown>
  status: BackendState['status']
  /** How many shots it takes; `null` where the provider does not say. */
  shots: { min: number; max: number } | null
  /** What the provider says that a shot or a minute costs, in its own words. */
  price: { amount: number; unit: string } | null
}

/** At most `max` requests in `windowSeconds`, counted for each team. */
export interface ProviderRate {
  max: number
  windowSeconds: number
}

/** The one paid request of a submission. @returns the provider's id of the new job. */
export type PaidRequest = (signal: AbortSignal) => Promise<string>

/** The calls of one provider. Each rejects with ProviderFault alone. */
export interface ProviderCalls {
  /** The provider treats a request with the same token as the same job, so no look-up is needed before another try. */
  readonly submitsOnce: boolean
  /** Whether `backends` needs no credentials. */
  readonly devicesArePublic: boolean
  /** Jobs are billed by the seconds of the machine, at a price that the provider does not state, and take a cap on them. */
  readonly billsSeconds: boolean
  /** How often a team can submit and look. `null`: as often as it likes. */
  readonly rates: { submit: ProviderRate; look: ProviderRate } | null
  /**
   * Resolves when the provider accepts the credentials; rejects with the fault `unauthorized` when it does not.
   */
  verify(credentials: Credentials, signal: AbortSignal): Promise<CredentialDetails>
  /** @param target the provider's name of the device. */
  place(credentials: Credentials, target: string, signal: AbortSignal): Promise<Place>
  /** @param width that of the catalogue, where the provider's own is not read. */
  describe(
    credentials: Credentials,
    device: { target: string; width: number | null },
    signal: AbortSignal
  ): Promise<DeviceFacts>
  /** Everything that a submission needs first, such as a token or an upload: free of charge, and repeatable. */
  stage(at: Located, task: ProviderJobRequest, signal: AbortSignal): Promise<PaidRequest>
  /** The id of the provider job with this token; `null` when the provider's list, read back to `since`, lacks it. */
  find(
    at: Located,
    task: { token: string; target: string | null },
    since: Date,
    signal: AbortSignal
  ): Promise<string | null>
  look(at: Located, id: string, signal: AbortSignal): Promise<ProviderJobView>
  counts(
    at: Located,
    id: string,
    task: { program: ProviderProgram; shots: number },
    signal: AbortSignal
  ): Promise<ProviderJobCounts>
  /** Requests a cancellation; `look` shows whether it took effect. */
  cancel(at: Located, id: string, signal: AbortSignal): Promise<void>
  /** @param credentials `null` where `devicesArePublic`. */
  backends(credentials: Credentials | null, signal: AbortSignal): Promise<BackendState[]>
}

/** A provider's row of the registry, with its calls. */
export type ProviderAdapter = Readonly<Pick<QuantumProvider, 'name' | 'credentials'>> & ProviderCalls

/** @param urls replace the addresses of the provider's own services. @param callTimeoutMs for a whole call. */
export type CreateProviderCalls<Service extends string> = (
  urls?: Partial<Record<Service, string>>,
  callTimeoutMs?: number
) => ProviderCalls & { close(): Promise<void> }

/**
 * `refused`: certainly not accepted; `unauthorized`: the credentials are wrong; `not_found`: the id does not exist (or not
 * yet); `busy`: too many requests, nothing was done; `offline`: the device takes no jobs at present, nothing was done;
 * `retired`: it never will again; `unreachable`: the request certainly did not arrive; `unclear`: it may have arrived, and
 * its outcome is unknown.
 */
export type ProviderFaultKind =
  | 'refused'
  | 'unauthorized'
  | 'not_found'
  | 'busy'
  | 'offline'
  | 'retired'
  | 'unreachable'
  | 'unclear'

/** The same request would meet the same answer again. */
export const finalFaults: ReadonlySet<ProviderFaultKind> = new Set(['refused', 'not_found', 'unauthorized', 'retired'])

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
