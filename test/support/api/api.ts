import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Logger } from 'pino'
import { buildApp } from '../../../apps/api/app.js'
import type { ApiDeps } from '../../../apps/api/deps.js'
import { parseTrustedProxies, type TrustedProxies } from '../../../apps/api/http/limits/client-address.js'
import { createMetrics } from '../../../apps/api/http/telemetry/metrics.js'
import { createAccessCode, grantPlatformAdmin } from '../../../db/accounts/accounts.js'
import { connect } from '../../../db/client.js'
import { createJobAnnouncer, createRunAnnouncer, listenToJobs } from '../../../db/jobs/job-changes.js'
import { searchAttributesWith } from '../../../domain/jobs/dispatch.js'
import { readKeptDays } from '../../../domain/teams/content-retention.js'
import type { RateLimits } from '../../../domain/teams/rate-limits.js'
import { createDiskSpace, type DiskSpaceOptions } from '../../../services/disk/disk-space.js'
import { createDirectQueue } from '../../../services/dispatch/direct-queue.js'
import { createDispatcher } from '../../../services/dispatch/dispatcher.js'
import { assertAccepts } from '../../../services/dispatch/target-probe.js'
import { createTargetState } from '../../../services/dispatch/target-state.js'
import { createTemporalClient } from '../../../services/dispatch/temporal-client.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { type KeyRing, readKeyRing } from '../../../services/keys/key-ring.js'
import { createInstallationSigner } from '../../../services/keys/signer.js'
import { createMailer } from '../../../services/mail/mailer.js'
import type { Mail } from '../../../services/mail/message.js'
import { connectRateLimitRedis, createRateLimitStore } from '../../../services/rate-limits/rate-limit-store.js'
import { openRedis } from '../../../services/redis/redis-connection.js'
import { readRedisSettings } from '../../../services/redis/redis-settings.js'
import { startComparePool } from '../../../services/threads/compare-pool.js'
import { startSealPool } from '../../../services/threads/seal-pool.js'
import { submission } from '../jobs/builders.js'
import { createTestDatabase, type TestDatabase } from '../stack/database.js'

export interface ApiResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  /** The parsed body; `undefined` when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape.
  body: any
}

export type Headers = Record<string, string>

/** Sends one request. A string or a Buffer is sent unchanged, any other body as JSON. */
export type SendRequest = (method: string, path: string, body?: unknown, headers?: Headers) => Promise<ApiResponse>

export interface TestUser {
  id: string
  email: string
  cookie: string
  ask: SendRequest
  get(path: string): Promise<ApiResponse>
  post(path: string, body?: unknown): Promise<ApiResponse>
  /** The id of an accepted submission. */
  submit(body: Record<string, unknown>): Promise<string>
}

export interface ApiOptions {
  /** Default: a database of its own, dropped by `close`. */
  database?: TestDatabase
  config?: Partial<ApiDeps['config']>
  probes?: Partial<ApiDeps['probes']>
  redisUrl?: string
  temporalAddress?: string
  /** `null`: none is configured. */
  executorUrl?: string | null
  executorDeadlineMs?: number
  streamTimes?: ApiDeps['streamTimes']
  /** Default: the product's budget of memory. */
  largeLimits?: ApiDeps['largeLimits']
  /** Connections of the pool; the default is the product's. */
  poolMax?: number
  /** Default: a ring of one key, the same for all files. */
  keyRing?: KeyRing | null
  /** Default: none, so that no credential is checked with a provider. */
  providers?: ApiDeps['providers']
  /** Default: none is configured. */
  oidc?: ApiDeps['oidc']
  /** Default: none is built. */
  consoleFolder?: string
  /** Default: no folder is watched. */
  disk?: Partial<DiskSpaceOptions>
  /** Default: nothing is logged. */
  log?: Logger
  now?: () => Date
  /** Default: none. */
  limits?: RateLimits
  trustedProxies?: TrustedProxies
}

export const PASSWORD = 'correct horse battery'

export const testKeyRing = readKeyRing(`test:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`)

let users = 0

/** @param file names the database, the queue prefix and the task queue. */
export async function startApi(file: string, options: ApiOptions = {}) {
  const database = options.database ?? (await createTestDatabase(file))
  const poolMax = options.poolMax ?? 20
  const pool = connect(database.url, { max: poolMax })
  const announce = createJobAnnouncer(pool.db)
  const listener = listenToJobs({ directUrl: database.url })
  let held = 0
  const counted: ApiDeps['listener'] = {
    on(jobId, changed) {
      const off = listener.on(jobId, changed)
      held++
      return () => {
        held--
        off()
      }
    },
    onAny: (watcher) => listener.onAny(watcher),
    close: () => listener.close()
  }
  const redis = readRedisSettings({ REDIS_URL: options.redisUrl ?? process.env.TEST_REDIS_URL! })
  const directQueue = createDirectQueue(redis, database.name)
  const { client: temporal, close: closeTemporal } = createTemporalClient(
    { address: options.temporalAddress ?? process.env.TEST_TEMPORAL_ADDRESS! },
    'default'
  )
  // Tests of limits count requests: none may be let through because Redis was slow on a busy machine.
  const patient = options.redisUrl === undefined
  const limitsRedis = patient ? openRedis(redis, {}) : await connectRateLimitRedis(redis)
  const mails: Mail[] = []
  const { executorUrl = process.env.TEST_EXECUTOR_URL! } = options
  const executor = executorUrl === null ? null : createExecutorClient(executorUrl, process.env.TEST_EXECUTOR_TOKEN!)
  const metrics = createMetrics()
  const keyRing = options.keyRing === undefined ? testKeyRing : options.keyRing
  const sealing = startSealPool()
  const comparing = startComparePool()
  const mailer = createMailer({ sends: true, keyRing, log: options.log ?? { warn: () => {} } })
  const dispatcher = createDispatcher({
    db: pool.db,
    temporal,
    taskQueue: database.name,
    searchAttributes: searchAttributesWith(''),
    queue: directQueue.queue,
    announce,
    log: options.log ?? { warn: () => {}, error: () => {} }
  })
  const deps: ApiDeps = {
    config: {
      temporalUiUrl: null,
      temporalNamespace: 'default',
      publicUrl: null,
      linkOrigin: 'http://localhost',
      codesNeeded: true,
      redeliverSeconds: 30,
      teamRunningMax: 1_000,
      webhookAllowPrivate: false,
      auditCheckpointsFile: null,
      keptDays: readKeptDays({}),
      ...options.config
    },
    db: pool.db,
    poolMax,
    listener: counted,
    announce,
    announceRun: createRunAnnouncer(pool.db),
    limiter: {
      store: createRateLimitStore(limitsRedis, database.name, patient ? { timeoutMs: 30_000 } : {}),
      // Tests send more requests than people do; tests of the limits set their own.
      limits: options.limits ?? null,
      trustedProxies: options.trustedProxies ?? parseTrustedProxies('')
    },
    keyRing,
    signer: createInstallationSigner(pool.db, keyRing),
    sealing,
    comparing,
    providers: options.providers ?? new Map(),
    oidc: options.oidc ?? null,
    mailer: {
      sends: true,
      async send(tx, mail, ...rest) {
        await mailer.send(tx, mail, ...rest)
        mails.push(mail)
      }
    },
    dispatcher,
    ...(options.consoleFolder && { consoleFolder: options.consoleFolder }),
    disk: createDiskSpace({ folders: [], log: options.log ?? { error: () => {} }, ...options.disk }),
    metrics,
    tracing: null,
    engines: createTargetState({ queue: directQueue.queue, temporal, taskQueue: database.name }),
    executor,
    ...(options.streamTimes && { streamTimes: options.streamTimes }),
    ...(options.largeLimits && { largeLimits: options.largeLimits }),
    ...(options.executorDeadlineMs && { executorDeadlineMs: options.executorDeadlineMs }),
    probes: {
      database: () => pool.sql`select 1`,
      redis: async () => {
        await directQueue.ping()
        await assertAccepts(pool.db, dispatcher, 'Redis')
      },
      temporal: async () => {
        await temporal.withDeadline(Date.now() + 1_500, () =>
          temporal.workflowService.describeNamespace({ namespace: 'default' })
        )
        await assertAccepts(pool.db, dispatcher, 'Temporal')
      },
      executor: async () => executor?.health() ?? Promise.reject(new Error('no executor is configured')),
      ...options.probes
    },
    now: options.now ?? (() => new Date())
  }
  const app = await buildApp(deps, options.log ? { loggerInstance: options.log } : { logger: false })

  const ask = createRequester(app)
  let closed: Promise<void> | null = null
  return {
    app,
    deps,
    database,
    queue: directQueue.queue,
    announce,
    metrics,
    ask,
    /** The mails sent so far, oldest first. */
    mails,

    /** How many requests wait for a change of a job: each has read the job's status already. */
    waitingPolls: (): number => held,

    /** A signed-in user with an account of its own. */
    async signUp(account: { email?: string; admin?: boolean } = {}): Promise<TestUser> {
      const email = account.email ?? `user-${++users}@example.org`
      const code = await createAccessCode(database.db, { uses: 1 })
      const answer = await ask('POST', '/api/auth/sign-up', { email, password: PASSWORD, code })
      if (answer.status !== 201) throw new Error(`sign-up answered ${answer.status}: ${answer.text}`)
      if (account.admin) await grantPlatformAdmin(database.db, email)
      return userOf(ask, email, answer)
    },

    /** A signed-in user whose personal team exists. */
    async signUpWithTeam(account: { email?: string; admin?: boolean } = {}): Promise<TestUser & { teamId: string }> {
      const user = await this.signUp(account)
      await user.submit(submission())
      const { teams } = (await user.get('/api/auth/session')).body
      return { ...user, teamId: teams[0].id }
    },

    /** Opens a port for tests that need sockets. @returns the base URL. */
    async listen(): Promise<string> {
      return app.listen({ host: '127.0.0.1', port: 0 })
    },

    /** Closes everything, and drops the database if it was created here. */
    close(): Promise<void> {
      closed ??= (async () => {
        await app.close()
        await Promise.allSettled([
          sealing.close(),
          comparing.close(),
          listener.close(),
          directQueue.close(),
          executor?.close(),
          closeTemporal()
        ])
        limitsRedis.disconnect()
        await pool.close()
        if (!options.database) await database.drop()
      })()
      return closed
    }
  }
}

export type TestApi = Awaited<ReturnType<typeof startApi>>

function createRequester(app: FastifyInstance): SendRequest {
  return async (method, path, body, headers = {}) => {
    const raw = typeof body === 'string' || Buffer.isBuffer(body)
    const response = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: path,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { payload: raw ? body : JSON.stringify(body) })
    })
    return responseOf(response.statusCode, response.headers as ApiResponse['headers'], response.payload)
  }
}

export function responseOf(status: number, headers: ApiResponse['headers'], text: string): ApiResponse {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // Not JSON: `text` has the body.
  }
  return { status, headers, text, body }
}

/** The session cookie that a response sets, as a client sends it back. */
export function cookieOf(answer: ApiResponse): string {
  const header = [answer.headers['set-cookie']].flat()[0]
  if (!header) throw new Error(`no cookie in a response ${answer.status}: ${answer.text}`)
  return header.split(';')[0]!
}

function userOf(ask: SendRequest, email: string, answer: ApiResponse): TestUser {
  const cookie = cookieOf(answer)
  const asUser: SendRequest = (method, path, body, headers) => ask(method, path, body, { cookie, ...headers })
  return {
    id: answer.body.user.id,
    email,
    cookie,
    ask: asUser,
    get: (path) => asUser('GET', path),
    post: (path, body) => asUser('POST', path, body),
    async submit(body) {
      const submitted = await asUser('POST', '/api/jobs/submit', body)
      if (submitted.status !== 201) throw new Error(`submit answered ${submitted.status}: ${submitted.text}`)
      return submitted.body.job_id
    }
  }
}

/** The address of a port without a listener. */
export const deadAddress = async (): Promise<string> => '127.0.0.1:2'
