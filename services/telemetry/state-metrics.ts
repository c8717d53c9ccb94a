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
  const registers = [registry]
  const known = new Gauge({
    name: 'qjs_state_known',
    help: '1 when the database has returned the state of the service, 0 when it is away or too slow.',
    registers
  })
  const jobs = new Gauge({
    name: 'qjs_jobs',
    help: 'Jobs that are not final.',
    labelNames: ['engine', 'status'] as const,
    registers
  })
  const waiting = new Gauge({
    name: 'qjs_queue_jobs',
    help: 'Waiting jobs by reason: ready (only for their turn), concurrency_limit, backend_offline, engine_unavailable, not_before, earlier_task.',
    labelNames: ['engine', 'reason'] as const,
    registers
  })
  const age = new Gauge({
    name: 'qjs_queue_age_seconds',
    help: 'Time for which the oldest of these jobs has been due.',
    labelNames: ['engine', 'reason'] as const,
    registers
  })
  const rows = new Gauge({
    name: 'qjs_outbox_rows',
    help: 'Rows of the outbox: starts of jobs that have not begun, and cancels of jobs that have not ended.',
    labelNames: ['kind'] as const,
    registers
  })
  const late = new Gauge({
    name: 'qjs_outbox_age_seconds',
    help: 'Time for which the oldest due row of the outbox has waited for a relay.',
    labelNames: ['kind'] as const,
    registers
  })
  const sweepAge = new Gauge({
    name: 'qjs_sweep_success_age_seconds',
    help: 'Time since the last successful pass of a sweep; +Inf when there was none.',
    labelNames: ['sweep'] as const,
    registers
  })
  const findings = new Gauge({
    name: 'qjs_sweep_findings',
    help: 'Findings of a sweep that a person has to look at; GET /api/admin/system lists them.',
    labelNames: ['sweep'] as const,
    registers
  })

  function show(state: ServiceState | null): void {
    for (const gauge of [jobs, waiting, age, rows, late, sweepAge, findings]) gauge.reset()
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
  // One query at a time: queries that a dead database never answers must not pile up.
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
