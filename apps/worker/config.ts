// The worker's configuration, read once at start. Times are settings so that operators can tune them and tests need not
// wait; the defaults are the product's promises.

import { defaultProviderTimes } from '../../activities/provider/step.js'
import { type DatabaseSettings, readDatabaseSettings } from '../../db/connection/database-settings.js'
import { type ExecutorAddresses, readExecutorAddresses } from '../../domain/backends/executor-addresses.js'
import { type ProviderUrls, readProviderUrls } from '../../domain/backends/quantum-providers.js'
import { readSearchAttributes, readTeamRunningMax, type SearchAttributes } from '../../domain/jobs/dispatch.js'
import { type OperatorLimits, readOperatorLimits } from '../../domain/operations/operator-limits.js'
import { type MigrateMode, readMigrateMode } from '../../domain/operations/schema.js'
import { type KeptDays, readKeptDays } from '../../domain/teams/content-retention.js'
import { readCheckpointSetting } from '../../services/audit/checkpoint-place.js'
import { readS3Settings, type S3Settings } from '../../services/content-store/s3-settings.js'
import { readTemporalSecurity, type TemporalSecurity } from '../../services/dispatch/temporal-security.js'
import { configuredKeyRing, type KeyRing } from '../../services/keys/key-ring.js'
import { type MailSettings, readMailSettings } from '../../services/mail/message.js'
import { keyPrefixAt, type RedisSettings, readRedisSettings } from '../../services/redis/redis-settings.js'
import { readTracingEndpoint } from '../../services/telemetry/tracing.js'
import { defaultContentTimes } from './sweeps/contents/content-sweep.js'
import { defaultScheduleTimes } from './sweeps/schedule-sweep.js'
import { defaultTimes, type WorkerTimes } from './times.js'

/** Connections to the database without DATABASE_POOL_MAX, besides the one that listens and the one for leases. */
const POOL_MAX = 20

export interface WorkerConfig {
  database: DatabaseSettings
  /** Whether this process migrates the database at its start. */
  migrateMode: MigrateMode
  redis: RedisSettings
  temporalAddress: string
  temporalSecurity: TemporalSecurity
  temporalNamespace: string
  taskQueue: string
  /** Names of the search attributes in Temporal. */
  searchAttributes: SearchAttributes
  /** Name of the worker deployment in Temporal; `null`: workflow code has no versions. */
  temporalDeployment: string | null
  queuePrefix: string
  executors: ExecutorAddresses
  executorToken: string
  /** `null`: no sealed value can be opened; production requires one. */
  keyRing: KeyRing | null
  /** Addresses that replace those of the providers' own services. */
  providerUrls: ProviderUrls
  /** The providers are emulators. */
  emulatedHardware: boolean
  /** `true`: webhooks can have private addresses. */
  webhookAllowPrivate: boolean
  mail: MailSettings
  /** File that checkpoints of audit trails are appended to; `null`: they stay in the database. */
  auditCheckpointsFile: string | null
  /** Start of the links in mails; `null`: mails have none. */
  linkOrigin: string | null
  /** Concurrency limit of a team; further jobs wait. */
  teamRunningMax: number
  /** Limits that the database's queries apply. */
  operatorLimits: OperatorLimits
  /** How long contents of jobs are kept at most. */
  keptDays: KeptDays
  /** Where large contents are moved to; `null`: they stay in the database. */
  contentStore: S3Settings | null
  /** Factor on the rates at which providers are called; 0: no rates. */
  providerRateScale: number
  workflowBundle: string
  healthHost: string
  healthPort: number
  /** `null`: no metrics. */
  metricsPort: number | null
  metricsHost: string
  /** `null`: nothing is traced. */
  tracingEndpoint: string | null
  logLevel: string
  times: WorkerTimes
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
  const factor = (name: string): number => {
    const value = env[name] ? Number(env[name]) : 1
    if (!Number.isFinite(value) || value < 0) throw new Error(`${name} must be a number from 0 (off) upwards`)
    return value
  }
  const redis = readRedisSettings(env)
  return {
    database: readDatabaseSettings(env, POOL_MAX),
    migrateMode: readMigrateMode(env.MIGRATE),
    redis,
    temporalAddress: need('TEMPORAL_ADDRESS'),
    temporalSecurity: readTemporalSecurity(env),
    temporalNamespace: env.TEMPORAL_NAMESPACE ?? 'default',
    taskQueue: env.TEMPORAL_TASK_QUEUE ?? 'jobs',
    searchAttributes: readSearchAttributes(env.TEMPORAL_ATTRIBUTE_PREFIX),
    temporalDeployment: env.TEMPORAL_DEPLOYMENT?.trim() || null,
    queuePrefix: keyPrefixAt(redis, env.QUEUE_PREFIX ?? 'qjs'),
    executors: readExecutorAddresses(need('EXECUTOR_URL')),
    executorToken: need('EXECUTOR_TOKEN'),
    keyRing: configuredKeyRing(env),
    providerUrls: readProviderUrls(env),
    emulatedHardware: env.EMULATED_HARDWARE === '1',
    webhookAllowPrivate: env.WEBHOOK_ALLOW_PRIVATE === '1',
    mail: readMailSettings(env),
    auditCheckpointsFile: readCheckpointSetting(env, Boolean(env.CONTENT_STORE?.trim())),
    linkOrigin: env.PUBLIC_URL ? originOf(env.PUBLIC_URL) : null,
    teamRunningMax: readTeamRunningMax(env.TEAM_RUNNING_JOBS_MAX),
    operatorLimits: readOperatorLimits(env),
    keptDays: readKeptDays(env),
    contentStore: readS3Settings(env),
    providerRateScale: factor('PROVIDER_RATE_SCALE'),
    workflowBundle: need('WORKFLOW_BUNDLE'),
    healthHost: env.WORKER_HEALTH_HOST || '127.0.0.1',
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
      contents: {
        everyMs: 1000 * seconds('CONTENT_STORE_SWEEP_SECONDS', defaultContentTimes.everyMs / 1000),
        settledSeconds: seconds('CONTENT_STORE_AFTER_SECONDS', defaultContentTimes.settledSeconds),
        bothSeconds: seconds('CONTENT_STORE_BOTH_SECONDS', defaultContentTimes.bothSeconds),
        unnamedSeconds: seconds('CONTENT_STORE_UNNAMED_SECONDS', defaultContentTimes.unnamedSeconds)
      },
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
