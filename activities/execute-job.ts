// The step that runs a job's circuit, for both modes. AT-LEAST-ONCE: it may be called again after a crash, so it first
// looks for a result that is already stored, and everything it writes is fenced. Waiting for a busy or absent executor is
// no attempt; an attempt begins when the executor has accepted the run.
import { closeAttempt, completeAttempt, openAttempt } from '../db/attempts.js'
import type { Db } from '../db/client.js'
import type { AnnounceJob } from '../db/job-changes.js'
import type { Fence } from '../db/job-transition.js'
import { loadRun } from '../db/jobs.js'
import { assertNever, type JobError } from '../domain/errors.js'
import { waitAfterAttempt } from '../domain/retry.js'
import { type ExecutorClient, type RunRequest, sourceOf } from './executor-client.js'
import type { ExecutorGate } from './executor-gate.js'
import type { RunEnd } from './executor-stream.js'
import { type Waited, whenExecutorCan } from './executor-wait.js'
import { persistently } from './persistently.js'

export interface ExecuteDeps {
  db: Db
  executor: ExecutorClient
  gate: ExecutorGate
  announce: AnnounceJob
  log: { info(detail: object, message: string): void; warn(detail: object, message: string): void }
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

  const kept = { log: deps.log, jobId, signal }
  const ids = { jobId, teamId: job.teamId, requestId: job.requestId, generation: fence.generation }
  let attempt: number | null = null
  const accepted = async () => {
    attempt = await persistently(kept, () => openAttempt(deps.db, jobId, fence))
    if (attempt !== null) deps.log.info({ ...ids, attempt }, 'job attempt begun')
    deps.announce(jobId)
    return attempt !== null
  }
  // When the signal ends the wait, the attempt stays open: whoever ends or resumes the job closes it.
  const end = await whenExecutorCan<RunEnd>(deps, signal, () => deps.executor.run(request, signal, accepted))
  if (attempt !== null)
    deps.log.info(
      { ...ids, attempt, end: end.kind, ...('error' in end && { code: end.error.code }) },
      'job attempt ended'
    )
  return (await recordEnd(deps, jobId, attempt, end, signal, !fence.lease)) ?? notRunning(deps.db, jobId, fence)
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
    source: sourceOf(job),
    backend: job.backend,
    engine: job.engine,
    max_qubits: job.maxQubits,
    params: JSON.parse(job.params),
    limits: { wall_seconds: job.timeoutSeconds }
  }
}

type AcceptedEnd = Waited<RunEnd>

/**
 * `null` when the attempt could not be opened or is no longer open.
 * @param retried the job is durable: an execution that is lost is followed by another, up to a number.
 */
async function recordEnd(
  deps: ExecuteDeps,
  jobId: string,
  attempt: number | null,
  end: AcceptedEnd,
  signal: AbortSignal,
  retried: boolean
): Promise<Execution | null> {
  const kept = { log: deps.log, jobId, signal }
  const close = (state: 'failed' | 'lost', error: JobError, backoffMs: number | null = null) =>
    attempt === null ? false : persistently(kept, () => closeAttempt(deps.db, jobId, attempt, state, error, backoffMs))
  switch (end.kind) {
    case 'completed': {
      if (attempt === null) return null
      const resultSha256 = await persistently(kept, () =>
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
      await close('lost', error, retried ? waitAfterAttempt(attempt) : null)
      deps.announce(jobId)
      return { outcome: 'lost', error, attempt }
    }
    default:
      return assertNever(end)
  }
}
