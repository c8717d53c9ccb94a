// What a worker counts for a Prometheus server.
import { Gauge, Histogram, Registry } from 'prom-client'
import type { StatusListener } from '../../db/jobs/status-changes.js'
import type { ExecutorGate } from '../../services/executor/gate.js'
import { createJobMetrics } from '../../services/telemetry/job-metrics.js'

export interface WorkerMetrics {
  registry: Registry
  countMove: StatusListener
  /**
   * @param operation what was asked: a word of a small set, never an id or an address.
   * @param outcome `ok`, or the kind of the fault.
   * @param seconds from the request to the end of its answer, or to giving it up.
   */
  recordProviderCall(provider: string, operation: string, outcome: string, seconds: number): void
}

/** A registry of this worker alone. */
export function createWorkerMetrics(gate: ExecutorGate): WorkerMetrics {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value())
      }
    })
  gauge('qjs_executor_permits', 'Runs that this worker may have at the executor at once.', () => gate.permits)
  gauge('qjs_executor_permits_in_use', 'Runs that this worker has at the executor.', () => gate.inUse)
  gauge('qjs_executor_permits_awaited', 'Runs that wait in this worker for a permit.', () => gate.waiting)
  const providerCalls = new Histogram({
    name: 'qjs_provider_call_seconds',
    help: 'Calls to providers, by what was asked and how it ended.',
    labelNames: ['provider', 'operation', 'outcome'] as const,
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers
  })
  return {
    registry,
    countMove: createJobMetrics(registry),
    recordProviderCall: (provider, operation, outcome, seconds) =>
      providerCalls.observe({ provider, operation, outcome }, seconds)
  }
}
