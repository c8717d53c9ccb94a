// The worker process: configuration, schema, run until a signal, close.
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { startDatabase } from '../../db/database-start.js'
import { openContentStore } from '../../services/content-store/open-store.js'
import { closeWithin } from '../../services/shutdown/close-within.js'
import { createLog, logOwnFaults } from '../../services/telemetry/log.js'
import { startMetrics } from '../../services/telemetry/metrics-server.js'
import { startTracing } from '../../services/telemetry/tracing.js'
import { readWorkerConfig } from './config.js'
import { startHealth } from './health.js'
import { startWorker } from './worker.js'

/**
 * What a worker may take to stop: 25 s for its jobs, and some for their ends. A supervisor that kills must wait a little longer
 * (docs/operations/deployment/few-machines.md).
 */
const CLOSE_MS = 35_000

const config = readWorkerConfig(process.env)
const log = createLog('worker', config.logLevel)
logOwnFaults(log)

// Signals are handled below; otherwise Temporal would handle them.
Runtime.install({
  shutdownSignals: [],
  logger: new DefaultLogger('WARN', ({ message, meta }) =>
    log.warn({ workflowId: meta?.workflowId, ...(meta?.error !== undefined && { err: meta.error }) }, message)
  )
})

await startDatabase(config.database, config.migrateMode, log)
const tracing = config.tracingEndpoint ? await startTracing({ serviceName: 'quantum-job-service-worker', log }) : null
const contentStore = await openContentStore(config.contentStore)
const worker = startWorker(config, log, { tracing, contentStore })
const metricsServer =
  config.metricsPort === null ? null : await startMetrics(worker.metrics, config.metricsHost, config.metricsPort)

let stopping = false
const health = startHealth(config.healthHost, config.healthPort, () => !stopping && worker.isReady())

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, async () => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    const code = await closeWithin(CLOSE_MS, log, async (part) => {
      await worker.close(part)
      contentStore?.close()
      health.close()
      health.closeAllConnections()
      await Promise.all([part('metrics', metricsServer?.close()), part('traces', tracing?.close())])
    })
    log.info('stopped')
    process.exit(code)
  })
log.info('started')
