// The metrics of a worker.
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { StatusListener } from '../../db/jobs/status-changes.js'
import type { Endpoint, Endpoints } from '../../services/executor/endpoints.js'
import type { ExecutorGate } from '../../services/executor/gate.js'
import { createJobMetrics } from '../../services/telemetry/job-metrics.js'

export const messageKinds = ['mail', 'webhook'] as const
/** `failed`: it is tried again later. `given_up`: it is not. */
export const messageOutcomes = ['sent', 'failed', 'given_up'] as const
export type MessageOutcome = (typeof messageOutcomes)[number]

export interface WorkerMetrics {
  registry: Registry
  countStatusChange: StatusListener
  /**
   * @param operation a word of a small set, never an id or an address.
   * @param outcome `ok`, or the kind of the fault.
   * @param seconds from the request to the end of its response, or to the moment when it was given up.
   */
  recordProviderCall(provider: string, operation: string, outcome: string, seconds: number): void
  /** @param step the name of an activity, or `direct` and the part of a direct job. */
  countFault(step: string): void
  /** @param step the name of an activity. */
  countRepeatedStep(step: string): void
  /** One try to send a message to a user. */
  countMessage(kind: (typeof messageKinds)[number], outcome: MessageOutcome): void
}

/** Registers them in a registry of this worker alone. */
export function createWorkerMetrics(gate: ExecutorGate, endpoints: Endpoints): WorkerMetrics {
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
  gauge('qjs_executor_permits', 'Executions that this worker can have at all executors at once.', () => gate.permits)
  gauge('qjs_executor_permits_in_use', 'Executions that this worker has at all executors.', () => gate.inUse)
  gauge('qjs_executor_permits_awaited', 'Executions that wait in this worker for a permit.', () => gate.waiting)
  const ofEach = (name: string, help: string, value: (one: Endpoint) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['executor'] as const,
      registers,
      collect() {
        this.reset()
        for (const one of endpoints.list()) this.set({ executor: one.address }, value(one))
      }
    })
  ofEach('qjs_executor_up', '1 while this worker sends executions to this executor.', ({ state }) =>
    Number(state === 'ready')
  )
  ofEach('qjs_executor_places', 'Executions that this worker can have at this executor at once.', ({ slots, state }) =>
    state === 'ready' ? slots : 0
  )
  ofEach('qjs_executor_places_in_use', 'Executions that this worker has at this executor.', ({ inUse }) => inUse)
  const providerCalls = new Histogram({
    name: 'qjs_provider_call_seconds',
    help: 'Duration of calls to providers. operation is verify, place, describe, stage, submit, find, look, counts, cancel or backends; outcome is ok, refused, unauthorized, not_found, busy, offline, retired, unreachable, unclear (the request may have arrived) or aborted.',
    labelNames: ['provider', 'operation', 'outcome'] as const,
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers
  })
  const faults = new Counter({
    name: 'qjs_job_step_faults_total',
    help: 'Steps of jobs that failed permanently, and their job with them; the log line has the job and the reason.',
    labelNames: ['step'] as const,
    registers
  })
  const repeated = new Counter({
    name: 'qjs_job_steps_repeated_total',
    help: 'Tries beyond the 20th of a step, for other reasons than waiting for its turn: each try of a step in the database, and each check of a running job (one a minute), whose log line names the job.',
    labelNames: ['step'] as const,
    registers
  })
  const messages = new Counter({
    name: 'qjs_messages_total',
    help: 'Tries to send a message to a user. kind is mail or webhook; outcome is sent, failed (it is tried again later) or given_up.',
    labelNames: ['kind', 'outcome'] as const,
    registers
  })
  // An alert compares the outcomes, so each of them is there from the start.
  for (const kind of messageKinds) for (const outcome of messageOutcomes) messages.inc({ kind, outcome }, 0)
  return {
    registry,
    countMessage: (kind, outcome) => messages.inc({ kind, outcome }),
    countFault: (step) => faults.inc({ step }),
    countRepeatedStep: (step) => repeated.inc({ step }),
    countStatusChange: createJobMetrics(registry),
    recordProviderCall: (provider, operation, outcome, seconds) =>
      providerCalls.observe({ provider, operation, outcome }, seconds)
  }
}
