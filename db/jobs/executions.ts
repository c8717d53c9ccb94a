// Counts the executions of a script or a task that begin, so that one that loses each worker that executes it has an
// end. The count is raised and committed before anything large is loaded, and starts again when the end of an execution
// is recorded. The commit does not wait for the disk: the count has to outlive a worker, not the database.
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../client.js'
import { jobs, jobTasks } from '../tables/jobs.js'
import { unflushed } from '../unflushed.js'
import { type Fence, fenceHolds } from './fence.js'

/**
 * Counts one more execution.
 * @param task `''` for the script itself.
 * @returns how many have started since the last recorded end, this one included; `null` when this worker has lost the
 * job, or the task has finished.
 */
export const beginExecution = (db: Db, jobId: string, task: string, fence: Fence): Promise<number | null> =>
  setBegun(db, jobId, task, fence, (column) => sql`${column} + 1`)

/** The execution has an end, or its work was given up in an orderly way. */
export async function endExecution(db: Db, jobId: string, task: string, fence: Fence): Promise<void> {
  await setBegun(db, jobId, task, fence, () => sql`0`)
}

async function setBegun(
  db: Db,
  jobId: string,
  task: string,
  fence: Fence,
  value: (column: typeof jobs.executionsBegun | typeof jobTasks.executionsBegun) => SQL
): Promise<number | null> {
  const mine = and(eq(jobs.id, jobId), inArray(jobs.status, ['running', 'cancelling']), fenceHolds(fence))
  const changed =
    task === ''
      ? await db
          .update(jobs)
          .set({ executionsBegun: value(jobs.executionsBegun) })
          .where(and(mine, unflushed))
          .returning({ begun: jobs.executionsBegun })
      : await db
          .update(jobTasks)
          .set({ executionsBegun: value(jobTasks.executionsBegun) })
          .where(
            and(
              eq(jobTasks.jobId, jobId),
              eq(jobTasks.key, task),
              inArray(jobTasks.state, ['pending', 'running']),
              sql`exists (select 1 from ${jobs} where ${mine})`,
              unflushed
            )
          )
          .returning({ begun: jobTasks.executionsBegun })
  return changed[0]?.begun ?? null
}
