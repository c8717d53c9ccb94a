// The step that executes a job's circuit or script, for both modes. AT-LEAST-ONCE: it can be called again after a crash, so
// it first looks for a stored result, and all its writes are fenced. Waiting for a busy or absent executor is not an
// attempt; an attempt begins when the executor accepts the execution.
//
// A durable script can request work outside its process (run-program.ts): this step then returns the request, and is called
// again when the work is done.

import { openAttempt } from '../../db/jobs/attempts.js'
import type { Fence } from '../../db/jobs/fence.js'
import { loadJobRun } from '../../db/jobs/jobs.js'
import { EXECUTIONS_BEGUN_MAX, neverEnds } from '../../domain/jobs/value-limits.js'
import type { RunEnd } from '../../services/executor/stream.js'
import { whenExecutorCan } from '../../services/executor/wait.js'
import { type ExecuteDeps, type Execution, jobAttempt } from './job-attempt.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'
import { mayRequestWork, runProgram } from './run-program.js'
import { callOf, requestOf } from './run-request.js'
import { runSweep } from './run-sweep.js'

/** @param signal aborts when the job is cancelled or the worker stops; the executor then stops the execution. */
export async function executeJob(
  deps: ExecuteDeps,
  jobId: string,
  fence: Fence,
  signal: AbortSignal
): Promise<Execution> {
  // A direct job is claimed already, and no other worker would repeat this step for it.
  const retrying = { log: deps.log, jobId, signal }
  const job = await retryWhileDatabaseAway(retrying, () => loadJobRun(deps.db, jobId))
  if (job?.storedResult) return { outcome: 'completed', resultSha256: job.storedResult }
  if (job?.status !== 'running' || job.generation !== fence.generation) return notRunning(deps, jobId, fence, signal)
  if (job.pointsTotal !== null && job.engine)
    return (await runSweep(deps, jobId, job, fence, signal)) ?? notRunning(deps, jobId, fence, signal)
  if (mayRequestWork(job))
    return (await runProgram(deps, jobId, job, fence, signal)) ?? notRunning(deps, jobId, fence, signal)
  if (!job.engine)
    return { outcome: 'failed', error: { code: 'backend_unknown', message: `no backend is called ${job.backend}` } }
  // No attempt of a plain job is followed by another unless it was lost, so the attempts count its lost workers.
  if (job.accepted >= EXECUTIONS_BEGUN_MAX) return { outcome: 'failed', error: neverEnds }
  const request = requestOf(job, jobId, job.timeoutSeconds)
  const attempt = jobAttempt(deps, jobId, job, fence, signal, () => openAttempt(deps.db, jobId, fence))
  // When the signal ends the wait, the attempt stays open; the step that ends or resumes the job closes it.
  const end = await attempt.output.during(
    whenExecutorCan<RunEnd>(deps, callOf(job, jobId), signal, (executor) =>
      executor.run(request, signal, attempt.accepted, attempt.output.printed)
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
  const mine = job?.status === 'cancelling' && job.generation === fence.generation
  return mine ? { outcome: 'cancelling' } : { outcome: 'stopped' }
}
