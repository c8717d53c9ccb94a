// One execution of a script or task, counted in its row before anything large is loaded (db/jobs/executions.ts): the
// count of one that kills its workers reaches a limit, even though no worker lives to report an end.
import { beginExecution, endExecution } from '../../db/jobs/executions.js'
import type { Fence } from '../../db/jobs/fence.js'
import type { JobError } from '../../domain/errors.js'
import { EXECUTIONS_BEGUN_MAX, neverEnds } from '../../domain/jobs/value-limits.js'
import { errorKind } from '../../domain/operations/error-kind.js'
import { reasonOf } from '../../domain/operations/reason.js'
import type { ExecuteDeps } from './job-attempt.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'

export interface CountedExecution {
  /** Counts once, however often it is called. Call it once a permit is held. @returns why it must not begin. */
  begin(): Promise<JobError | null>
  /**
   * Runs the execution, which calls `begin`. Once its end is recorded, it counts no more.
   * @param over what it has returned ends its task, which never begins again.
   */
  run<T>(execute: () => Promise<T>, over: (end: T) => boolean): Promise<T>
}

/** @param task `''` for the script itself. */
export function countedExecution(
  { db, log }: ExecuteDeps,
  { jobId, task, fence, signal }: { jobId: string; task: string; fence: Fence; signal: AbortSignal }
): CountedExecution {
  const retrying = { log, jobId, signal }
  let begun: number | null = null
  const uncount = () => endExecution(db, jobId, task, fence)
  return {
    async begin() {
      begun ??= await retryWhileDatabaseAway(retrying, () => beginExecution(db, jobId, task, fence))
      return begun !== null && begun > EXECUTIONS_BEGUN_MAX ? neverEnds : null
    },
    async run(execute, over) {
      try {
        const end = await execute()
        if (begun !== null && !over(end)) await retryWhileDatabaseAway(retrying, uncount)
        return end
      } catch (error) {
        // One whose statements meet conflicts or take too long stays counted: it would do so each time. One that only found
        // the database away does not, nor one whose worker stops in an orderly way.
        if (begun !== null && (signal.aborted || errorKind(error) !== 'conflict'))
          await uncount().catch((err) => log.warn({ jobId, task, reason: reasonOf(err) }, 'an execution stays counted'))
        throw error
      }
    }
  }
}
