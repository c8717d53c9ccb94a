// Ends what a job has at its provider. Nothing is sent for the first time here: an intent that may have been accepted is
// looked up until that is certain, and an accepted task is asked to end until the provider says that it has.
import { adoptAttempt } from '../../db/provider-attempts.js'
import type { ProviderRun } from '../../db/provider-runs.js'
import { markAccepted, markCancelAsked, markWithdrawn, takeForLookUp } from '../../db/provider-tasks.js'
import type { CancelOutcome } from '../../domain/job-status.js'
import { ProviderFault } from '../providers/adapter.js'
import { noteView } from './follow.js'
import {
  type Access,
  accessOf,
  again,
  againAfter,
  type ProviderDeps,
  runningJob,
  type StepContext,
  type StepEnd
} from './step.js'

const LOOK_AGAIN_MS = 1_000

/** `collect`: it had completed before the cancel took hold. */
export type CancelledAtProvider = { next: 'cancelled'; outcome: CancelOutcome } | { next: 'collect' } | StepEnd

export async function cancelAtProvider(deps: ProviderDeps, context: StepContext): Promise<CancelledAtProvider> {
  const found = await runningJob(deps, context, ['running', 'cancelling'])
  return 'end' in found ? found.end : endAtProvider(deps, context, found.job)
}

/** One look at the task, and what is asked of the provider about it. */
export async function endAtProvider(
  deps: ProviderDeps,
  context: StepContext,
  job: ProviderRun
): Promise<CancelledAtProvider> {
  const end = await step(deps, context, job)
  if (end.next !== 'again') return end
  // The provider does not answer, or does not act: the caller hears so, and the money waits for its word.
  if ((job.secondsCancelling ?? 0) > deps.providerTimes.cancelSeconds)
    return { next: 'cancelled', outcome: 'provider_unknown' }
  return end
}

async function step(deps: ProviderDeps, context: StepContext, job: ProviderRun): Promise<CancelledAtProvider> {
  const { ref, fence } = context
  const { task } = job
  if (!task) return stopped
  switch (task.state) {
    case 'withdrawn':
      return stopped
    case 'completed':
      return { next: 'collect' }
    case 'failed':
    case 'cancelled':
      return { next: 'cancelled', outcome: 'provider_confirmed' }
    case 'unknown':
      return { next: 'cancelled', outcome: 'provider_unknown' }
    case 'intended':
      if (task.lastSentAt === null && (await markWithdrawn(deps.db, ref, fence, null))) return stopped
  }
  await markCancelAsked(deps.db, ref)
  const access = await accessOf(deps, job)
  if ('missing' in access) return again(deps.providerTimes.retryMs, access.missing)
  try {
    if (task.state === 'intended') return await lookUp(deps, context, access, task.token)
    if (!ref.asked) await adoptAttempt(deps.db, ref.jobId, fence)
    return await end(deps, context, access, task.providerJobId!)
  } catch (error) {
    return againAfter(deps, error)
  }
}

const stopped = { next: 'cancelled', outcome: 'stopped_before_provider' } as const

/** Whether a request whose answer was lost has arrived. */
async function lookUp(
  deps: ProviderDeps,
  { ref, fence, signal }: StepContext,
  { adapter, credentials, version }: Access,
  token: string
): Promise<CancelledAtProvider> {
  const attempt = await takeForLookUp(deps.db, ref, fence)
  if (!attempt) return again(0, 'it was accepted meanwhile')
  const id = await adapter.find(credentials, token, attempt.createdAt, signal)
  if (id !== null) {
    await markAccepted(deps.db, ref, fence, id)
    return again(0, 'found; it is asked to end')
  }
  if ((attempt.secondsSinceSent ?? 0) < deps.providerTimes.lookUpWindowSeconds)
    return again(deps.providerTimes.retryMs, `${adapter.name} has no such task yet; a request may still be under way`)
  // The account that it may have been sent to can no longer be asked.
  if (attempt.sentWith !== version) return { next: 'cancelled', outcome: 'provider_unknown' }
  return (await markWithdrawn(deps.db, ref, fence, null)) ? stopped : again(0, 'it was accepted meanwhile')
}

async function end(
  deps: ProviderDeps,
  { ref, signal }: StepContext,
  { adapter, credentials }: Access,
  id: string
): Promise<CancelledAtProvider> {
  // Refused, perhaps because the task is over: what counts is how it fares now.
  await adapter.cancel(credentials, id, signal).catch((error) => {
    if (!(error instanceof ProviderFault)) throw error
  })
  const view = await adapter.look(credentials, id, signal)
  await noteView(deps, ref, view)
  switch (view.status) {
    case 'completed':
      return { next: 'collect' }
    case 'failed':
    case 'cancelled':
      return { next: 'cancelled', outcome: 'provider_confirmed' }
    default:
      return again(LOOK_AGAIN_MS, `${adapter.name}: ${view.raw}`)
  }
}
