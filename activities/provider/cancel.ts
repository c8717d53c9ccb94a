// Ends what a job has at its provider. Nothing is sent for the first time here: an intent that may have been accepted is
// looked up until that is certain, and an accepted task is asked to end until the provider says that it has.
import { adoptAttempt } from '../../db/provider-jobs/provider-attempts.js'
import {
  circuitsSoFar,
  markAccepted,
  markCancelRequested,
  markWithdrawn,
  openCircuits,
  takeForLookUp
} from '../../db/provider-jobs/provider-jobs.js'
import { loadProviderRun, type ProviderRun } from '../../db/provider-jobs/provider-runs.js'
import type { CancelOutcome } from '../../domain/jobs/job-status.js'
import { ProviderFault } from '../../services/providers/adapter.js'
import { noteView } from './follow.js'
import {
  type Access,
  type Again,
  accessOf,
  again,
  againAfter,
  type ProviderDeps,
  runningJob,
  type StepContext,
  type StepEnd
} from './step.js'

const LOOK_AGAIN_MS = 1_000
const CIRCUITS_AT_ONCE = 8

/** `collect`: a plain job's task had completed before the cancel took hold. `outcome` of a script is that of all its circuits. */
export type CancelledAtProvider = { next: 'cancelled'; outcome: CancelOutcome } | { next: 'collect' } | StepEnd

export async function cancelAtProvider(deps: ProviderDeps, context: StepContext): Promise<CancelledAtProvider> {
  const found = await runningJob(deps, context, ['running', 'cancelling'])
  if ('end' in found) return found.end
  return found.job.hasAsked ? endCircuits(deps, context) : endTask(deps, context, found.job)
}

/** A script's circuits, whoever of it has asked for them. */
async function endCircuits(deps: ProviderDeps, context: StepContext): Promise<CancelledAtProvider> {
  const { jobId } = context.ref
  const open = await openCircuits(deps.db, jobId)
  const ends: CancelledAtProvider[] = []
  for (let at = 0; at < open.length; at += CIRCUITS_AT_ONCE)
    ends.push(
      ...(await Promise.all(
        open.slice(at, at + CIRCUITS_AT_ONCE).map(async (ref) => {
          const job = await loadProviderRun(deps.db, ref)
          return job ? endTask(deps, { ...context, ref }, job) : ({ next: 'stop' } as const)
        })
      ))
    )
  const waits = ends.filter((end): end is Again => end.next === 'again')
  if (waits.length > 0) return waits.reduce((soonest, wait) => (wait.afterMs < soonest.afterMs ? wait : soonest))
  if (ends.some(({ next }) => next === 'stop')) return { next: 'stop' }
  const { unknown, accepted } = await circuitsSoFar(deps.db, jobId)
  if (unknown > 0) return { next: 'cancelled', outcome: 'provider_unknown' }
  return { next: 'cancelled', outcome: accepted > 0 ? 'provider_confirmed' : 'stopped_before_provider' }
}

/** One look at a task, and what is asked of the provider about it. */
async function endTask(deps: ProviderDeps, context: StepContext, job: ProviderRun): Promise<CancelledAtProvider> {
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
  await markCancelRequested(deps.db, ref)
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
