// What the database knows of the service as a whole, as gauges. Every process that is asked tells the same, so an operator
// takes the maximum over processes, and one that lives is enough. Looked up when somebody reads, at most every few seconds.
import pTimeout from 'p-timeout'
import { Gauge, type Registry } from 'prom-client'
import type { DbOrTx } from '../../db/client.js'
import { type ServiceState, serviceState } from '../../db/service/service-state.js'

/** Several readers and a short interval must not become load on the database. */
const KEEP_MS = 5_000
/** A scrape is given up after ten seconds by default; the other figures must be there long before. */
const DEADLINE_MS = 2_000

const engines = ['direct', 'temporal'] as const

/** @returns brings the gauges up to date; without an answer of the database they are removed and `qjs_state_known` is 0. */
export function createStateMetrics(registry: Registry, db: DbOrTx): () => Promise<void> {
  const registers = [registry]
  const known = new Gauge({
    name: 'qjs_state_known',
    help: '1 when the database has told the state of the service, 0 when it is away or too slow.',
    registers
  })
  const jobs = new Gauge({
    name: 'qjs_jobs',
    help: 'Jobs that are not final, by status.',
    labelNames: ['engine', 'status'] as const,
    registers
  })
  const waiting = new Gauge({
    name: 'qjs_queue_jobs',
    help: 'Waiting jobs by what they wait for; ready: for nothing but their turn.',
    labelNames: ['engine', 'reason'] as const,
    registers
  })
  const age = new Gauge({
    name: 'qjs_queue_age_seconds',
    help: 'How long the oldest waiting job has been due.',
    labelNames: ['engine', 'reason'] as const,
    registers
  })
  const rows = new Gauge({
    name: 'qjs_outbox_rows',
    help: 'Rows of the outbox: what engines have to be told, or told again until a job has begun or ended.',
    labelNames: ['kind'] as const,
    registers
  })
  const late = new Gauge({
    name: 'qjs_outbox_age_seconds',
    help: 'For how long the oldest due row of the outbox has waited for a relay.',
    labelNames: ['kind'] as const,
    registers
  })
  const sweepAge = new Gauge({
    name: 'qjs_sweep_success_age_seconds',
    help: 'Since the last successful pass of a sweep; +Inf when there was none.',
    labelNames: ['sweep'] as const,
    registers
  })
  const findings = new Gauge({
    name: 'qjs_sweep_findings',
    help: 'What a sweep has found that a person has to look at.',
    labelNames: ['sweep'] as const,
    registers
  })

  function show(state: ServiceState | null): void {
    for (const gauge of [jobs, waiting, age, rows, late, sweepAge, findings]) gauge.reset()
    known.set(state ? 1 : 0)
    if (!state) return
    // What there is none of is 0, not absent: an alert on it has to see that it is over.
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
  // One look at a time: those that a dead database leaves unanswered do not pile up.
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
