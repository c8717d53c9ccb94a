// The api's configuration, read once at the start.

import { type DatabaseSettings, readDatabaseSettings } from '../../db/connection/database-settings.js'
import { type ExecutorAddresses, readExecutorAddresses } from '../../domain/backends/executor-addresses.js'
import { type ProviderUrls, readProviderUrls } from '../../domain/backends/quantum-providers.js'
import { readSearchAttributes, readTeamRunningMax, type SearchAttributes } from '../../domain/jobs/dispatch.js'
import { type OperatorLimits, readOperatorLimits } from '../../domain/operations/operator-limits.js'
import { type MigrateMode, readMigrateMode } from '../../domain/operations/schema.js'
import { type KeptDays, readKeptDays } from '../../domain/teams/content-retention.js'
import { type RateLimits, rateLimits, scaled } from '../../domain/teams/rate-limits.js'
import { readCheckpointSetting } from '../../services/audit/checkpoint-place.js'
import { readS3Settings, type S3Settings } from '../../services/content-store/s3-settings.js'
import { readTemporalSecurity, type TemporalSecurity } from '../../services/dispatch/temporal-security.js'
import type { OidcSettings } from '../../services/identity/oidc-client.js'
import { configuredKeyRing, type KeyRing } from '../../services/keys/key-ring.js'
import { keyPrefixAt, type RedisSettings, readRedisSettings } from '../../services/redis/redis-settings.js'
import { readTracingEndpoint } from '../../services/telemetry/tracing.js'
import { parseTrustedProxies, type TrustedProxies } from './http/limits/client-address.js'

/**
 * Connections to the database, without DATABASE_POOL_MAX: ten with the one that listens, however many requests wait for a
 * notification. One thread cannot keep more statements busy.
 */
export const POOL_MAX = 9

export interface ApiConfig {
  database: DatabaseSettings
  /** Whether this process migrates the database at its start. */
  migrateMode: MigrateMode
  redis: RedisSettings
  temporalAddress: string
  temporalSecurity: TemporalSecurity
  temporalNamespace: string
  temporalUiUrl: string | null
  taskQueue: string
  /** Names of the search attributes in Temporal. */
  searchAttributes: SearchAttributes
  queuePrefix: string
  /** `null`: jobs are accepted for workers to run, and the playground responds with 503. */
  executors: ExecutorAddresses | null
  executorToken: string
  host: string
  port: number
  publicUrl: string | null
  /** The origin of links in mails. It is never the Host header of a request, whose sender could choose where tokens go. */
  linkOrigin: string
  trustedProxies: TrustedProxies
  /** `null`: nothing is limited. */
  rateLimits: RateLimits | null
  /** `null`: credentials cannot be stored. Production requires a key ring. */
  keyRing: KeyRing | null
  /** Addresses that replace those of the providers' own services. */
  providerUrls: ProviderUrls
  /** Sign-in through an identity provider; `null`: with passwords only. */
  oidc: OidcSettings | null
  /** `true` when a mail server or a folder is configured, to which the workers send mails. */
  sendsMail: boolean
  /** Where the worker appends checkpoints of audit trails, if this process can read it; `null` if none is configured. */
  auditCheckpointsFile: string | null
  /** `null`: no metrics. */
  metricsPort: number | null
  metricsHost: string
  /** `null`: nothing is traced. */
  tracingEndpoint: string | null
  /** `false` when people can sign up without an access code. */
  codesNeeded: boolean
  /** `true` when webhooks can use http and lead into private networks. */
  webhookAllowPrivate: boolean
  /** How long the relay waits before it checks a nudged delivery. */
  redeliverSeconds: number
  /** How long a stopping api still serves, so that a balancer removes it first. */
  drainSeconds: number
  /** How many jobs a team can have in progress; further ones wait. */
  teamRunningMax: number
  /** Limits that the database's queries apply. */
  operatorLimits: OperatorLimits
  /** How long contents of jobs are kept at most. */
  keptDays: KeptDays
  /** Where large contents are besides the database; `null`: nowhere else. */
  contentStore: S3Settings | null
  logLevel: string
  /** Folders whose free space is watched. */
  storageFolders: string[]
}

/** @throws Error naming the variable that is missing or malformed. */
export function readApiConfig(env: NodeJS.ProcessEnv): ApiConfig {
  const need = (name: string): string => {
    const value = env[name]
    if (!value) throw new Error(`${name} is not set; npm start sets it, docs/operations/configuration.md describes it`)
    return value
  }
  const portOf = (name: string, text: string): number => {
    const port = Number(text)
    if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`${name} must be a port number (got ${text})`)
    return port
  }
  const port = portOf('PORT', env.PORT ?? '3000')
  const publicUrl = env.PUBLIC_URL || null
  if (publicUrl !== null && !/^https?:$/.test(URL.canParse(publicUrl) ? new URL(publicUrl).protocol : ''))
    throw new Error(`PUBLIC_URL must be an address such as https://jobs.example.org (got ${publicUrl})`)
  const redis = readRedisSettings(env)
  return {
    database: readDatabaseSettings(env, POOL_MAX),
    migrateMode: readMigrateMode(env.MIGRATE),
    redis,
    temporalAddress: need('TEMPORAL_ADDRESS'),
    temporalSecurity: readTemporalSecurity(env),
    temporalNamespace: env.TEMPORAL_NAMESPACE ?? 'default',
    temporalUiUrl: env.TEMPORAL_UI_URL?.replace(/\/+$/, '') || null,
    taskQueue: env.TEMPORAL_TASK_QUEUE ?? 'jobs',
    searchAttributes: readSearchAttributes(env.TEMPORAL_ATTRIBUTE_PREFIX),
    queuePrefix: keyPrefixAt(redis, env.QUEUE_PREFIX ?? 'qjs'),
    executors: env.EXECUTOR_URL ? readExecutorAddresses(env.EXECUTOR_URL) : null,
    executorToken: env.EXECUTOR_URL ? need('EXECUTOR_TOKEN') : '',
    host: env.HOST ?? '127.0.0.1',
    port,
    publicUrl,
    linkOrigin: publicUrl ? new URL(publicUrl).origin : `http://localhost:${port}`,
    trustedProxies: parseTrustedProxies(env.TRUSTED_PROXIES ?? ''),
    rateLimits: scaled(rateLimits, env.RATE_LIMIT_SCALE ? Number(env.RATE_LIMIT_SCALE) : 1),
    keyRing: configuredKeyRing(env),
    providerUrls: readProviderUrls(env),
    oidc: readOidcSettings(env),
    sendsMail: Boolean(env.SMTP_URL || env.MAIL_DIR),
    auditCheckpointsFile: readCheckpointSetting(env, Boolean(env.CONTENT_STORE?.trim())),
    metricsPort: env.METRICS_PORT ? portOf('METRICS_PORT', env.METRICS_PORT) : null,
    metricsHost: env.METRICS_HOST || '127.0.0.1',
    tracingEndpoint: readTracingEndpoint(env),
    codesNeeded: env.ACCESS_CODES !== 'off',
    webhookAllowPrivate: env.WEBHOOK_ALLOW_PRIVATE === '1',
    redeliverSeconds: Number(env.REDELIVER_SECONDS ?? 30),
    drainSeconds: readDrainSeconds(env.SHUTDOWN_DRAIN_SECONDS || '0'),
    teamRunningMax: readTeamRunningMax(env.TEAM_RUNNING_JOBS_MAX),
    operatorLimits: readOperatorLimits(env),
    keptDays: readKeptDays(env),
    contentStore: readS3Settings(env),
    logLevel: env.LOG_LEVEL ?? 'info',
    storageFolders: (env.STORAGE_FOLDERS ?? '').split(':').filter(Boolean)
  }
}

function readDrainSeconds(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 300)
    throw new Error(`SHUTDOWN_DRAIN_SECONDS must be a whole number from 0 to 300 (got ${text})`)
  return Number(text)
}

const oidcNames = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const

function readOidcSettings(env: NodeJS.ProcessEnv): OidcSettings | null {
  if (oidcNames.every((name) => !env[name])) return null
  for (const name of oidcNames)
    if (!env[name]) throw new Error(`${name} is not set; ${oidcNames.join(', ')} are set together or not at all`)
  if (!env.SECRETS_KEYS?.trim())
    throw new Error('SECRETS_KEYS is not set; sign-in with OIDC_ISSUER seals its cookie with it')
  const issuer = env.OIDC_ISSUER!
  const url = URL.canParse(issuer) ? new URL(issuer) : null
  const secure = url?.protocol === 'https:'
  const local = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (!url || !(secure || local) || url.username || url.search || url.hash)
    throw new Error(
      'OIDC_ISSUER must be an address such as https://accounts.example.org, without user or query, and with http only on this machine'
    )
  return { issuer, clientId: env.OIDC_CLIENT_ID!, clientSecret: env.OIDC_CLIENT_SECRET! }
}
