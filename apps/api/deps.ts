// The dependencies of the routes. `server.ts` (or a test) builds them once and passes them in; there is no registry.

import type { Db } from '../../db/client.js'
import type { AnnounceJob, AnnounceRun, JobListener } from '../../db/jobs/job-changes.js'
import type { DiskSpace } from '../../services/disk/disk-space.js'
import type { Dispatcher } from '../../services/dispatch/dispatcher.js'
import type { TargetState } from '../../services/dispatch/target-state.js'
import type { InteractiveExecutor } from '../../services/executor/routed-client.js'
import type { OidcClient } from '../../services/identity/oidc-client.js'
import type { KeyRing } from '../../services/keys/key-ring.js'
import type { InstallationSigner } from '../../services/keys/signer.js'
import type { Mailer } from '../../services/mail/mailer.js'
import type { ProviderAdapter } from '../../services/providers/adapter.js'
import type { Tracing } from '../../services/telemetry/tracing.js'
import type { ComparePool } from '../../services/threads/compare-pool.js'
import type { SealPool } from '../../services/threads/seal-pool.js'
import type { ApiConfig } from './config.js'
import type { LargeContentOptions } from './http/large-content.js'
import type { Limiter } from './http/limits/limiter.js'
import type { SubmissionMetrics } from './http/submissions.js'
import type { StreamTimes } from './jobs/event-stream.js'

export interface ApiDeps {
  config: Pick<
    ApiConfig,
    | 'temporalUiUrl'
    | 'temporalNamespace'
    | 'publicUrl'
    | 'linkOrigin'
    | 'codesNeeded'
    | 'redeliverSeconds'
    | 'teamRunningMax'
    | 'webhookAllowPrivate'
    | 'auditCheckpointsFile'
    | 'keptDays'
  >
  db: Db
  /** The maximum number of connections in `db`. */
  poolMax: number
  listener: JobListener
  announce: AnnounceJob
  announceRun: AnnounceRun
  limiter: Limiter
  mailer: Mailer
  /** Sign-in through an identity provider; `null` when none is configured. */
  oidc: OidcClient | null
  /** Seals credentials; `null` in a development api without SECRETS_KEYS. */
  keyRing: KeyRing | null
  /** Signs seals and checkpoints; throws without a key ring. */
  signer: InstallationSigner
  /** Makes the content of seals in a thread. */
  sealing: Pick<SealPool, 'sealInThread'>
  /** Compares jobs in a thread. */
  comparing: Pick<ComparePool, 'compareInThread'>
  /** Adapters for testing credentials, by the provider's name in the catalogue. */
  providers: ReadonlyMap<string, ProviderAdapter>
  dispatcher: Dispatcher
  metrics: SubmissionMetrics
  /** `null`: nothing is traced. */
  tracing: Tracing | null
  /** The state of the queues, for administrators. */
  engines: TargetState
  /** Runs programs for the playground; `null` when no executor is configured. */
  executor: InteractiveExecutor | null
  /** How long the playground waits for the executor. Default: 90 s. */
  executorDeadlineMs?: number
  /** How long an event stream lives. Default: an hour. */
  streamTimes?: StreamTimes
  /** Replaces the budget of memory, for tests (http/memory.ts). */
  largeLimits?: LargeContentOptions['limits']
  /** The folder of the built console; absent: this process serves none. */
  consoleFolder?: string
  /** Whether the service has room to write. */
  disk: DiskSpace
  /** One probe per part that the service needs; it rejects when the part is unavailable. */
  probes: Record<'database' | 'redis' | 'temporal' | 'executor', () => Promise<unknown>>
  now(): Date
}
