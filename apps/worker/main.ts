// The worker process: configuration, migration, run until a signal, close.
import { createServer } from 'node:http'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { migrate } from '../../db/migrate.js'
import { createLog, logOwnFaults } from '../../services/telemetry/log.js'
import { startMetrics } from '../../services/telemetry/metrics-server.js'
import { startTracing } from '../../services/telemetry/tracing.js'
import { readWorkerConfig } from './config.js'
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

await migrate(config.databaseUrl)
const tracing = config.tracingEndpoint ? await startTracing({ serviceName: 'quantum-job-service-worker', log }) : null
const worker = startWorker(config, log, tracing)
const metricsServer =
  config.metricsPort === null ? null : await startMetrics(worker.metrics, config.metricsHost, config.metricsPort)

const health = createServer((request, response) => {
  const ready = worker.isReady()
  const known = request.url === '/healthz'
  response.writeHead(known ? (ready ? 200 : 503) : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(known ? { ready } : { error: 'not found' }))
})
health.listen(config.healthPort, '127.0.0.1')

let stopping = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, async () => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    health.close()
    health.closeAllConnections()
    await worker.close()
    await Promise.all([metricsServer?.close(), tracing?.close()])
    log.info('stopped')
    process.exit(0)
  })
log.info('started')
