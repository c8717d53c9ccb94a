// Builds a worker: one process, two consumers (Temporal and the direct queue) that call the same steps, the outbox relay
// and the sweeps. `main.ts` runs it; tests run it in their own process.
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { createActivities } from '../../activities/activities.js'
import { createDirectQueue } from '../../activities/direct-queue.js'
import { createDispatcher } from '../../activities/dispatcher.js'
import { createExecutorClient } from '../../activities/executor-client.js'
import { createExecutorGate } from '../../activities/executor-gate.js'
import { createTemporalClient } from '../../activities/temporal-client.js'
import { createWebhookClient } from '../../activities/webhook-client.js'
import { reportEngines } from '../../db/backends.js'
import { connect } from '../../db/client.js'
import { createJobAnnouncer, listenToJobs } from '../../db/job-changes.js'
import type { WorkerConfig } from './config.js'
import { startDirectConsumer } from './direct-consumer.js'
import { createHeldJobs } from './held-jobs.js'
import { startLeaseSweep } from './lease-sweep.js'
import { startRelay } from './relay.js'
import { startRetentionSweep } from './retention-sweep.js'
import { startStalledSweep } from './stalled-sweep.js'
import { startTemporalWorker } from './temporal-worker.js'
import { startLoop } from './timer-loop.js'
import { startWebhookSender } from './webhook-sender.js'

// Runs slots to expect until the executor has told its own.
const INITIAL_PERMITS = 2
const DIRECT_GRACE_MS = 20_000
/** For the whole of one try of a webhook. */
const WEBHOOK_TIMEOUT_MS = 10_000

export interface RunningWorker {
  /** Polls Temporal and consumes the queue. */
  isReady(): boolean
  close(): Promise<void>
}

export function startWorker(config: WorkerConfig, log: Logger): RunningWorker {
  const { times } = config
  const connection = connect(config.databaseUrl, { max: 20 })
  const { db } = connection
  const announce = createJobAnnouncer(connection.sql)
  const executor = createExecutorClient(config.executorUrl, config.executorToken)
  const gate = createExecutorGate(INITIAL_PERMITS)
  const steps = { db, executor, gate, announce, log }

  const { client: temporal, close: closeTemporal } = createTemporalClient(
    config.temporalAddress,
    config.temporalNamespace
  )
  const directQueue = createDirectQueue(config.redisUrl, config.queuePrefix)

  const held = createHeldJobs(db, times.leaseRenewMs, log)
  const listener = listenToJobs(config.databaseUrl, held.noticed)
  const consumerRedis = new Redis(config.redisUrl, { maxRetriesPerRequest: null })
  consumerRedis.on('error', () => {})
  const consumer = startDirectConsumer(
    { ...steps, held },
    { connection: consumerRedis, prefix: config.queuePrefix, permits: INITIAL_PERMITS, log }
  )
  const temporalWorker = startTemporalWorker({
    address: config.temporalAddress,
    namespace: config.temporalNamespace,
    taskQueue: config.taskQueue,
    workflowBundle: config.workflowBundle,
    activities: createActivities(steps),
    log
  })
  const dispatcher = createDispatcher({ db, temporal, taskQueue: config.taskQueue, queue: directQueue.queue, announce })
  const webhookClient = createWebhookClient({
    allowPrivate: config.webhookAllowPrivate,
    timeoutMs: WEBHOOK_TIMEOUT_MS
  })
  const { keyRing } = config
  if (!keyRing) log.warn('SECRETS_KEYS is not set: no webhook is sent')
  const loops = [
    ...(keyRing ? [startWebhookSender({ db, keyRing, client: webhookClient, times: times.webhooks, log })] : []),
    startRelay({ db, dispatcher, announce, times, log }),
    startLeaseSweep({ db, announce, log, everyMs: times.leaseSweepMs, clock: () => performance.now() }),
    startStalledSweep({ db, temporal, announce, times, log }),
    startRetentionSweep(db, log),
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
    isReady: () => temporalWorker.isRunning() && consumer.isReady(),
    async close() {
      // What is under way may still need the leases, the database and the executor.
      await Promise.all([consumer.close(DIRECT_GRACE_MS), temporalWorker.close(), ...loops.map((loop) => loop.close())])
      await held.close()
      await webhookClient.close()
      await Promise.all([listener.close(), directQueue.close(), executor.close(), closeTemporal()])
      consumerRedis.disconnect()
      await connection.close()
    }
  }
}
