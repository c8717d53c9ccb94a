// Counts the executions of a script or a task that begin, so that one that loses each worker that executes it has an
// end. The count is raised and committed before anything large is loaded, and starts again when the end of an execution
// is recorded. The commit does not wait for the disk: the count has to outlive a worker, not the database.
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '../client.js'
import { type Places, perShape, query } from '../statement.js'
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
  setBegun(db, jobId, task, fence, true)

/** The execution has an end, or its work was given up in an orderly way. */
export async function endExecution(db: Db, jobId: string, task: string, fence: Fence): Promise<void> {
  await setBegun(db, jobId, task, fence, false)
}

async function setBegun(
  db: Db,
  jobId: string,
  task: string,
  { generation, lease }: Fence,
  isBegin: boolean
): Promise<number | null> {
  const shape = { isTask: task !== '', isLeased: lease !== undefined, isBegin }
  const [row] = await counting(shape)(db, { jobId, task, generation, lease: lease ?? '' })
  return row?.begun ?? null
}

interface Counted {
  jobId: string
  task: string
  generation: number
  /** For a shape that is leased. */
  lease: string
}

const counting = perShape(({ isTask, isLeased, isBegin }: { isTask: boolean; isLeased: boolean; isBegin: boolean }) =>
  query(({ jobId, task, generation, lease }: Places<Counted>, on) => {
    const held = fenceHolds({ generation, ...(isLeased && { lease }) })
    const mine = and(eq(jobs.id, jobId), inArray(jobs.status, ['running', 'cancelling']), held)
    const next = (column: typeof jobs.executionsBegun | typeof jobTasks.executionsBegun) =>
      isBegin ? sql`${column} + 1` : sql`0`
    if (!isTask)
      return on
        .update(jobs)
        .set({ executionsBegun: next(jobs.executionsBegun) })
        .where(and(mine, unflushed))
        .returning({ begun: jobs.executionsBegun })
    return on
      .update(jobTasks)
      .set({ executionsBegun: next(jobTasks.executionsBegun) })
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
  })
)
