// One execution of a script or task, counted in its row before anything large is loaded (db/jobs/executions.ts): the
// count of one that kills its workers reaches a limit, even though no worker lives to report an end.
import { beginExecution, endExecution } from '../../db/jobs/executions.js'
import type { Fence } from '../../db/jobs/fence.js'
import type { JobError } from '../../domain/errors.js'
import { EXECUTIONS_BEGUN_MAX, neverEnds } from '../../domain/jobs/value-limits.js'
import type { ExecuteDeps } from './job-attempt.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'

export interface CountedExecution {
  /** Counts once, however often it is called. Call it once a permit is held. @returns why it must not begin. */
  begin(): Promise<JobError | null>
  /** Its end is recorded, or its worker stops in an orderly way. */
  end(): Promise<void>
}

/** @param task `''` for the script itself. */
export function countedExecution(
  { db, log }: ExecuteDeps,
  { jobId, task, fence, signal }: { jobId: string; task: string; fence: Fence; signal: AbortSignal }
): CountedExecution {
  const retrying = { log, jobId, signal }
  let begun: number | null = null
  return {
    async begin() {
      begun ??= await retryWhileDatabaseAway(retrying, () => beginExecution(db, jobId, task, fence))
      return begun !== null && begun > EXECUTIONS_BEGUN_MAX ? neverEnds : null
    },
    async end() {
      if (begun === null) return
      const uncount = () => endExecution(db, jobId, task, fence)
      // A stopping worker tries once: a count too many does no harm.
      if (signal.aborted) await uncount().catch((err) => log.warn({ jobId, task, err }, 'an execution stays counted'))
      else await retryWhileDatabaseAway(retrying, uncount)
    }
  }
}
