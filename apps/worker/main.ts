// The worker process: configuration, schema, run until a signal, close.
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { prepareSchema } from '../../db/migrate.js'
import { createLog, logOwnFaults } from '../../services/telemetry/log.js'
import { startMetrics } from '../../services/telemetry/metrics-server.js'
import { startTracing } from '../../services/telemetry/tracing.js'
import { readWorkerConfig } from './config.js'
import { startHealth } from './health.js'
import { startWorker } from './worker.js'

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

await prepareSchema(config.databaseUrl, config.migrateMode, (message) => log.info(message))
const tracing = config.tracingEndpoint ? await startTracing({ serviceName: 'quantum-job-service-worker', log }) : null
const worker = startWorker(config, log, tracing)
const metricsServer =
  config.metricsPort === null ? null : await startMetrics(worker.metrics, config.metricsHost, config.metricsPort)

let stopping = false
const health = startHealth(config.healthHost, config.healthPort, () => !stopping && worker.isReady())

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, async () => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    await worker.close()
    health.close()
    health.closeAllConnections()
    await Promise.all([metricsServer?.close(), tracing?.close()])
    log.info('stopped')
    process.exit(0)
  })
log.info('started')
