// The life of a job on a local engine: begin, execute, complete. Any failure fails the job; a cancel (from the API or
// the Temporal UI) cancels it. Short database steps are local activities, runs are regular ones (run-script.ts). No
// circuit and no result enters the history: steps pass ids and digests.
import { CancellationScope, ContinueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow'
import type { JobHandOver } from '../domain/jobs/dispatch.js'
import type { JobStatus } from '../domain/jobs/job-status.js'
import { closeLike, type JobEnd } from './job-end.js'
import { isCancel, jobErrorOf } from './job-error.js'
import { beginJob, completeJob, failJob, recordCancelled } from './job-steps.js'
import { runScript } from './run-script.js'

export async function runJob({ jobId, generation }: JobHandOver): Promise<JobStatus | 'stopped'> {
  return closeLike(await lifeOf({ jobId, generation }))
}

async function lifeOf(job: JobHandOver): Promise<JobEnd> {
  try {
    const { runId } = workflowInfo()
    const beginning = await CancellationScope.nonCancellable(() => beginJob({ ...job, runId }))
    return beginning === 'stop' ? { status: 'stopped' } : await endOf(job, beginning)
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error
    const reason = jobErrorOf(error)
    const status = await CancellationScope.nonCancellable(() => failJob({ ...job, error: reason }))
    return { status, code: reason.code }
  }
}

async function endOf(job: JobHandOver, beginning: 'begin' | 'resume' | 'cancel'): Promise<JobEnd> {
  if (beginning === 'cancel') return cancelled(job)
  try {
    const answer = await runScript(job)
    if (answer.next === 'stop') return { status: 'stopped' }
    if (answer.next === 'cancel') return await cancelled(job)
    // A cancel is too late now: what is finished stays finished.
    if (answer.ended) return { status: 'completed' }
    setCurrentDetails('storing the result')
    const { resultSha256 } = answer
    return { status: await CancellationScope.nonCancellable(() => completeJob({ ...job, resultSha256 })) }
  } catch (error) {
    if (!isCancel(error)) throw error
    return cancelled(job)
  }
}

async function cancelled(job: JobHandOver): Promise<JobEnd> {
  const end = { ...job, outcome: 'stopped_before_provider' } as const
  return { status: await CancellationScope.nonCancellable(() => recordCancelled(end)) }
}
