// Builds a worker: one process, two consumers (Temporal and the direct queue) that call the same steps, the outbox relay
// and the sweeps. `main.ts` runs it; tests run it in their own process.
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { createCapsuleActivities } from '../../activities/capsule/capsule-activities.js'
import { createActivities } from '../../activities/job/job-activities.js'
import { createTaskActivities } from '../../activities/job/task-activities.js'
import { createProviderActivities } from '../../activities/provider/provider-activities.js'
import { reportEngines } from '../../db/backends/backends.js'
import { connect } from '../../db/client.js'
import { createJobAnnouncer, createTaskAnnouncer, listenToJobs } from '../../db/jobs/job-changes.js'
import { onStatusCommitted } from '../../db/jobs/status-changes.js'
import { createDirectQueue } from '../../services/dispatch/direct-queue.js'
import { createDispatcher } from '../../services/dispatch/dispatcher.js'
import { createScheduleCopies } from '../../services/dispatch/schedule-copies.js'
import { createTemporalClient } from '../../services/dispatch/temporal-client.js'
import { createExecutorClient } from '../../services/executor/client.js'
import { createExecutorGate } from '../../services/executor/gate.js'
import { createInstallationSigner } from '../../services/keys/signer.js'
import { createPostman } from '../../services/mail/mail-client.js'
import { createProviders } from '../../services/providers/providers.js'
import { logMoves } from '../../services/telemetry/job-log.js'
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
import { startAuditCheckpointSweep } from './sweeps/audit-checkpoint-sweep.js'
import { startCapsuleJudge } from './sweeps/capsule-judge.js'
import { startCapsuleRunSweep } from './sweeps/capsule-run-sweep.js'
import { startDeferredStartSweep } from './sweeps/deferred-start-sweep.js'
import { startLeaseSweep } from './sweeps/lease-sweep.js'
import { MAIL_LANES, startMailSender } from './sweeps/mail-sender.js'
import { startMoneySweep } from './sweeps/money-sweep.js'
import { startProviderLoops } from './sweeps/provider-loops.js'
import { startRelay } from './sweeps/relay.js'
import { startRetentionSweep } from './sweeps/retention-sweep.js'
import { startScheduleSweep } from './sweeps/schedule-sweep.js'
import { startStalledSweep } from './sweeps/stalled-sweep.js'
import { createSweepNotes } from './sweeps/sweep-notes.js'
import { startLoop } from './sweeps/timer-loop.js'
import { startUsageSweep } from './sweeps/usage-sweep.js'
import { watchProviders } from './sweeps/watched-providers.js'
import { startWebhookSender } from './sweeps/webhook-sender.js'
import { startTemporalWorker } from './temporal-worker.js'

// Runs slots to expect until the executor has told its own.
const INITIAL_PERMITS = 2
const DIRECT_GRACE_MS = 20_000
/** For the whole of one try of a webhook. */
const WEBHOOK_TIMEOUT_MS = 10_000

export interface RunningWorker {
  /** Polls Temporal and consumes the queue. */
  isReady(): boolean
  /** What a Prometheus server reads. */
  metrics: Scraped
  close(): Promise<void>
}

export function startWorker(config: WorkerConfig, log: Logger, tracing: Tracing | null = null): RunningWorker {
  const { times, teamRunningMax } = config
  const connection = connect(config.databaseUrl, { max: 20 })
  const { db } = connection
  const announce = createJobAnnouncer(connection.sql)
  const executor = tracedExecutor(createExecutorClient(config.executorUrl, config.executorToken), tracing)
  const gate = createExecutorGate(INITIAL_PERMITS)
  const metrics = createWorkerMetrics(gate)
  const logMove = logMoves(log)
  onStatusCommitted(db, (move) => {
    metrics.countMove(move)
    logMove(move)
    if (move.capsuleRunId) capsuleRuns.noticed(move.capsuleRunId)
  })
  const steps = { db, executor, gate, announce, log }
  const providers = createProviders(config.providerUrls, { callTimeoutMs: times.providerCallMs })
  const providerSteps = {
    ...steps,
    providers: watchProviders(providers.adapters, metrics.recordProviderCall, tracing),
    keyRing: config.keyRing,
    providerTimes: times.providers
  }

  const { client: temporal, close: closeTemporal } = createTemporalClient(
    config.temporalAddress,
    config.temporalNamespace,
    tracing?.workflowClient
  )
  const directQueue = createDirectQueue(config.redisUrl, config.queuePrefix)

  const leased = createLeasedJobs(db, times.leaseRenewMs, log)
  const listener = listenToJobs(config.databaseUrl, leased.onJobChanged)
  const consumerRedis = new Redis(config.redisUrl, { maxRetriesPerRequest: null })
  consumerRedis.on('error', () => {})
  const consumer = startDirectConsumer(
    { ...steps, leased },
    {
      connection: consumerRedis,
      prefix: config.queuePrefix,
      permits: INITIAL_PERMITS,
      around: directSpans(db, tracing),
      log
    }
  )
  const temporalWorker = startTemporalWorker({
    address: config.temporalAddress,
    namespace: config.temporalNamespace,
    taskQueue: config.taskQueue,
    workflowBundle: config.workflowBundle,
    activities: {
      ...createActivities(steps),
      ...createTaskActivities({ ...steps, announce: createTaskAnnouncer(connection.sql) }),
      ...createCapsuleActivities(steps),
      ...createProviderActivities(providerSteps)
    },
    tracing,
    log
  })
  const dispatcher = createDispatcher({
    db,
    temporal,
    taskQueue: config.taskQueue,
    queue: directQueue.queue,
    announce,
    tracing
  })
  const webhookClient = createWebhookClient({
    allowPrivate: config.webhookAllowPrivate,
    timeoutMs: WEBHOOK_TIMEOUT_MS
  })
  const notes = createSweepNotes(db, log, () => performance.now())
  const { keyRing } = config
  const postman = createPostman(config.mail, MAIL_LANES)
  if (!postman) log.warn('neither SMTP_URL nor MAIL_DIR is set: nobody is mailed about the end of a job')
  if (!keyRing) log.warn('SECRETS_KEYS is not set: no webhook is sent, and no audit trail is signed')
  if (!config.auditCheckpointsFile)
    log.warn('AUDIT_CHECKPOINTS_FILE is not set: signed points of audit trails stay in the database alone')
  const capsuleJudge = startCapsuleJudge({ db, pool: startJudgePool(), notes, log, everyMs: times.capsuleRunMs })
  const capsuleRuns = startCapsuleRunSweep({
    db,
    announce,
    notes,
    log,
    everyMs: times.capsuleRunMs,
    toBeJudged: capsuleJudge.wake
  })
  const loops = [
    capsuleRuns,
    capsuleJudge,
    ...(keyRing ? [startWebhookSender({ db, keyRing, client: webhookClient, times: times.webhooks, notes, log })] : []),
    ...(postman
      ? [startMailSender({ db, postman, linkOrigin: config.linkOrigin, times: times.mails, notes, log })]
      : []),
    startRelay({ db, dispatcher, announce, times, teamRunningMax, notes, log }),
    startDeferredStartSweep({ db, notes, log, everyMs: times.heldSweepMs, teamRunningMax }),
    startLeaseSweep({ db, announce, notes, log, everyMs: times.leaseSweepMs, clock: () => performance.now() }),
    startStalledSweep({ db, temporal, announce, times, notes, log }),
    startScheduleSweep({
      db,
      copies: createScheduleCopies(temporal, config.taskQueue),
      times: times.schedules,
      notes,
      log
    }),
    startMoneySweep({ db, notes, log, everyMs: times.moneySweepMs }),
    startRetentionSweep(db, notes, log),
    startUsageSweep(db, notes, log),
    ...(keyRing
      ? startAuditCheckpointSweep({
          db,
          keyRing,
          signer: createInstallationSigner(db, keyRing),
          file: config.auditCheckpointsFile,
          notes,
          log
        })
      : []),
    ...startProviderLoops({ ...providerSteps, notes, log, emulated: config.emulatedHardware }),
    startLoop('executor health', times.executorHealthMs, log, async () => {
      const health = await executor.health().catch(() => null)
      if (!health) return false
      gate.setPermits(health.slots.total)
      consumer.setPermits(health.slots.total)
      await reportEngines(
        db,
        health.engines.map(({ name }) => name)
      )
      return false
    })
  ]

  return {
    metrics: { registry: metrics.registry, refresh: createStateMetrics(metrics.registry, db) },
    isReady: () => temporalWorker.isRunning() && consumer.isReady(),
    async close() {
      // What is under way may still need the leases, the database and the executor.
      await Promise.all([consumer.close(DIRECT_GRACE_MS), temporalWorker.close(), ...loops.map((loop) => loop.close())])
      await leased.close()
      await Promise.all([webhookClient.close(), providers.close()])
      await Promise.all([listener.close(), directQueue.close(), executor.close(), closeTemporal()])
      consumerRedis.disconnect()
      await connection.close()
    }
  }
}
