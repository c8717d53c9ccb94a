// Durable jobs that have made no progress for a while: their workflow may be lost. A restart is one conditional UPDATE
// to the next generation and an outbox row. The fence stops the former workflow from writing any more.
import { and, eq, inArray, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { finalStatuses, type JobStatus } from '../../domain/jobs/job-status.js'
import { anyOf, type Db } from '../client.js'
import { now } from '../clock.js'
import { transition } from '../jobs/job-transition.js'
import { jobs, outbox } from '../tables/jobs.js'
import { outboxFacts, recordFailure } from './job-steps.js'

/** A job that has lost its workflow this often has a fault that another restart will not fix. */
const RESTARTS_MAX = 5
/** The same for changes of the workflow's code: an upgrade and the way back, a few times. */
const CODE_RESTARTS_MAX = 20

export interface StalledJob {
  id: string
  generation: number
  status: JobStatus
  missing: boolean
}

const stalledColumns = {
  id: jobs.id,
  generation: jobs.generation,
  status: jobs.status,
  missing: sql<boolean>`${jobs.missingSince} is not null`
}
const isOpen = and(eq(jobs.durable, true), inArray(jobs.status, ['pending', 'running', 'cancelling']))

/** A job that was quiet for this long when it was checked is next checked after the same time again, in seconds. */
const LONG_QUIET = 120
/** A job is checked this often at least, in seconds. */
const CHECK_PAUSE_MAX = 3_600

/**
 * At most `limit` open jobs without progress for `quietSeconds` that are due to be checked. The pauses between the checks of one
 * job double up to an hour: at a provider it can be queued for days. Only a check that was made counts (`markChecked`), since
 * Temporal or the worker can be gone in between.
 */
export async function quietJobs(db: Db, quietSeconds: number, limit: number): Promise<StalledJob[]> {
  const quiet = sql`${now} - make_interval(secs => ${quietSeconds})`
  const quietAtCheck = sql`extract(epoch from ${jobs.checkedAt} - ${jobs.updatedAt})`
  const pause = sql`make_interval(secs => case when ${quietAtCheck} < ${LONG_QUIET} then ${quietSeconds}
    else least(${CHECK_PAUSE_MAX}, greatest(${quietSeconds}, ${quietAtCheck})) end)`
  return db
    .select(stalledColumns)
    .from(jobs)
    .where(
      and(
        isOpen,
        lt(jobs.updatedAt, quiet),
        // A job whose workflow is missing or fails is checked again at the next pass.
        or(
          isNull(jobs.checkedAt),
          lt(jobs.checkedAt, sql`${now} - ${pause}`),
          isNotNull(jobs.missingSince),
          isNotNull(jobs.workflowFailingSince)
        ),
        // The relay is responsible for rows that were never delivered.
        sql`not exists (select 1 from ${outbox} where ${outbox.jobId} = ${jobs.id} and ${outbox.kind} = 'start' and ${outbox.deliveries} = 0)`
      )
    )
    .limit(limit)
}

/** The workflow of a job has been looked at. */
export async function markChecked(db: Db, jobId: string): Promise<void> {
  await db
    .update(jobs)
    .set({ checkedAt: now })
    .where(and(eq(jobs.id, jobId), isOpen))
}

/** Those of the jobs that are still open in their generation, however long they have been quiet. */
export async function openAmong(db: Db, of: readonly { id: string; generation: number }[]): Promise<StalledJob[]> {
  const generations = new Map(of.map(({ id, generation }) => [id, generation]))
  const rows = await db
    .select(stalledColumns)
    .from(jobs)
    .where(and(anyOf(jobs.id, [...generations.keys()]), isOpen))
  return rows.filter(({ id, generation }) => generations.get(id) === generation)
}

/**
 * Records that Temporal responded and does not have the job's workflow.
 * @returns whether it was already missing `confirmSeconds` ago, which makes it lost.
 */
export async function markMissing(db: Db, jobId: string, generation: number, confirmSeconds: number): Promise<boolean> {
  const [row] = await db
    .update(jobs)
    .set({ missingSince: sql`coalesce(${jobs.missingSince}, ${now})` })
    .where(and(eq(jobs.id, jobId), eq(jobs.generation, generation)))
    .returning({ lost: sql<boolean>`${jobs.missingSince} <= ${now} - make_interval(secs => ${confirmSeconds})` })
  return row?.lost ?? false
}

/** @param failing whether its own code fails at each try. */
export async function markWorkflowFound(db: Db, jobId: string, failing: boolean): Promise<void> {
  const { missingSince, workflowFailingSince } = jobs
  const changes = failing
    ? or(isNotNull(missingSince), isNull(workflowFailingSince))
    : or(isNotNull(missingSince), isNotNull(workflowFailingSince))
  await db
    .update(jobs)
    .set({ missingSince: null, workflowFailingSince: failing ? sql`coalesce(${workflowFailingSince}, ${now})` : null })
    .where(and(eq(jobs.id, jobId), isOpen, changes))
}

/** The open jobs whose workflow fails at each try, those that have failed longest first. */
export const jobsWithFailingWorkflow = (db: Db, limit: number): Promise<{ id: string }[]> =>
  db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(isOpen, isNotNull(jobs.workflowFailingSince)))
    .orderBy(jobs.workflowFailingSince)
    .limit(limit)

/**
 * Why a job needs another workflow. `cancelling`: an operator terminated the former one, and the new one only cleans up.
 * `code_changed`: the workers no longer run the code of the former one.
 */
export type Restart = 'lost' | 'cancelling' | 'code_changed'

/**
 * Gives a job that is not final a new workflow.
 * @returns whether this call did it.
 */
export async function restartWorkflow(
  db: Db,
  jobId: string,
  generation: number,
  restart: Restart
): Promise<'restarted' | 'gave_up' | 'lost'> {
  return db.transaction(async (tx) => {
    const [updated] = await tx
      .update(jobs)
      .set({
        generation: generation + 1,
        codeRestarts: sql`${jobs.codeRestarts} + ${restart === 'code_changed' ? 1 : 0}`,
        missingSince: null,
        workflowFailingSince: null,
        checkedAt: now,
        updatedAt: now
      })
      .where(
        and(
          eq(jobs.id, jobId),
          eq(jobs.generation, generation),
          sql`${jobs.status} not in (${sql.join(
            finalStatuses.map((status) => sql`${status}`),
            sql`, `
          )})`
        )
      )
      .returning({ ...outboxFacts, codeRestarts: jobs.codeRestarts })
    if (!updated) return 'lost'
    const { codeRestarts, ...job } = updated
    if (generation - codeRestarts > RESTARTS_MAX || codeRestarts > CODE_RESTARTS_MAX) {
      await recordFailure(tx, jobId, {
        code: 'internal_error',
        message: `the workflow of this job was lost ${generation} times; an operator has to check Temporal`
      })
      return 'gave_up'
    }
    if (restart === 'cancelling')
      await transition(tx, jobId, 'cancelling', {
        reason: 'terminated in the workflow engine',
        set: { cancelRequestedAt: now }
      })
    const row = { deliveries: 0, dueAt: now, nextAt: now, unreachableSince: null, heldReason: null, ...job }
    await tx
      .insert(outbox)
      .values({ jobId, kind: 'start', ...row })
      .onConflictDoUpdate({ target: [outbox.jobId, outbox.kind], set: row })
    await tx
      .update(outbox)
      .set({ generation: generation + 1 })
      .where(and(eq(outbox.jobId, jobId), eq(outbox.kind, 'cancel')))
    return 'restarted'
  })
}
