// The life of a job on a local engine: begin, execute, complete. Any failure fails the job; a cancel (from the API or
// the Temporal UI) cancels it. Short database steps are local activities, runs are regular ones (run-script.ts). No
// circuit and no result enters the history: steps pass ids and digests.
import { CancellationScope, ContinueAsNew, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'
import { type JobHandOver, searchAttributes } from '../domain/jobs/dispatch.js'
import type { JobStatus } from '../domain/jobs/job-status.js'
import { isCancel, jobErrorOf } from './job-error.js'
import { beginJob, completeJob, failJob, recordCancelled } from './job-steps.js'
import { runScript } from './run-script.js'

export async function runJob({ jobId, generation }: JobHandOver): Promise<JobStatus | 'stopped'> {
  const job = { jobId, generation }
  const status = await lifeOf(job)
  if (status !== 'stopped') upsertSearchAttributes({ [searchAttributes.status]: [status] })
  return status
}

async function lifeOf(job: JobHandOver): Promise<JobStatus | 'stopped'> {
  try {
    const { runId } = workflowInfo()
    const beginning = await CancellationScope.nonCancellable(() => beginJob({ ...job, runId }))
    return beginning === 'stop' ? 'stopped' : await endOf(job, beginning)
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error
    return CancellationScope.nonCancellable(() => failJob({ ...job, error: jobErrorOf(error) }))
  }
}

async function endOf(job: JobHandOver, beginning: 'begin' | 'resume' | 'cancel'): Promise<JobStatus | 'stopped'> {
  const cancelled = () =>
    CancellationScope.nonCancellable(() => recordCancelled({ ...job, outcome: 'stopped_before_provider' }))
  if (beginning === 'cancel') return cancelled()
  try {
    const answer = await runScript(job)
    if (answer.next === 'stop') return 'stopped'
    if (answer.next === 'cancel') return await cancelled()
    // A cancel is too late now: what is finished stays finished.
    return await CancellationScope.nonCancellable(() => completeJob({ ...job, resultSha256: answer.resultSha256 }))
  } catch (error) {
    if (!isCancel(error)) throw error
    return cancelled()
  }
}
