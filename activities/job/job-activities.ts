// The activities of a job's workflow. Each is idempotent by job id and fence: the short ones are single transactions that
// return what an earlier call did, and `execute` looks for a stored result before it executes anything.
import { type Beginning, beginJob, completeJob, failJob, recordCancelled } from '../../db/job-steps/job-steps.js'
import { jobStatus } from '../../db/jobs/jobs.js'
import type { JobError } from '../../domain/errors.js'
import type { JobHandOver } from '../../domain/jobs/dispatch.js'
import type { CancelOutcome, JobStatus } from '../../domain/jobs/job-status.js'
import { executionRetry } from '../../domain/jobs/retry.js'
import { executeJob } from './execute-job.js'
import { failureOf, withMessage } from './failure.js'
import { withHeartbeat } from './heartbeat.js'
import type { ExecuteDeps } from './job-attempt.js'
import { asStep } from './step.js'

/**
 * What the workflow does after `execute`. The result itself is stored; only its digest enters the history. `ended`: the job is
 * completed with it.
 */
export type ExecuteOutcome =
  | { next: 'complete'; resultSha256: string; ended?: true }
  /** A script waits for the work that it requested: a graph of tasks, or a circuit. */
  | { next: 'tasks' | 'circuit'; ask: number }
  | { next: 'cancel' }
  | { next: 'stop' }

export type JobActivities = ReturnType<typeof createActivities>

export function createActivities(deps: ExecuteDeps) {
  const { db, announce } = deps
  // The status of the job after a step, for the search attribute: another writer may have been first.
  const statusAfter = async (jobId: string): Promise<JobStatus> => {
    announce(jobId)
    return (await jobStatus(db, jobId)) ?? 'failed'
  }

  return {
    beginJob: ({ jobId, generation, runId }: JobHandOver & { runId: string }): Promise<Beginning> =>
      asStep(deps, { jobId }, async () => {
        const beginning = await beginJob(db, jobId, { generation }, { workflowRunId: runId })
        announce(jobId)
        return beginning
      }),

    execute: ({ jobId, generation }: JobHandOver): Promise<ExecuteOutcome> =>
      asStep(deps, { jobId }, async (context) => {
        let progress: string | null = null
        const onProgress = (done: number, of: number) => {
          progress = `${done} of ${of} tasks completed`
        }
        const options = { isFirst: context.info.attempt === 1, onProgress }
        const execution = await withHeartbeat(
          context,
          () => executeJob(deps, jobId, { generation }, context.cancellationSignal, options),
          () => progress
        )
        if (execution.outcome === 'completed') {
          const { resultSha256, ended } = execution
          if (ended) announce(jobId)
          return { next: 'complete', resultSha256, ...(ended && { ended }) }
        }
        if ('ask' in execution) return { next: execution.outcome, ask: execution.ask }
        if (execution.outcome === 'cancelling') return { next: 'cancel' }
        if (execution.outcome === 'stopped') return { next: 'stop' }
        if (execution.outcome === 'failed') throw failureOf(execution.error, 'final')
        throw failureOf(execution.error, execution.attempt < executionRetry.attemptsMax ? 'retryable' : 'final')
      }),

    completeJob: ({ jobId, generation, resultSha256 }: JobHandOver & { resultSha256: string }): Promise<JobStatus> =>
      asStep(deps, { jobId }, async () => {
        await completeJob(db, jobId, { generation }, resultSha256)
        return statusAfter(jobId)
      }),

    failJob: ({ jobId, generation, error }: JobHandOver & { error: JobError }): Promise<JobStatus> =>
      asStep(deps, { jobId }, async () => {
        await failJob(db, jobId, { generation }, await withMessage(db, jobId, error))
        return statusAfter(jobId)
      }),

    recordCancelled: ({ jobId, generation, outcome }: JobHandOver & { outcome: CancelOutcome }): Promise<JobStatus> =>
      asStep(deps, { jobId }, async () => {
        await recordCancelled(db, jobId, { generation }, outcome)
        return statusAfter(jobId)
      })
  }
}
