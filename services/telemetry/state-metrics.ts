// The state of the service as the database has it, as gauges. Every process reports the same values, so operators take the
// maximum over processes, and one live process is enough. Read on each scrape, at most every few seconds.
import pTimeout from 'p-timeout'
import { Gauge, type Registry } from 'prom-client'
import type { DbOrTx } from '../../db/client.js'
import { type ServiceState, serviceState } from '../../db/service/service-state.js'

/** Several readers and a short interval must not become load on the database. */
const KEEP_MS = 5_000
/** Prometheus gives up a scrape after ten seconds by default; the other metrics must be ready long before. */
const DEADLINE_MS = 2_000

const engines = ['direct', 'temporal'] as const

/** @returns updates the gauges; when the database does not respond, they are removed and `qjs_state_known` is 0. */
export function createStateMetrics(registry: Registry, db: DbOrTx): () => Promise<void> {
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const known = gauge(
    'qjs_state_known',
    '1 when the database has returned the state of the service, 0 when it is away or too slow.',
    []
  )
  const jobs = gauge('qjs_jobs', 'Jobs that are not final.', ['engine', 'status'])
  const waiting = gauge(
    'qjs_queue_jobs',
    'Waiting jobs by reason: ready (only for their turn), concurrency_limit, backend_offline, engine_unavailable, not_before, earlier_task.',
    ['engine', 'reason']
  )
  const age = gauge('qjs_queue_age_seconds', 'Time for which the oldest of these jobs has been due.', [
    'engine',
    'reason'
  ])
  const rows = gauge(
    'qjs_outbox_rows',
    'Rows of the outbox: starts of jobs that have not started, and cancels of jobs that have not finished.',
    ['kind']
  )
  const late = gauge(
    'qjs_outbox_age_seconds',
    'Time for which the oldest due row of the outbox has waited for a relay.',
    ['kind']
  )
  const sweepAge = gauge(
    'qjs_sweep_success_age_seconds',
    'Time since the last successful pass of a sweep; +Inf when there was none.',
    ['sweep']
  )
  const findings = gauge(
    'qjs_sweep_findings',
    'Findings of a sweep that an operator has to check; GET /api/admin/system lists them.',
    ['sweep']
  )

  function show(state: ServiceState | null): void {
    for (const metric of [jobs, waiting, age, rows, late, sweepAge, findings]) metric.reset()
    known.set(state ? 1 : 0)
    if (!state) return
    // An empty set is 0, not absent: an alert must see that its cause is gone.
    for (const engine of engines) {
      for (const status of ['pending', 'running', 'cancelling']) jobs.set({ engine, status }, 0)
      waiting.set({ engine, reason: 'ready' }, 0)
      age.set({ engine, reason: 'ready' }, 0)
    }
    for (const kind of ['start', 'cancel']) {
      rows.set({ kind }, 0)
      late.set({ kind }, 0)
    }
    for (const { engine, status, jobs: count } of state.underWay) jobs.set({ engine, status }, count)
    for (const { engine, reason, jobs: count, oldestSeconds } of state.waiting) {
      jobs.inc({ engine, status: 'pending' }, count)
      waiting.set({ engine, reason }, count)
      age.set({ engine, reason }, oldestSeconds)
    }
    for (const { kind, rows: count, lateSeconds } of state.outbox) {
      rows.set({ kind }, count)
      late.set({ kind }, lateSeconds)
    }
    for (const { name, successSeconds, findings: count } of state.sweeps) {
      sweepAge.set({ sweep: name }, successSeconds ?? Number.POSITIVE_INFINITY)
      findings.set({ sweep: name }, count)
    }
  }

  let shownAt = Number.NEGATIVE_INFINITY
  // One query at a time: queries to a dead database must not pile up.
  let look: Promise<void> | null = null
  return async () => {
    if (performance.now() - shownAt < KEEP_MS) return
    look ??= serviceState(db)
      .then(show, () => show(null))
      .finally(() => {
        shownAt = performance.now()
        look = null
      })
    await pTimeout(look, { milliseconds: DEADLINE_MS, fallback: () => show(null) })
  }
}
