// The api process: it reads the configuration, prepares the schema, connects, listens, and closes on a signal. No other file does any of
// this.
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from '../../db/client.js'
import { startDatabase } from '../../db/database-start.js'
import { createJobAnnouncer, createRunAnnouncer, listenToJobs } from '../../db/jobs/job-changes.js'
import { onStatusCommitted } from '../../db/jobs/status-changes.js'
import { openContentStore } from '../../services/content-store/open-store.js'
import { createDiskSpace } from '../../services/disk/disk-space.js'
import { createDirectQueue } from '../../services/dispatch/direct-queue.js'
import { createDispatcher } from '../../services/dispatch/dispatcher.js'
import { assertAccepts, TargetRefusal } from '../../services/dispatch/target-probe.js'
import { createTargetState } from '../../services/dispatch/target-state.js'
import { createTemporalClient } from '../../services/dispatch/temporal-client.js'
import { createExecutorClient } from '../../services/executor/client.js'
import { createExecutorPool } from '../../services/executor/pool.js'
import { createRoutedExecutor, executorsProblem, protocolRefusal } from '../../services/executor/routed-client.js'
import { createOidcClient } from '../../services/identity/oidc-client.js'
import { createInstallationSigner } from '../../services/keys/signer.js'
import { createMailer } from '../../services/mail/mailer.js'
import { missingRingKeys } from '../../services/providers/credentials.js'
import { createProviders } from '../../services/providers/providers.js'
import { connectRateLimitRedis, createRateLimitStore } from '../../services/rate-limits/rate-limit-store.js'
import { closeWithin } from '../../services/shutdown/close-within.js'
import { statusLogger } from '../../services/telemetry/job-log.js'
import { createLog, logOwnFaults } from '../../services/telemetry/log.js'
import { startMetrics } from '../../services/telemetry/metrics-server.js'
import { createStateMetrics } from '../../services/telemetry/state-metrics.js'
import { startTracing } from '../../services/telemetry/tracing.js'
import { startComparePool } from '../../services/threads/compare-pool.js'
import { startSealPool } from '../../services/threads/seal-pool.js'
import { buildApp } from './app.js'
import { readApiConfig } from './config.js'
import { createMetrics } from './http/telemetry/metrics.js'
import { logResponses } from './http/telemetry/request-log.js'

/**
 * What an api may take to stop once it has drained. A supervisor that kills must wait a little longer
 * (docs/operations/deployment/few-machines.md).
 */
const CLOSE_MS = 15_000
/** Between two looks at the executors. */
const EXECUTOR_LOOK_MS = 5_000

const config = readApiConfig(process.env)
const log = createLog('api', config.logLevel)
logOwnFaults(log)

await startDatabase(config.database, config.migrateMode, log)
const contentStore = await openContentStore(config.contentStore)
const { db, close: closeDatabase } = connect(config.database.url, {
  ...config.database,
  max: config.database.poolMax,
  settings: config.operatorLimits,
  contentStore,
  onServerLeft: () => listener.leaveServer()
})
const missingKeys = await missingRingKeys(db, config.keyRing)
if (missingKeys.length > 0)
  log.error(
    { missingKeys },
    'credentials in the database are sealed with keys that SECRETS_KEYS does not hold: put them back'
  )
const announce = createJobAnnouncer(db)
const listener = listenToJobs(config.database)
const tracing = config.tracingEndpoint ? await startTracing({ serviceName: 'quantum-job-service-api', log }) : null
const metrics = createMetrics()
// The api starts and responds while Temporal, Redis or the executor is unavailable.
const { client: temporal, close: closeTemporal } = createTemporalClient(
  { address: config.temporalAddress, ...config.temporalSecurity },
  config.temporalNamespace,
  tracing?.workflowClient
)
const providers = createProviders(config.providerUrls)
const directQueue = createDirectQueue(config.redis, config.queuePrefix)
const executors = config.executors
  ? createExecutorPool({
      addresses: config.executors,
      connect: (address) => createExecutorClient(address, config.executorToken),
      everyMs: EXECUTOR_LOOK_MS,
      log
    })
  : null
const executor = executors && createRoutedExecutor(executors)

const logStatusChange = statusLogger(log)
onStatusCommitted(db, (change) => {
  metrics.countStatusChange(change)
  logStatusChange(change)
})
const limitsRedis = await connectRateLimitRedis(config.redis)
const signer = createInstallationSigner(db, config.keyRing)
// Created at the start, so that its public half can be looked up at once.
if (config.keyRing) await signer().catch((err) => log.error({ err }, 'seals cannot be signed'))
const sealing = startSealPool()
const comparing = startComparePool()
const mailer = createMailer({ sends: config.sendsMail, keyRing: config.keyRing, log })

const dispatcher = createDispatcher({
  db,
  temporal,
  taskQueue: config.taskQueue,
  searchAttributes: config.searchAttributes,
  queue: directQueue.queue,
  announce,
  tracing,
  log
})

const app = await buildApp(
  {
    config,
    db,
    poolMax: config.database.poolMax,
    listener,
    announce,
    announceRun: createRunAnnouncer(db),
    limiter: {
      store: createRateLimitStore(limitsRedis, config.queuePrefix, { failures: metrics.rateLimitStoreFailures, log }),
      limits: config.rateLimits,
      trustedProxies: config.trustedProxies
    },
    mailer,
    keyRing: config.keyRing,
    signer,
    sealing,
    comparing,
    providers: providers.adapters,
    oidc:
      config.oidc && config.keyRing
        ? createOidcClient({
            ...config.oidc,
            redirectUri: `${config.linkOrigin}/api/auth/oidc/callback`,
            keyRing: config.keyRing,
            log
          })
        : null,
    dispatcher,
    // This program is dist/apps/api/server.js.
    consoleFolder: join(import.meta.dirname, '../../console'),
    disk: createDiskSpace({ folders: config.storageFolders, log }),
    metrics,
    tracing,
    engines: createTargetState({ queue: directQueue.queue, temporal, taskQueue: config.taskQueue }),
    executor,
    probes: {
      database: () => db.execute('select 1'),
      redis: async () => {
        await directQueue.ping()
        await assertAccepts(db, dispatcher, 'Redis')
      },
      temporal: async () => {
        // Ends before the probe itself times out, so that nothing is left to retry on a closed connection.
        await temporal.withDeadline(Date.now() + 1_500, () =>
          temporal.workflowService.describeNamespace({ namespace: config.temporalNamespace })
        )
        await assertAccepts(db, dispatcher, 'Temporal')
      },
      executor: async () => {
        if (!executors) throw new Error('EXECUTOR_URL is not set')
        await executors.look()
        const all = executors.endpoints.list()
        const [refusal, problem] = [protocolRefusal(all), executorsProblem(all)]
        if (refusal) throw new TargetRefusal(refusal)
        if (problem || all.length === 0) throw new Error(problem ?? executors.endpoints.absence({}).message)
      }
    },
    now: () => new Date()
  },
  { loggerInstance: log }
)
const { registry } = metrics
const metricsServer =
  config.metricsPort === null
    ? null
    : await startMetrics(
        { registry, refresh: createStateMetrics(registry, db) },
        config.metricsHost,
        config.metricsPort
      )
logResponses(app)
app.addHook('onResponse', (request, reply, done) => {
  const { url: route } = request.routeOptions
  metrics.observeRequest({ method: request.method, route, status: reply.statusCode, seconds: reply.elapsedTime / 1000 })
  done()
})

let stopping = false
const drained = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, async () => {
    // A second signal means now.
    if (stopping) return drained.abort()
    stopping = true
    log.info({ signal, drainSeconds: config.drainSeconds }, 'stopping')
    app.startClosing()
    await delay(config.drainSeconds * 1_000, null, { signal: drained.signal }).catch(() => {})
    const code = await closeWithin(CLOSE_MS, log, async (part) => {
      await part('requests', app.close())
      await Promise.all([part('seals', sealing.close()), part('comparisons', comparing.close())])
      await part('metrics', metricsServer?.close())
      limitsRedis.disconnect()
      await Promise.all([
        part('listener', listener.close()),
        part('direct queue', directQueue.close()),
        part('executor client', executors?.close()),
        part('provider clients', providers.close()),
        part('Temporal client', closeTemporal()),
        part('traces', tracing?.close())
      ])
      await part('database', closeDatabase())
      contentStore?.close()
    })
    process.exit(code)
  })

try {
  await app.listen({ host: config.host, port: config.port })
} catch (err) {
  log.fatal({ err, host: config.host, port: config.port }, 'cannot listen; set PORT or HOST to an address that is free')
  process.exit(1)
}
