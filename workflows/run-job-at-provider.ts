// The life of a job whose circuit runs at a quantum provider: compile, submit once, follow for as long as it takes,
// collect, complete. A program that leaves no circuit is a script: it runs in the executor (run-script.ts) and requests
// its circuits one by one. A cancelled job and a failed script first cancel their work at the provider. However often a
// step is retried, the history stays short: waiting is a retry of the activity, and adds no event.
import {
  CancellationScope,
  ContinueAsNew,
  proxyActivities,
  upsertSearchAttributes,
  workflowInfo
} from '@temporalio/workflow'
import type { ProviderActivities } from '../activities/provider/provider-activities.js'
import { type JobHandOver, searchAttributes } from '../domain/jobs/dispatch.js'
import type { JobStatus } from '../domain/jobs/job-status.js'
import { isCancel, jobErrorOf } from './job-error.js'
import { beginJob, completeJob, executorStep, failJob, providerSteps, recordCancelled } from './job-steps.js'
import { runScript } from './run-script.js'

const { prepareProgram } = proxyActivities<ProviderActivities>(executorStep)

type End = JobStatus | 'stopped'

export async function runJobAtProvider({ jobId, generation }: JobHandOver): Promise<End> {
  const job = { jobId, generation }
  const status = await lifeOf(job)
  if (status !== 'stopped') upsertSearchAttributes({ [searchAttributes.status]: [status] })
  return status
}

async function lifeOf(job: JobHandOver): Promise<End> {
  const { runId } = workflowInfo()
  try {
    const beginning = await CancellationScope.nonCancellable(() => beginJob({ ...job, runId }))
    if (beginning !== 'begin' && beginning !== 'resume') return beginning === 'stop' ? 'stopped' : await cancelled(job)
  } catch (error) {
    return failed(job, error)
  }
  return run(job)
}

async function run(job: JobHandOver): Promise<End> {
  try {
    const prepared = await prepareProgram(job)
    if (prepared.next === 'script') return await script(job)
    if (prepared.next !== 'submit') return await elsewhere(job, prepared.next)
    // If it were interrupted, nothing would record whether the provider has the job. The step itself checks whether the
    // job is still to run.
    const submitted = await CancellationScope.nonCancellable(() => providerSteps().submitToProvider(job))
    if (submitted.next !== 'follow') return await elsewhere(job, submitted.next)
    const followed = await providerSteps().followTask(job)
    if (followed.next !== 'collect') return await elsewhere(job, followed.next)
    return await completed(job)
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error
    return isCancel(error) ? cancelled(job) : failed(job, error)
  }
}

async function script(job: JobHandOver): Promise<End> {
  try {
    const answer = await runScript(job)
    if (answer.next !== 'complete') return await elsewhere(job, answer.next)
    return await CancellationScope.nonCancellable(() => completeJob({ ...job, resultSha256: answer.resultSha256 }))
  } catch (error) {
    if (error instanceof ContinueAsNew || isCancel(error)) throw error
    // The provider jobs of other tasks have no use any more.
    const end = await CancellationScope.nonCancellable(() => providerSteps().cancelAtProvider(job))
    return end.next === 'stop' ? 'stopped' : failed(job, error)
  }
}

const elsewhere = (job: JobHandOver, next: 'cancel' | 'stop'): Promise<End> =>
  next === 'cancel' ? cancelled(job) : Promise.resolve('stopped')

/** A cancel is too late now: what is finished and paid for stays finished. */
const completed = (job: JobHandOver): Promise<End> =>
  CancellationScope.nonCancellable(async () => {
    const collected = await providerSteps().collectResult(job)
    if (collected.next === 'complete') return completeJob({ ...job, resultSha256: collected.resultSha256 })
    return elsewhere(job, collected.next)
  })

const failed = (job: JobHandOver, error: unknown): Promise<End> =>
  CancellationScope.nonCancellable(() => failJob({ ...job, error: jobErrorOf(error) }))

const cancelled = (job: JobHandOver): Promise<End> =>
  CancellationScope.nonCancellable(async () => {
    try {
      const end = await providerSteps().cancelAtProvider(job)
      if (end.next === 'collect') return await completed(job)
      return end.next === 'cancelled' ? await recordCancelled({ ...job, outcome: end.outcome }) : 'stopped'
    } catch (error) {
      return failed(job, error)
    }
  })
