// Counts the changes of jobs' statuses that this process commits: each once, however often a step is retried. Labels are
// words of small sets, never ids.
import { Counter, Histogram, type Registry } from 'prom-client'
import type { StatusChange } from '../../db/jobs/status-changes.js'
import { isFinal } from '../../domain/jobs/job-status.js'

/** Seconds. A simulation takes milliseconds, a place in a provider's queue takes days. */
const buckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 43_200, 259_200]

export function createJobMetrics(registry: Registry): (change: StatusChange) => void {
  const started = new Counter({
    name: 'qjs_jobs_started_total',
    help: 'Jobs that began to run.',
    labelNames: ['mode', 'backend'] as const,
    registers: [registry]
  })
  const queued = new Histogram({
    name: 'qjs_job_queue_seconds',
    help: 'Time from the moment when a job could have started (its creation, or not_before) to its start.',
    labelNames: ['mode', 'backend'] as const,
    buckets,
    registers: [registry]
  })
  const ended = new Counter({
    name: 'qjs_jobs_ended_total',
    help: 'Jobs that reached a final status; code is that of the error, or none.',
    labelNames: ['mode', 'backend', 'status', 'code'] as const,
    registers: [registry]
  })
  const ran = new Histogram({
    name: 'qjs_job_run_seconds',
    help: 'Time from the start of a job to its final status, for jobs that started.',
    labelNames: ['mode', 'backend', 'status'] as const,
    buckets,
    registers: [registry]
  })
  return ({ to, mode, backend, errorCode, queuedSeconds, ranSeconds }) => {
    if (to === 'running') {
      started.inc({ mode, backend })
      if (queuedSeconds !== null) queued.observe({ mode, backend }, queuedSeconds)
    } else if (isFinal(to)) {
      ended.inc({ mode, backend, status: to, code: errorCode ?? 'none' })
      if (ranSeconds !== null) ran.observe({ mode, backend, status: to }, ranSeconds)
    }
  }
}
