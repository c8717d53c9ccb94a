// The life of a job whose circuit runs at a provider of quantum machines: compile, submit once, follow for as long as it
// takes, collect, complete. A cancel asks the provider before it ends the job. However often a step is tried and whatever
// dies meanwhile, the history stays short: what is not ready yet is a retry of its activity, and no event.
import {
  ActivityCancellationType,
  ApplicationFailure,
  CancellationScope,
  proxyActivities,
  upsertSearchAttributes,
  workflowInfo
} from '@temporalio/workflow'
import type { ProviderActivities } from '../activities/provider-activities.js'
import { type JobHandOver, searchAttributes } from '../domain/dispatch.js'
import type { JobStatus } from '../domain/job-status.js'
import { isCancel, jobErrorOf } from './job-error.js'
import { beginJob, completeJob, failJob, recordCancelled, stepRetry } from './job-steps.js'

const { prepareProgram } = proxyActivities<ProviderActivities>({
  // The executor bounds compiling by a minute; the rest is waiting for it.
  startToCloseTimeout: '26 hours',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: stepRetry
})

const { submitToProvider, followTask, collectResult, cancelAtProvider } = proxyActivities<ProviderActivities>({
  // One try: a look-up through a long list and one request. The steps name the time of the next try themselves.
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  // An answer under way would come into the middle of the cancel that follows.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: stepRetry
})

type End = JobStatus | 'stopped'

export async function runJobAtProvider({ jobId, generation }: JobHandOver): Promise<End> {
  const job = { jobId, generation }
  const beginning = await CancellationScope.nonCancellable(() => beginJob({ ...job, runId: workflowInfo().runId }))
  if (beginning === 'stop') return 'stopped'
  const status = beginning === 'cancel' ? await cancelled(job) : await run(job)
  if (status !== 'stopped') upsertSearchAttributes({ [searchAttributes.status]: [status] })
  return status
}

async function run(job: JobHandOver): Promise<End> {
  try {
    const prepared = await prepareProgram(job)
    if (prepared.next === 'script')
      throw ApplicationFailure.nonRetryable('the code leaves no circuit to compile', 'execution_error')
    if (prepared.next !== 'submit') return await elsewhere(job, prepared.next)
    // Cut short, nobody would know whether the provider has it. It reads itself whether the job is still wanted.
    const submitted = await CancellationScope.nonCancellable(() => submitToProvider(job))
    if (submitted.next !== 'follow') return await elsewhere(job, submitted.next)
    const followed = await followTask(job)
    if (followed.next !== 'collect') return await elsewhere(job, followed.next)
    return await completed(job)
  } catch (error) {
    return isCancel(error) ? cancelled(job) : failed(job, error)
  }
}

const elsewhere = (job: JobHandOver, next: 'cancel' | 'stop'): Promise<End> =>
  next === 'cancel' ? cancelled(job) : Promise.resolve('stopped')

/** A cancel that comes now is too late: what is finished and paid for stays finished. */
const completed = (job: JobHandOver): Promise<End> =>
  CancellationScope.nonCancellable(async () => {
    const collected = await collectResult(job)
    if (collected.next === 'complete') return completeJob({ ...job, resultSha256: collected.resultSha256 })
    return elsewhere(job, collected.next)
  })

const failed = (job: JobHandOver, error: unknown): Promise<End> =>
  CancellationScope.nonCancellable(() => failJob({ ...job, error: jobErrorOf(error) }))

const cancelled = (job: JobHandOver): Promise<End> =>
  CancellationScope.nonCancellable(async () => {
    try {
      const end = await cancelAtProvider(job)
      if (end.next === 'collect') return await completed(job)
      return end.next === 'cancelled' ? await recordCancelled({ ...job, outcome: end.outcome }) : 'stopped'
    } catch (error) {
      return failed(job, error)
    }
  })
