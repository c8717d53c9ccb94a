// The step that executes a job's circuit or script, for both modes. AT-LEAST-ONCE: it can be called again after a crash, so
// it first looks for a stored result, and all its writes are fenced. Waiting for a busy or absent executor is not an
// attempt; an attempt begins when the executor accepts the execution.
//
// A durable script can request work outside its process (run-program.ts): this step then returns the request, and is called
// again when the work is done.

import { openAttempt } from '../../db/jobs/attempts.js'
import type { Fence } from '../../db/jobs/fence.js'
import { type JobRun, loadJobRun } from '../../db/jobs/jobs.js'
import { EXECUTIONS_BEGUN_MAX, neverEnds } from '../../domain/jobs/value-limits.js'
import type { RunEnd } from '../../services/executor/stream.js'
import { whenExecutorCan } from '../../services/executor/wait.js'
import { briefAttempt, type ExecuteDeps, type Execution, type JobAttempt, jobAttempt } from './job-attempt.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'
import type { OnProgress } from './run-graph.js'
import { mayRequestWork, runProgram } from './run-program.js'
import { callOf, requestOf } from './run-request.js'
import { runSweep } from './run-sweep.js'

/**
 * @param signal aborts when the job is cancelled or the worker stops; the executor then stops the execution.
 * @param isFirst no earlier call can have executed the job in this generation.
 * @param onProgress is told how many tasks of a graph are completed.
 */
export async function executeJob(
  deps: ExecuteDeps,
  jobId: string,
  fence: Fence,
  signal: AbortSignal,
  { isFirst, onProgress = () => {} }: { isFirst: boolean; onProgress?: OnProgress }
): Promise<Execution> {
  // A direct job is claimed already, and no other worker would repeat this step for it.
  const retrying = { log: deps.log, jobId, signal }
  const job = await retryWhileDatabaseAway(retrying, () => loadJobRun(deps.db, jobId))
  const ended = job && storedEnd(job, fence)
  if (ended) return ended
  if (job?.status !== 'running' || job.generation !== fence.generation) return notRunning(deps, jobId, fence, signal)
  if (job.pointsTotal !== null && job.engine)
    return (await runSweep(deps, jobId, job, fence, signal)) ?? notRunning(deps, jobId, fence, signal)
  if (mayRequestWork(job))
    return (await runProgram(deps, jobId, job, fence, signal, onProgress)) ?? notRunning(deps, jobId, fence, signal)
  if (!job.engine)
    return { outcome: 'failed', error: { code: 'backend_unknown', message: `no backend is called ${job.backend}` } }
  // No attempt of a plain job is followed by another unless it was lost, so the attempts count its lost workers.
  if (job.accepted >= EXECUTIONS_BEGUN_MAX) return { outcome: 'failed', error: neverEnds }
  const request = requestOf(job, jobId, job.timeoutSeconds)
  const attempted = { jobId, job, fence, signal }
  const attempt: JobAttempt =
    isFirst && fence.generation === 1
      ? briefAttempt(deps, attempted)
      : jobAttempt(deps, attempted, () => openAttempt(deps.db, jobId, fence))
  // When the signal ends the wait, the attempt stays open; the step that ends or resumes the job closes it.
  const end = await attempt.output.during(
    whenExecutorCan<RunEnd>(deps, callOf(job, jobId), attempt.signal, (executor) =>
      executor.run(request, attempt.signal, attempt.accepted, attempt.output.printed)
    )
  )
  return (await attempt.ended(end, !fence.lease)) ?? notRunning(deps, jobId, fence, signal)
}

async function notRunning(
  { db, log }: ExecuteDeps,
  jobId: string,
  fence: Fence,
  signal: AbortSignal
): Promise<Execution> {
  const job = await retryWhileDatabaseAway({ log, jobId, signal }, () => loadJobRun(db, jobId))
  // A try of this call stored it, and the response was lost.
  const ended = job && storedEnd(job, fence)
  if (ended) return ended
  const mine = job?.status === 'cancelling' && job.generation === fence.generation
  return mine ? { outcome: 'cancelling' } : { outcome: 'stopped' }
}

/** The result that an earlier try has stored; `null` when the job has ended otherwise, or another worker has it. */
function storedEnd({ storedResult, status, generation }: JobRun, fence: Fence): Execution | null {
  const isCurrent = generation === fence.generation && ['running', 'cancelling', 'completed'].includes(status)
  return storedResult && isCurrent
    ? { outcome: 'completed', resultSha256: storedResult, ended: status === 'completed' }
    : null
}
