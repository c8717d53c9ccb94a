// The step that runs a job's circuit, for both modes. AT-LEAST-ONCE: it may be called again after a crash, so it first
// looks for a result that is already stored, and everything it writes is fenced. Waiting for a busy or absent executor is
// no attempt; an attempt begins when the executor has accepted the run.
import { setTimeout as sleep } from 'node:timers/promises'
import { closeAttempt, completeAttempt, openAttempt } from '../db/attempts.js'
import type { Db } from '../db/client.js'
import type { AnnounceJob } from '../db/job-changes.js'
import type { Fence } from '../db/job-transition.js'
import { loadRun } from '../db/jobs.js'
import { assertNever, type JobError } from '../domain/errors.js'
import type { ExecutorClient, RunRequest } from './executor-client.js'
import type { ExecutorGate } from './executor-gate.js'
import type { RunEnd } from './executor-stream.js'

export interface ExecuteDeps {
  db: Db
  executor: ExecutorClient
  gate: ExecutorGate
  announce: AnnounceJob
  log: { warn(detail: object, message: string): void }
}

/**
 * `cancelling`: the job is this side's, and somebody wants it ended; `stopped`: it is no longer this side's at all.
 * `attempt` counts accepted runs, this one included.
 */
export type Execution =
  | { outcome: 'completed'; resultSha256: string }
  | { outcome: 'failed'; error: JobError }
  | { outcome: 'lost'; error: JobError; attempt: number }
  | { outcome: 'cancelling' }
  | { outcome: 'stopped' }

const BUSY_FIRST_MS = 100
const BUSY_MAX_MS = 2_000
const AWAY_MS = 5_000
/** One unbroken absence of the executor longer than this fails the job. */
const AWAY_DEADLINE_MS = 24 * 3_600_000

/** @param signal aborted when the job is cancelled or the worker stops; the run over there is killed then. */
export async function executeJob(
  deps: ExecuteDeps,
  jobId: string,
  fence: Fence,
  signal: AbortSignal
): Promise<Execution> {
  const job = await loadRun(deps.db, jobId)
  if (job?.storedResult) return { outcome: 'completed', resultSha256: job.storedResult }
  if (job?.status !== 'running' || job.generation !== fence.generation) return notRunning(deps.db, jobId, fence)
  const request = runRequest(jobId, job)
  if (!request)
    return { outcome: 'failed', error: { code: 'backend_unknown', message: `no backend is called ${job.backend}` } }

  let attempt: number | null = null
  const accepted = async () => {
    attempt = await persistently(deps, jobId, signal, () => openAttempt(deps.db, jobId, fence))
    deps.announce(jobId)
    return attempt !== null
  }
  // When the signal ends the wait, the attempt stays open: whoever ends or resumes the job closes it.
  const end = await runWhenPossible(deps, request, signal, accepted)
  return (await recordEnd(deps, jobId, attempt, end, signal)) ?? notRunning(deps.db, jobId, fence)
}

async function notRunning(db: Db, jobId: string, fence: Fence): Promise<Execution> {
  const job = await loadRun(db, jobId)
  const mine = job?.status === 'cancelling' && job.generation === fence.generation
  return mine ? { outcome: 'cancelling' } : { outcome: 'stopped' }
}

function runRequest(jobId: string, job: NonNullable<Awaited<ReturnType<typeof loadRun>>>): RunRequest | null {
  if (!job.engine) return null
  return {
    run_id: jobId,
    source:
      job.sourceKind === 'circuit'
        ? { kind: 'circuit', format: job.sourceFormat ?? 'qasm3', payload: job.sourceText }
        : { kind: 'code', framework: job.framework, code: job.sourceText },
    backend: job.backend,
    engine: job.engine,
    max_qubits: job.maxQubits,
    params: JSON.parse(job.params),
    limits: { wall_seconds: job.timeoutSeconds }
  }
}

type AcceptedEnd = Exclude<RunEnd, { kind: 'busy' } | { kind: 'away' }>

async function runWhenPossible(
  deps: ExecuteDeps,
  request: RunRequest,
  signal: AbortSignal,
  accepted: () => Promise<boolean>
): Promise<AcceptedEnd> {
  let busyMs = BUSY_FIRST_MS
  let awaySince: number | null = null
  while (true) {
    const leave = await deps.gate.enter(signal)
    const end = await deps.executor.run(request, signal, accepted).finally(leave)
    if (end.kind === 'busy') {
      awaySince = null
      // Jitter keeps several workers from asking in step.
      await sleep(busyMs * (0.75 + Math.random() / 2), undefined, { signal })
      busyMs = Math.min(busyMs * 2, BUSY_MAX_MS)
    } else if (end.kind === 'away') {
      awaySince ??= performance.now()
      if (performance.now() - awaySince > AWAY_DEADLINE_MS)
        return { kind: 'refused', message: `the execution service could not be reached for 24 hours (${end.message})` }
      deps.log.warn({ reason: end.message }, 'execution service away; waiting')
      await sleep(AWAY_MS, undefined, { signal })
    } else return end
  }
}

/** `null` when the attempt could not be opened or is no longer open. */
async function recordEnd(
  deps: ExecuteDeps,
  jobId: string,
  attempt: number | null,
  end: AcceptedEnd,
  signal: AbortSignal
): Promise<Execution | null> {
  const close = (state: 'failed' | 'lost', error: JobError) =>
    attempt === null
      ? false
      : persistently(deps, jobId, signal, () => closeAttempt(deps.db, jobId, attempt, state, error))
  switch (end.kind) {
    case 'completed': {
      if (attempt === null) return null
      const resultSha256 = await persistently(deps, jobId, signal, () =>
        completeAttempt(deps.db, jobId, attempt, end.result, end.artifacts)
      )
      return resultSha256 ? { outcome: 'completed', resultSha256 } : null
    }
    case 'failed':
      await close('failed', end.error)
      return { outcome: 'failed', error: end.error }
    case 'refused':
      return { outcome: 'failed', error: { code: 'execution_error', message: end.message } }
    case 'lost': {
      if (attempt === null) return null
      const error = { code: 'execution_service_lost', message: end.message } as const
      await close('lost', error)
      deps.announce(jobId)
      return { outcome: 'lost', error, attempt }
    }
    default:
      return assertNever(end)
  }
}

/** Repeats a write until the database takes it: a finished simulation is never run again because of a database that was away. */
async function persistently<T>(
  deps: ExecuteDeps,
  jobId: string,
  signal: AbortSignal,
  write: () => Promise<T>
): Promise<T> {
  for (let waitMs = 200; ; waitMs = Math.min(waitMs * 2, AWAY_MS)) {
    try {
      return await write()
    } catch (error) {
      deps.log.warn({ jobId, err: error }, 'database away; keeping the outcome until it is back')
      await sleep(waitMs, undefined, { signal })
    }
  }
}
