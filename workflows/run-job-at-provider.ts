// The life of a job whose circuit runs at a quantum provider: compile, submit once, follow for as long as it takes,
// collect, complete. A program that leaves no circuit is a script: it runs in the executor (run-script.ts) and requests
// its circuits one by one. A cancelled job and a failed script first cancel their work at the provider. However often a
// step is retried, the history stays short: waiting is a retry of the activity, and adds no event.
import {
  CancellationScope,
  ContinueAsNew,
  proxyActivities,
  setCurrentDetails,
  workflowInfo
} from '@temporalio/workflow'
import type { ProviderActivities } from '../activities/provider/provider-activities.js'
import type { JobHandOver } from '../domain/jobs/dispatch.js'
import type { JobStatus } from '../domain/jobs/job-status.js'
import { closeLike, type JobEnd } from './job-end.js'
import { isCancel, jobErrorOf } from './job-error.js'
import { beginJob, completeJob, executorStep, failJob, providerSteps, recordCancelled } from './job-steps.js'
import { runScript } from './run-script.js'

const { prepareProgram } = proxyActivities<ProviderActivities>(executorStep)

const stopped: JobEnd = { status: 'stopped' }

export async function runJobAtProvider({ jobId, generation }: JobHandOver): Promise<JobStatus | 'stopped'> {
  return closeLike(await lifeOf({ jobId, generation }))
}

async function lifeOf(job: JobHandOver): Promise<JobEnd> {
  const { runId } = workflowInfo()
  try {
    const beginning = await CancellationScope.nonCancellable(() => beginJob({ ...job, runId }))
    if (beginning === 'stop') return stopped
    if (beginning === 'cancel') return await cancelled(job)
  } catch (error) {
    return failed(job, error)
  }
  return run(job)
}

async function run(job: JobHandOver): Promise<JobEnd> {
  try {
    setCurrentDetails('compiling the circuit for the provider')
    const prepared = await prepareProgram(job)
    if (prepared.next === 'script') return await script(job)
    if (prepared.next !== 'submit') return await elsewhere(job, prepared.next)
    // If it were interrupted, nothing would record whether the provider has the job. The step itself checks whether the
    // job is still to run.
    setCurrentDetails('submitting to the provider')
    const submitted = await CancellationScope.nonCancellable(() => providerSteps().submitToProvider(job))
    if (submitted.next !== 'follow') return await elsewhere(job, submitted.next)
    setCurrentDetails('waiting for the provider')
    const followed = await providerSteps().followTask(job)
    if (followed.next !== 'collect') return await elsewhere(job, followed.next)
    return await completed(job)
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error
    return isCancel(error) ? cancelled(job) : failed(job, error)
  }
}

async function script(job: JobHandOver): Promise<JobEnd> {
  try {
    const answer = await runScript(job)
    if (answer.next !== 'complete') return await elsewhere(job, answer.next)
    if (answer.ended) return { status: 'completed' }
    const { resultSha256 } = answer
    return { status: await CancellationScope.nonCancellable(() => completeJob({ ...job, resultSha256 })) }
  } catch (error) {
    if (error instanceof ContinueAsNew || isCancel(error)) throw error
    // The provider jobs of other tasks have no use any more.
    const end = await CancellationScope.nonCancellable(() => providerSteps().cancelAtProvider(job))
    return end.next === 'stop' ? stopped : failed(job, error)
  }
}

const elsewhere = (job: JobHandOver, next: 'cancel' | 'stop'): Promise<JobEnd> =>
  next === 'cancel' ? cancelled(job) : Promise.resolve(stopped)

/** A cancel is too late now: what is finished and paid for stays finished. */
const completed = (job: JobHandOver): Promise<JobEnd> =>
  CancellationScope.nonCancellable(async () => {
    setCurrentDetails('collecting the result')
    const collected = await providerSteps().collectResult(job)
    if (collected.next !== 'complete') return elsewhere(job, collected.next)
    return { status: await completeJob({ ...job, resultSha256: collected.resultSha256 }) }
  })

async function failed(job: JobHandOver, error: unknown): Promise<JobEnd> {
  const reason = jobErrorOf(error)
  const status = await CancellationScope.nonCancellable(() => failJob({ ...job, error: reason }))
  return { status, code: reason.code }
}

const cancelled = (job: JobHandOver): Promise<JobEnd> =>
  CancellationScope.nonCancellable(async () => {
    setCurrentDetails('cancelling at the provider')
    try {
      const end = await providerSteps().cancelAtProvider(job)
      if (end.next === 'collect') return await completed(job)
      return end.next === 'cancelled' ? { status: await recordCancelled({ ...job, outcome: end.outcome }) } : stopped
    } catch (error) {
      return failed(job, error)
    }
  })
