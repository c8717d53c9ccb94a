// Cancels a job's work at its provider. Nothing is submitted here: an intent that may have been accepted is looked up until
// that is certain, and the cancellation of an accepted provider job is requested until the provider confirms it.
import { adoptAttempt } from '../../db/provider-jobs/provider-attempts.js'
import { storedPrice } from '../../db/provider-jobs/provider-charge.js'
import {
  circuitsSoFar,
  markAccepted,
  markCancelRequested,
  markWithdrawn,
  openCircuits,
  type ProviderJob,
  takeForLookUp
} from '../../db/provider-jobs/provider-jobs.js'
import { loadProviderRun, type ProviderRun } from '../../db/provider-jobs/provider-runs.js'
import type { CancelOutcome } from '../../domain/jobs/job-status.js'
import { ProviderFault } from '../../services/providers/adapter.js'
import { storeView } from './follow.js'
import {
  type Access,
  type Again,
  accessOf,
  again,
  againAfter,
  type ProviderDeps,
  runningJob,
  type StepContext,
  type StepEnd,
  sentWithOthers
} from './step.js'

const LOOK_AGAIN_MS = 1_000
const CIRCUITS_AT_ONCE = 8

/** `collect`: the provider job completed before the cancellation. For a script, `outcome` covers all its circuits. */
export type CancelledAtProvider = { next: 'cancelled'; outcome: CancelOutcome } | { next: 'collect' } | StepEnd

export async function cancelAtProvider(deps: ProviderDeps, context: StepContext): Promise<CancelledAtProvider> {
  const found = await runningJob(deps, context, ['running', 'cancelling'])
  if ('end' in found) return found.end
  return found.job.hasAsked ? cancelCircuits(deps, context) : cancelProviderJob(deps, context, found.job)
}

/** All circuits of a script and its tasks. */
async function cancelCircuits(deps: ProviderDeps, context: StepContext): Promise<CancelledAtProvider> {
  const { jobId } = context.ref
  const open = await openCircuits(deps.db, jobId)
  const ends: CancelledAtProvider[] = []
  for (let at = 0; at < open.length; at += CIRCUITS_AT_ONCE)
    ends.push(
      ...(await Promise.all(
        open.slice(at, at + CIRCUITS_AT_ONCE).map(async (ref) => {
          const job = await loadProviderRun(deps.db, ref)
          return job ? cancelProviderJob(deps, { ...context, ref }, job) : ({ next: 'stop' } as const)
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

/** Looks at one provider job and requests its cancellation. */
async function cancelProviderJob(
  deps: ProviderDeps,
  context: StepContext,
  job: ProviderRun
): Promise<CancelledAtProvider> {
  const end = await cancelStep(deps, context, job)
  if (end.next !== 'again') return end
  // The provider does not respond, or does not act: the job reports that, and its money stays held until the provider does.
  if ((job.secondsCancelling ?? 0) > deps.providerTimes.cancelSeconds)
    return { next: 'cancelled', outcome: 'provider_unknown' }
  return end
}

async function cancelStep(deps: ProviderDeps, context: StepContext, job: ProviderRun): Promise<CancelledAtProvider> {
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
  const access = await accessOf(deps, { ...job, place: task.place })
  if ('missing' in access) return again(deps.providerTimes.retryMs, access.missing)
  try {
    if (task.state === 'intended') return await lookUp(deps, context, access, task.token, job.target)
    if (!ref.asked) await adoptAttempt(deps.db, ref.jobId, fence)
    return await requestCancel(deps, context, access, task)
  } catch (error) {
    return againAfter(deps, error)
  }
}

const stopped = { next: 'cancelled', outcome: 'stopped_before_provider' } as const

/** Finds out whether a submission whose response was lost has arrived. */
async function lookUp(
  deps: ProviderDeps,
  { ref, fence, signal }: StepContext,
  { adapter, at, version }: Access,
  token: string,
  target: string | null
): Promise<CancelledAtProvider> {
  const attempt = await takeForLookUp(deps.db, ref, fence)
  if (!attempt) return again(0, 'it has just been accepted')
  const id = await adapter.find(at, { token, target }, attempt.createdAt, signal)
  if (id !== null) {
    await markAccepted(deps.db, ref, fence, id)
    return again(0, 'found; its cancellation is requested next')
  }
  if ((attempt.secondsSinceSent ?? 0) < deps.providerTimes.lookUpWindowSeconds)
    return again(deps.providerTimes.retryMs, `${adapter.name} has no such task yet; a request may still be under way`)
  // The account that it may have been sent to is no longer accessible.
  const { account } = target === null ? at.place : await adapter.place(at.credentials, target, signal)
  if (sentWithOthers(attempt, { version, account })) return { next: 'cancelled', outcome: 'provider_unknown' }
  return (await markWithdrawn(deps.db, ref, fence, null)) ? stopped : again(0, 'it has just been accepted')
}

async function requestCancel(
  deps: ProviderDeps,
  { ref, signal }: StepContext,
  { adapter, at }: Access,
  task: ProviderJob
): Promise<CancelledAtProvider> {
  const id = task.providerJobId!
  // A refusal may mean that the provider job is over: its present status decides.
  await adapter.cancel(at, id, signal).catch((error) => {
    if (!(error instanceof ProviderFault)) throw error
  })
  const view = await adapter.look(at, id, signal)
  await storeView(deps, ref, view, storedPrice(task))
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
