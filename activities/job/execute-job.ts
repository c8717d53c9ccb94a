// The step that runs a job's circuit or script, for both modes. AT-LEAST-ONCE: it may be called again after a crash, so it
// first looks for a result that is already stored, and everything it writes is fenced. Waiting for a busy or absent executor
// is no attempt; an attempt begins when the executor has accepted the run.
//
// A durable script may ask for something that is not done in its process (run-program.ts): this step then ends with what is
// asked, and is called again when that is done.

import type { Db } from '../../db/client.js'
import { openAttempt } from '../../db/jobs/attempts.js'
import type { Fence } from '../../db/jobs/fence.js'
import { loadJobRun } from '../../db/jobs/jobs.js'
import type { RunEnd } from '../../services/executor/stream.js'
import { whenExecutorCan } from '../../services/executor/wait.js'
import { type ExecuteDeps, type Execution, jobAttempt } from './job-attempt.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'
import { mayRequestWork, runProgram } from './run-program.js'
import { requestOf } from './run-request.js'

/** @param signal aborted when the job is cancelled or the worker stops; the run over there is killed then. */
export async function executeJob(
  deps: ExecuteDeps,
  jobId: string,
  fence: Fence,
  signal: AbortSignal
): Promise<Execution> {
  // A direct job is claimed already, and nobody would do this again for it.
  const kept = { log: deps.log, jobId, signal }
  const job = await retryWhileDatabaseAway(kept, () => loadJobRun(deps.db, jobId))
  if (job?.storedResult) return { outcome: 'completed', resultSha256: job.storedResult }
  if (job?.status !== 'running' || job.generation !== fence.generation) return notRunning(deps.db, jobId, fence)
  if (mayRequestWork(job))
    return (await runProgram(deps, jobId, job, fence, signal)) ?? notRunning(deps.db, jobId, fence)
  if (!job.engine)
    return { outcome: 'failed', error: { code: 'backend_unknown', message: `no backend is called ${job.backend}` } }
  const request = requestOf(job, jobId, job.timeoutSeconds)
  const attempt = jobAttempt(deps, jobId, job, fence, signal, () => openAttempt(deps.db, jobId, fence))
  // When the signal ends the wait, the attempt stays open: whoever ends or resumes the job closes it.
  const end = await whenExecutorCan<RunEnd>(deps, signal, () => deps.executor.run(request, signal, attempt.accepted))
  return (await attempt.ended(end, !fence.lease)) ?? notRunning(deps.db, jobId, fence)
}

async function notRunning(db: Db, jobId: string, fence: Fence): Promise<Execution> {
  const job = await loadJobRun(db, jobId)
  const mine = job?.status === 'cancelling' && job.generation === fence.generation
  return mine ? { outcome: 'cancelling' } : { outcome: 'stopped' }
}
