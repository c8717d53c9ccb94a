// How a run proceeds: a completed task starts the next one with its result filled in; a failed or cancelled task stops
// the rest. Every step is one transaction that decides by the rows alone, so it does not matter which process runs it,
// how often, or which process died before. db/capsule-runs/capsule-runs.ts defines the order of locks.
import { and, asc, eq, exists, sql } from 'drizzle-orm'
import { assertParams } from '../../domain/backends/backend.js'
import { assertParameters } from '../../domain/capsules/capsule-definition.js'
import type { CapsuleRunStatus } from '../../domain/capsules/capsule-state.js'
import { fillReferences, tasksNeededBy } from '../../domain/capsules/capsule-suite.js'
import { ServiceError, validationError } from '../../domain/errors.js'
import { isFinal, type JobStatus } from '../../domain/jobs/job-status.js'
import { paramsFromText } from '../../domain/jobs/params/params.js'
import { storableText } from '../../domain/json/json-guard.js'
import { findBackend } from '../backends/backends.js'
import { anyOf, type Db, type DbOrTx, type Tx } from '../client.js'
import { now } from '../clock.js'
import { recordFailure, requestCancel } from '../job-steps/job-steps.js'
import { resultText } from '../jobs/attempts.js'
import { sweepTransaction } from '../sweep-rows.js'
import { teams } from '../tables/accounts.js'
import { capsuleRuns, capsuleRunTasks, capsules } from '../tables/capsules.js'
import { jobs, outbox } from '../tables/jobs.js'
import { afterVerdict } from './capsule-alerts.js'

/**
 * The effect of a step. `changed`: jobs whose watchers have to be notified. `again`: there may be more to do at once.
 */
export interface Step {
  status: CapsuleRunStatus | null
  changed: string[]
  again: boolean
}

const nothing = (status: CapsuleRunStatus | null): Step => ({ status, changed: [], again: false })

/** Advances a run by the states of its jobs. Repeating it has no further effect. */
export async function advanceRun(db: Db, runId: string): Promise<Step> {
  const done: Step = nothing(null)
  do {
    const step = await sweepTransaction(db, (tx) => advanceOnce(tx, runId))
    done.status = step.status
    done.again = step.again
    done.changed.push(...step.changed)
  } while (done.again)
  return done
}

async function advanceOnce(tx: Tx, runId: string): Promise<Step> {
  const run = await lockRun(tx, runId)
  if (!run) return nothing(null)
  if (run.status !== 'pending' && run.status !== 'running') return nothing(run.status)
  const tasks = await tasksOf(tx, runId)
  if (run.status === 'pending') {
    if (tasks.every(({ status }) => status === 'pending')) return nothing('pending')
    await begin(tx, runId)
  }
  if (tasks.every(({ status }) => status === 'completed'))
    return end(tx, runId, run.mode === 'verify' ? 'judging' : 'completed', null)
  const stopped = tasks.find(isStopped)
  if (stopped) return stop(tx, runId, tasks)
  const next = tasks.find(({ status }) => status !== 'completed')!
  return next.deferred ? releaseStep(tx, tasks, next) : nothing('running')
}

/** Locks the team and the capsule before the run, since the step may create a confirming run. */
async function lockRun(tx: Tx, runId: string) {
  const ofRun = and(eq(capsuleRuns.id, runId), eq(capsuleRuns.capsuleId, capsules.id))
  const locked = await tx
    .select({ id: capsules.id })
    .from(capsules)
    .innerJoin(teams, eq(teams.id, capsules.teamId))
    .where(exists(tx.select({ id: capsuleRuns.id }).from(capsuleRuns).where(ofRun)))
    .for('share')
  if (locked.length === 0) return null
  // Without the definition, which can have megabytes.
  const [run] = await tx
    .select({ mode: capsuleRuns.mode, status: capsuleRuns.status })
    .from(capsuleRuns)
    .where(eq(capsuleRuns.id, runId))
    .for('update')
  return run ?? null
}

interface StepOfRun {
  jobId: string
  name: string
  status: JobStatus
  errorMessage: string | null
  cancelRequested: boolean
  resultSha256: string | null
  /** Whether it waits for an earlier task. */
  deferred: boolean
}

/** In starting order. */
const tasksOf = (tx: Tx, runId: string): Promise<StepOfRun[]> =>
  tx
    .select({
      jobId: jobs.id,
      name: capsuleRunTasks.name,
      status: jobs.status,
      errorMessage: jobs.errorMessage,
      cancelRequested: sql<boolean>`${jobs.cancelRequestedAt} is not null`,
      resultSha256: jobs.resultSha256,
      deferred: sql<boolean>`exists (select 1 from ${outbox} where ${outbox.jobId} = ${jobs.id}
        and ${outbox.kind} = 'start' and ${outbox.heldReason} = 'earlier_task')`
    })
    .from(capsuleRunTasks)
    .innerJoin(jobs, eq(jobs.id, capsuleRunTasks.jobId))
    .where(eq(capsuleRunTasks.runId, runId))
    .orderBy(asc(capsuleRunTasks.position))

/** Whether no task can follow it: it ended without a result, or its cancellation was requested. */
const isStopped = ({ status, cancelRequested }: StepOfRun): boolean =>
  cancelRequested || status === 'failed' || status === 'dispatch_failed' || status === 'cancelled'

async function begin(tx: Tx, runId: string): Promise<void> {
  const firstStart = sql`(select min(job.started_at) from capsule_run_tasks task join jobs job on job.id = task.job_id
    where task.run_id = ${runId})`
  await tx
    .update(capsuleRuns)
    .set({ status: 'running', startedAt: firstStart })
    .where(and(eq(capsuleRuns.id, runId), eq(capsuleRuns.status, 'pending')))
}

/** Cancels the remaining jobs of a stopped run, and ends the run when none remains. */
async function stop(tx: Tx, runId: string, tasks: StepOfRun[]): Promise<Step> {
  const left = tasks.filter(({ status, cancelRequested }) => !isFinal(status) && !cancelRequested)
  if (left.length > 0) {
    const jobIds = left.map(({ jobId }) => jobId)
    // Locks all of them before it settles the first: concurrent writers then take the locks in the same order.
    await tx.select({ id: jobs.id }).from(jobs).where(anyOf(jobs.id, jobIds)).orderBy(asc(jobs.id)).for('no key update')
    for (const jobId of jobIds) await requestCancel(tx, jobId)
    return { status: 'running', changed: jobIds, again: true }
  }
  if (!tasks.every(({ status }) => isFinal(status))) return nothing('running')
  const failed = tasks.find(({ status }) => status === 'failed' || status === 'dispatch_failed')
  if (failed) return end(tx, runId, 'failed', inTask(tasks, failed, failed.errorMessage ?? 'it failed'))
  const cancelled = tasks.find(({ status }) => status === 'cancelled') ?? tasks[0]!
  return end(tx, runId, 'cancelled', inTask(tasks, cancelled, 'it was cancelled'))
}

const inTask = (tasks: StepOfRun[], { name }: StepOfRun, what: string): string =>
  tasks.length === 1 ? what : storableText(`task ${JSON.stringify(name)}: ${what}`)

async function end(
  tx: Tx,
  runId: string,
  status: 'judging' | 'completed' | 'failed' | 'cancelled',
  reason: string | null
): Promise<Step> {
  await tx
    .update(capsuleRuns)
    .set({ status, reason, ...(status !== 'judging' && { completedAt: now }) })
    .where(and(eq(capsuleRuns.id, runId), eq(capsuleRuns.status, 'running')))
  if (status !== 'judging') await afterVerdict(tx, runId)
  return nothing(status)
}

/** Fills the results into the parameters of a deferred task and lets it start. A task that cannot take them fails. */
async function releaseStep(tx: Tx, tasks: StepOfRun[], { jobId }: StepOfRun): Promise<Step> {
  const done: Step = { status: 'running', changed: [jobId], again: false }
  const [job] = await tx
    .select({ status: jobs.status, params: jobs.params, backend: jobs.backend })
    .from(jobs)
    .where(eq(jobs.id, jobId))
    .for('no key update')
  // It was cancelled in the meantime.
  if (job!.status !== 'pending') return { ...done, again: true }
  const filled = await filledParams(tx, tasks, job!).catch((error: unknown) => {
    if (error instanceof ServiceError) return error
    throw error
  })
  if (filled instanceof ServiceError) {
    await recordFailure(tx, jobId, { code: filled.code, message: filled.message })
    return { ...done, again: true }
  }
  if (filled !== job!.params) await tx.update(jobs).set({ params: filled }).where(eq(jobs.id, jobId))
  await tx
    .update(outbox)
    .set({ heldReason: null, dueAt: now, nextAt: now })
    .where(and(eq(outbox.jobId, jobId), eq(outbox.kind, 'start'), eq(outbox.heldReason, 'earlier_task')))
  return done
}

/** @throws ServiceError `validation_error` for a result that does not fit. */
async function filledParams(tx: Tx, tasks: StepOfRun[], job: { params: string; backend: string }): Promise<string> {
  const needed = tasksNeededBy(paramsFromText(job.params).value)
  if (needed.size === 0) return job.params
  const results = new Map<string, string | null>()
  for (const { name, jobId, resultSha256 } of tasks)
    if (needed.has(name) && resultSha256) results.set(name, await resultText(tx, jobId, resultSha256))
  const filled = fillReferences(job.params, (name) => {
    const result = results.get(name)
    if (result != null) return result
    throw validationError(`parameters: task ${JSON.stringify(name)} has no result`)
  })
  const { value } = paramsFromText(filled)
  assertParameters(value, 'parameters')
  const backend = await findBackend(tx, job.backend)
  if (backend) assertParams(backend, value)
  return filled
}

/**
 * Open runs whose jobs' states require a step. The end of a job advances its run at once; this finds runs for which
 * that was missed.
 */
export async function dueRuns(db: DbOrTx, limit: number, except: readonly string[] = []): Promise<string[]> {
  const final = sql`job.status in ('completed', 'failed', 'cancelled', 'dispatch_failed')`
  const stopped = sql`(job.status in ('failed', 'cancelled', 'dispatch_failed') or job.cancel_requested_at is not null)`
  const held = sql`coalesce(start.held_reason = 'earlier_task', false)`
  const rows = await db.execute<{ id: string }>(sql`
    select run.id from ${capsuleRuns} run
      join ${capsuleRunTasks} task on task.run_id = run.id
      join ${jobs} job on job.id = task.job_id
      left join ${outbox} start on start.job_id = job.id and start.kind = 'start'
    where run.status in ('pending', 'running') and not (run.id = any(string_to_array(${except.join(',')}, ',')::uuid[]))
    group by run.id, run.status
    having (run.status = 'pending' and bool_or(job.status <> 'pending'))
      or bool_and(${final})
      or (bool_or(${stopped}) and bool_or(not ${final} and job.cancel_requested_at is null))
      or (bool_or(${held}) and not bool_or(not ${final} and not ${held}))
    order by run.id limit ${limit}`)
  return rows.map(({ id }) => id)
}
