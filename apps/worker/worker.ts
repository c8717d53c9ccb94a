// Builds a worker: one process with two consumers (Temporal and the direct queue) that call the same steps, the outbox
// relay, and the sweeps. `main.ts` starts it; tests start it in their own process.
import type { Logger } from 'pino'
import { createCapsuleActivities } from '../../activities/capsule/capsule-activities.js'
import { withoutMessages } from '../../activities/job/failure.js'
import { createActivities } from '../../activities/job/job-activities.js'
import { createTaskActivities } from '../../activities/job/task-activities.js'
import { createProviderActivities } from '../../activities/provider/provider-activities.js'
import { reportEngines } from '../../db/backends/backends.js'
import { type Connection, connect } from '../../db/client.js'
import type { ContentStore } from '../../db/content-store.js'
import { createJobAnnouncer, createRunAnnouncer, createTaskAnnouncer, listenToJobs } from '../../db/jobs/job-changes.js'
import { onStatusCommitted } from '../../db/jobs/status-changes.js'
import { teamLooksPerSecond } from '../../db/provider-jobs/team-looks.js'
import { loadSlotLimits } from '../../db/teams/slot-limits.js'
import { createDirectQueue } from '../../services/dispatch/direct-queue.js'
import { createDispatcher } from '../../services/dispatch/dispatcher.js'
import { createScheduleCopies } from '../../services/dispatch/schedule-copies.js'
import { createTemporalClient } from '../../services/dispatch/temporal-client.js'
import { versionOf } from '../../services/dispatch/workflow-version.js'
import { createExecutorClient } from '../../services/executor/client.js'
import { createExecutorGate } from '../../services/executor/gate.js'
import { createExecutorPool } from '../../services/executor/pool.js'
import { createInstallationSigner } from '../../services/keys/signer.js'
import { createMailClient } from '../../services/mail/mail-client.js'
import { createDescriptions } from '../../services/providers/descriptions.js'
import { createProviders } from '../../services/providers/providers.js'
import { createProviderRates } from '../../services/providers/rates.js'
import { TimedCache } from '../../services/providers/timed-cache.js'
import { createRateLimitStore, openRateLimitRedis } from '../../services/rate-limits/rate-limit-store.js'
import type { ClosePart } from '../../services/shutdown/close-within.js'
import { statusLogger } from '../../services/telemetry/job-log.js'
import type { Scraped } from '../../services/telemetry/metrics-server.js'
import { createStateMetrics } from '../../services/telemetry/state-metrics.js'
import type { Tracing } from '../../services/telemetry/tracing.js'
import { startJudgePool } from '../../services/threads/judge-pool.js'
import { createWebhookClient } from '../../services/webhooks/webhook-client.js'
import type { WorkerConfig } from './config.js'
import { startDirectConsumer } from './direct/direct-consumer.js'
import { createLeasedJobs } from './direct/leased-jobs.js'
import { directSpans, tracedExecutor } from './direct/spans.js'
import { createWorkerMetrics } from './metrics.js'
import { startSearchAttributeCheck } from './search-attribute-check.js'
import { startAuditCheckpointSweep } from './sweeps/audit-checkpoint-sweep.js'
import { startCapsuleJudge } from './sweeps/capsule-judge.js'
import { startCapsuleRunSweep } from './sweeps/capsule-run-sweep.js'
import { startContentRetentionSweep } from './sweeps/contents/content-retention-sweep.js'
import { startContentSweep } from './sweeps/contents/content-sweep.js'
import { startDeferredStartSweep } from './sweeps/deferred-start-sweep.js'
import { startLeaseSweep } from './sweeps/lease-sweep.js'
import { MAIL_CONNECTIONS, startMailSender } from './sweeps/mail-sender.js'
import { startMoneySweep } from './sweeps/money-sweep.js'
import { startProviderLoops } from './sweeps/provider-loops.js'
import { startRelay } from './sweeps/relay.js'
import { startRetentionSweep } from './sweeps/retention-sweep.js'
import { startScheduleSweep } from './sweeps/schedule-sweep.js'
import { startStalledSweep } from './sweeps/stalled-sweep.js'
import { startStorageSweep } from './sweeps/storage-sweep.js'
import { createSweepReports } from './sweeps/sweep-reports.js'
import { startLoop } from './sweeps/timer-loop.js'
import { startUsageSweep } from './sweeps/usage-sweep.js'
import { watchProviders } from './sweeps/watched-providers.js'
import { startWebhookSender } from './sweeps/webhook-sender.js'
import { startTemporalWorker } from './temporal-worker.js'
import { startVersionCheck } from './version-check.js'

const DIRECT_GRACE_MS = 20_000
/**
 * One in so many connections of the pool is of the sweeps alone: without them, statements of jobs that wait for locks would
 * delay what releases locks, delivers jobs and ends those of dead workers.
 */
const SWEEP_SHARE = 3
/** How long a team's number of looks is used, and of how many teams it is kept. */
const TEAM_LOOKS_MS = 5_000
const TEAM_LOOKS_MAX = 10_000
/** Limit for one try of a webhook. */
const WEBHOOK_TIMEOUT_MS = 10_000

export interface RunningWorker {
  /** Polls Temporal and consumes the queue. */
  isReady(): boolean
  /** The metrics that a Prometheus server reads. */
  metrics: Scraped
  close(part: ClosePart): Promise<void>
}

export function startWorker(
  config: WorkerConfig,
  log: Logger,
  { tracing = null, contentStore = null }: { tracing?: Tracing | null; contentStore?: ContentStore | null } = {}
): RunningWorker {
  const { times, teamRunningMax } = config
  const open = (max: number): Connection =>
    connect(config.database.url, {
      ...config.database,
      max,
      settings: config.operatorLimits,
      contentStore,
      onServerLeft: () => listener.leaveServer()
    })
  const ofSweeps = Math.max(1, Math.floor(config.database.poolMax / SWEEP_SHARE))
  const [connection, sweepConnection] = [open(config.database.poolMax - ofSweeps), open(ofSweeps)]
  const { db } = connection
  const announce = createJobAnnouncer(db, (jobId) => leased.onJobAnnounced(jobId))
  const announceTasks = createTaskAnnouncer(db)
  const announceRun = createRunAnnouncer(db)
  const executors = createExecutorPool({
    addresses: config.executors,
    connect: (address) => tracedExecutor(createExecutorClient(address, config.executorToken), tracing),
    everyMs: times.executorHealthMs,
    log
  })
  const gate = createExecutorGate(executors.endpoints)
  const metrics = createWorkerMetrics(gate, executors.endpoints)
  const logStatusChange = statusLogger(log)
  for (const pool of [connection, sweepConnection])
    onStatusCommitted(pool.db, (change) => {
      metrics.countStatusChange(change)
      logStatusChange(change)
      if (change.capsuleRunId) capsuleRuns.onRunChanged(change.capsuleRunId)
      if (change.releasedNext) for (const relay of relays) relay.wake()
    })
  const { countFault, countMessage, countRepeatedStep } = metrics
  const steps = { db, gate, announce, log, countFault, countRepeatedStep }
  const providers = createProviders(config.providerUrls, { callTimeoutMs: times.providerCallMs })
  const teamLooks = new TimedCache<number>(TEAM_LOOKS_MAX, TEAM_LOOKS_MS)
  const rateRedis = openRateLimitRedis(config.redis)
  const providerSteps = {
    ...steps,
    providers: watchProviders(providers.adapters, metrics.recordProviderCall, tracing),
    emulated: config.emulatedHardware,
    rates: createProviderRates(createRateLimitStore(rateRedis, config.queuePrefix, { log }), config.providerRateScale),
    descriptions: createDescriptions(times.providers.retryMs),
    teamLooks: (teamId: string) => teamLooks.get(teamId, () => teamLooksPerSecond(db, teamId)),
    keyRing: config.keyRing,
    providerTimes: times.providers
  }

  const target = { address: config.temporalAddress, ...config.temporalSecurity }
  const {
    client: temporal,
    connection: temporalConnection,
    close: closeTemporal
  } = createTemporalClient(target, config.temporalNamespace, tracing?.workflowClient)
  const directQueue = createDirectQueue(config.redis, config.queuePrefix)

  // A pool without a free connection lets a statement wait for those that run, which can wait for a lock for longer than a
  // lease lasts.
  const leaseConnection = connect(config.database.url, { ...config.database, max: 1 })
  const leased = createLeasedJobs(leaseConnection.db, times.leaseRenewMs, log)
  const listener = listenToJobs(config.database, leased.onJobChanged)
  const consumer = startDirectConsumer(
    { ...steps, leased },
    {
      redis: config.redis,
      prefix: config.queuePrefix,
      around: directSpans(db, tracing),
      log
    }
  )
  const version = config.temporalDeployment ? versionOf(config.temporalDeployment, config.workflowBundle) : null
  const temporalWorker = startTemporalWorker({
    target,
    namespace: config.temporalNamespace,
    taskQueue: config.taskQueue,
    workflowBundle: config.workflowBundle,
    version,
    activities: withoutMessages(
      {
        ...createActivities({ ...steps, announceTasks, yieldsSlot: true }),
        ...createTaskActivities({ ...steps, announce: announceTasks, yieldsSlot: true }),
        ...createCapsuleActivities({ ...steps, announceRun }),
        ...createProviderActivities({ ...providerSteps, yieldsSlot: true })
      },
      steps
    ),
    tracing,
    log
  })
  const { db: sweepDb } = sweepConnection
  const dispatcher = createDispatcher({
    db: sweepDb,
    temporal,
    taskQueue: config.taskQueue,
    searchAttributes: config.searchAttributes,
    queue: directQueue.queue,
    announce,
    tracing,
    log
  })
  const attributes = startSearchAttributeCheck(
    temporalConnection,
    config.temporalNamespace,
    config.searchAttributes,
    log
  )
  const webhookClient = createWebhookClient({
    allowPrivate: config.webhookAllowPrivate,
    timeoutMs: WEBHOOK_TIMEOUT_MS
  })
  const reports = createSweepReports(sweepDb, log, () => performance.now())
  const { keyRing } = config
  const mailClient = createMailClient(config.mail, MAIL_CONNECTIONS)
  if (!mailClient) log.warn('neither SMTP_URL nor MAIL_DIR is set: no mail is sent')
  if (!keyRing)
    log.warn('SECRETS_KEYS is not set: no webhook and no mail with a link is sent, and no audit trail is signed')
  if (!config.auditCheckpointsFile)
    log.warn('AUDIT_CHECKPOINTS_FILE is not set: checkpoints of audit trails stay in the database alone')
  const capsuleJudge = startCapsuleJudge({
    db: sweepDb,
    pool: startJudgePool(),
    announceRun,
    reports,
    log,
    everyMs: times.capsuleRunMs
  })
  const capsuleRuns = startCapsuleRunSweep({
    db: sweepDb,
    announce,
    announceRun,
    reports,
    log,
    everyMs: times.capsuleRunMs,
    onJudging: capsuleJudge.wake
  })
  const relays = startRelay({
    db: sweepDb,
    dispatcher,
    announce,
    times,
    teamRunningMax,
    findings: attributes.findings,
    reports,
    log,
    clock: () => performance.now()
  })
  const loops = [
    capsuleRuns,
    capsuleJudge,
    ...(keyRing
      ? [
          startWebhookSender({
            db: sweepDb,
            keyRing,
            client: webhookClient,
            times: times.webhooks,
            reports,
            countWebhook: (outcome) => countMessage('webhook', outcome),
            log
          })
        ]
      : []),
    ...(mailClient
      ? [
          startMailSender({
            db: sweepDb,
            client: mailClient,
            keyRing,
            linkOrigin: config.linkOrigin,
            times: times.mails,
            reports,
            countMail: (outcome) => countMessage('mail', outcome),
            log
          })
        ]
      : []),
    ...relays,
    attributes,
    ...(config.contentStore?.moves ? [startContentSweep({ db: sweepDb, reports, log, times: times.contents })] : []),
    ...(version ? [startVersionCheck(temporal, config.taskQueue, version, log)] : []),
    startDeferredStartSweep({ db: sweepDb, reports, log, everyMs: times.deferredSweepMs, teamRunningMax }),
    startLeaseSweep({
      db: sweepDb,
      announce,
      reports,
      log,
      everyMs: times.leaseSweepMs,
      clock: () => performance.now()
    }),
    startStalledSweep({
      db: sweepDb,
      temporal,
      announce,
      times,
      reports,
      countRepeatedStep,
      log
    }),
    startScheduleSweep({
      db: sweepDb,
      copies: createScheduleCopies(temporal, config.taskQueue),
      times: times.schedules,
      reports,
      log
    }),
    startMoneySweep({ db: sweepDb, reports, log, everyMs: times.moneySweepMs }),
    startRetentionSweep(sweepDb, reports, log),
    startContentRetentionSweep({ db: sweepDb, keptDays: config.keptDays, reports, log }),
    startStorageSweep(sweepDb, reports, log),
    startUsageSweep(sweepDb, reports, log),
    ...(keyRing
      ? startAuditCheckpointSweep({
          db: sweepDb,
          keyRing,
          signer: createInstallationSigner(sweepDb, keyRing),
          place: config.auditCheckpointsFile,
          reports,
          log
        })
      : []),
    ...startProviderLoops({ ...providerSteps, db: sweepDb, reports, log }),
    startLoop('team limits', times.teamLimitsMs, log, async () => {
      gate.setTeamLimits(await loadSlotLimits(sweepDb))
      return false
    }),
    startLoop('executor health', times.executorHealthMs, log, async () => {
      if (executors.endpoints.list().every(({ state }) => state === 'unknown')) await executors.look()
      const ready = executors.endpoints.list().filter(({ state }) => state === 'ready')
      if (ready.length === 0) return false
      consumer.setPermits(gate.permits)
      await reportEngines(sweepDb, [...new Set(ready.flatMap(({ engines }) => [...engines]))])
      return false
    })
  ]

  return {
    metrics: { registry: metrics.registry, refresh: createStateMetrics(metrics.registry, sweepDb) },
    isReady: () => temporalWorker.isRunning() && consumer.isReady(),
    async close(part) {
      // Work under way can still need the leases, the database and the executor.
      await Promise.all([
        part('direct jobs', consumer.close(DIRECT_GRACE_MS)),
        part('Temporal worker', temporalWorker.close()),
        ...loops.map((loop) => part(`loop ${loop.name}`, loop.close()))
      ])
      await part('leases', leased.close())
      await Promise.all([part('webhook client', webhookClient.close()), part('provider clients', providers.close())])
      await Promise.all([
        part('listener', listener.close()),
        part('direct queue', directQueue.close()),
        part('executor clients', executors.close()),
        part('Temporal client', closeTemporal())
      ])
      rateRedis.disconnect()
      await Promise.all([
        part('database', connection.close()),
        part('sweep connections', sweepConnection.close()),
        part('lease connection', leaseConnection.close())
      ])
    }
  }
}
