// The worker's configuration, read once at the door. Times are settings so that an operator can tune them and a test
// need not wait; the defaults are the product's promises.
import { defaultProviderTimes, type ProviderTimes } from '../../activities/provider/step.js'
import { readTeamRunningMax } from '../../domain/jobs/dispatch.js'
import { RETRY_SECONDS } from '../../domain/teams/webhook.js'
import { configuredKeyRing, type KeyRing } from '../../services/keys/key-ring.js'
import { DEFAULT_SENDER, type MailSettings } from '../../services/mail/message.js'
import { CALL_TIMEOUT_MS } from '../../services/providers/http.js'
import { readTracingEndpoint } from '../../services/telemetry/tracing.js'
import { defaultMailTimes, type MailTimes } from './sweeps/mail-sender.js'
import { defaultScheduleTimes, type ScheduleTimes } from './sweeps/schedule-sweep.js'
import type { WebhookTimes } from './sweeps/webhook-sender.js'

export interface WorkerConfig {
  databaseUrl: string
  redisUrl: string
  temporalAddress: string
  temporalNamespace: string
  taskQueue: string
  queuePrefix: string
  executorUrl: string
  executorToken: string
  /** `null`: nothing sealed can be opened; in production there has to be one. */
  keyRing: KeyRing | null
  /** Where IonQ's service is; `null`: its own address. */
  ionqApiUrl: string | null
  /** Emulators answer instead of the providers. */
  emulatedHardware: boolean
  /** `true` where webhooks may lead into private networks. */
  webhookAllowPrivate: boolean
  mail: MailSettings
  /** Where checkpoints of audit trails are appended; `null`: nowhere outside the database. */
  auditCheckpointsFile: string | null
  /** What links in mails begin with; `null`: they have none. */
  linkOrigin: string | null
  /** Jobs that a team may have under way; more of them wait. */
  teamRunningMax: number
  workflowBundle: string
  healthPort: number
  /** `null`: no metrics. */
  metricsPort: number | null
  metricsHost: string
  /** `null`: nothing is traced. */
  tracingEndpoint: string | null
  logLevel: string
  times: WorkerTimes
}

export interface WorkerTimes {
  relayMs: number
  /** A delivery is looked at again after this long, then each minute. */
  redeliverSeconds: number
  unreachableRetrySeconds: number
  dispatchDeadlineSeconds: number
  leaseRenewMs: number
  leaseSweepMs: number
  /** How long a job may make no progress before its workflow is looked for. */
  quietSeconds: number
  stalledSweepMs: number
  /** A workflow that the server does not know twice, this far apart, is lost. */
  missingConfirmSeconds: number
  executorHealthMs: number
  /** How often it is looked whether a job that waits for its backend, or for room in its team, can go on. */
  heldSweepMs: number
  /** How often the books are proved. */
  moneySweepMs: number
  schedules: ScheduleTimes
  /** How often runs of capsules are looked for that can go on and were not told to. */
  capsuleRunMs: number
  webhooks: WebhookTimes
  mails: MailTimes
  providers: ProviderTimes
  /** For one call to a provider, its answer included. */
  providerCallMs: number
}

export const defaultTimes: WorkerTimes = {
  relayMs: 500,
  redeliverSeconds: 30,
  unreachableRetrySeconds: 2,
  dispatchDeadlineSeconds: 15 * 60,
  leaseRenewMs: 5_000,
  leaseSweepMs: 5_000,
  quietSeconds: 60,
  stalledSweepMs: 15_000,
  missingConfirmSeconds: 30,
  executorHealthMs: 5_000,
  heldSweepMs: 5_000,
  moneySweepMs: 60_000,
  capsuleRunMs: 1_000,
  schedules: defaultScheduleTimes,
  webhooks: { lookMs: 2_000, retrySeconds: RETRY_SECONDS, pauseMs: 5_000 },
  mails: defaultMailTimes,
  providers: defaultProviderTimes,
  providerCallMs: CALL_TIMEOUT_MS
}

/** @throws Error naming the variable that is missing or malformed. */
export function readWorkerConfig(env: NodeJS.ProcessEnv): WorkerConfig {
  const need = (name: string): string => {
    const value = env[name]
    if (!value) throw new Error(`${name} is not set; npm start sets it, docs/operations/configuration.md describes it`)
    return value
  }
  const port = (name: string, text: string): number => {
    if (!/^\d+$/.test(text) || Number(text) > 65_535) throw new Error(`${name} must be a port number (got ${text})`)
    return Number(text)
  }
  const seconds = (name: string, fallback: number): number => {
    const value = env[name] === undefined ? fallback : Number(env[name])
    if (!Number.isFinite(value) || value <= 0) throw new Error(`${name} must be a positive number of seconds`)
    return value
  }
  return {
    databaseUrl: need('DATABASE_URL'),
    redisUrl: need('REDIS_URL'),
    temporalAddress: need('TEMPORAL_ADDRESS'),
    temporalNamespace: env.TEMPORAL_NAMESPACE ?? 'default',
    taskQueue: env.TEMPORAL_TASK_QUEUE ?? 'jobs',
    queuePrefix: env.QUEUE_PREFIX ?? 'qjs',
    executorUrl: need('EXECUTOR_URL'),
    executorToken: need('EXECUTOR_TOKEN'),
    keyRing: configuredKeyRing(env),
    ionqApiUrl: env.IONQ_API_URL ?? null,
    emulatedHardware: env.EMULATED_HARDWARE === '1',
    webhookAllowPrivate: env.WEBHOOK_ALLOW_PRIVATE === '1',
    mail: { smtpUrl: env.SMTP_URL || null, mailDir: env.MAIL_DIR || null, from: env.MAIL_FROM || DEFAULT_SENDER },
    auditCheckpointsFile: env.AUDIT_CHECKPOINTS_FILE?.trim() || null,
    linkOrigin: env.PUBLIC_URL ? originOf(env.PUBLIC_URL) : null,
    teamRunningMax: readTeamRunningMax(env.TEAM_RUNNING_JOBS_MAX),
    workflowBundle: need('WORKFLOW_BUNDLE'),
    healthPort: Number(env.WORKER_HEALTH_PORT ?? 0),
    metricsPort: env.WORKER_METRICS_PORT ? port('WORKER_METRICS_PORT', env.WORKER_METRICS_PORT) : null,
    metricsHost: env.METRICS_HOST || '127.0.0.1',
    tracingEndpoint: readTracingEndpoint(env),
    logLevel: env.LOG_LEVEL ?? 'info',
    times: {
      ...defaultTimes,
      redeliverSeconds: seconds('REDELIVER_SECONDS', defaultTimes.redeliverSeconds),
      providers: {
        ...defaultProviderTimes,
        lookUpWindowSeconds: seconds('PROVIDER_LOOKUP_WINDOW', defaultProviderTimes.lookUpWindowSeconds),
        retryMs: 1000 * seconds('PROVIDER_RETRY_SECONDS', defaultProviderTimes.retryMs / 1000),
        cancelSeconds: seconds('PROVIDER_CANCEL_DEADLINE', defaultProviderTimes.cancelSeconds)
      },
      providerCallMs: 1000 * seconds('PROVIDER_CALL_TIMEOUT', defaultTimes.providerCallMs / 1000),
      dispatchDeadlineSeconds: seconds('DISPATCH_DEADLINE', defaultTimes.dispatchDeadlineSeconds),
      quietSeconds: seconds('WORKFLOW_QUIET_SECONDS', defaultTimes.quietSeconds),
      missingConfirmSeconds: seconds('WORKFLOW_MISSING_SECONDS', defaultTimes.missingConfirmSeconds),
      schedules: {
        ...defaultScheduleTimes,
        compareMs: 1000 * seconds('SCHEDULE_COMPARE_SECONDS', defaultScheduleTimes.compareMs / 1000)
      },
      stalledSweepMs: 1000 * seconds('WORKFLOW_SWEEP_SECONDS', defaultTimes.stalledSweepMs / 1000)
    }
  }
}

function originOf(publicUrl: string): string {
  if (URL.canParse(publicUrl) && /^https?:$/.test(new URL(publicUrl).protocol)) return new URL(publicUrl).origin
  throw new Error(`PUBLIC_URL must be an address such as https://jobs.example.org (got ${publicUrl})`)
}
