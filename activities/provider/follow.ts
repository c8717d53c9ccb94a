// Reads the status of an accepted provider job. The workflow repeats it by retries, which leave no trace in its history, so
// a provider job can wait for days. AT-LEAST-ONCE: it only reads at the provider, and stores the provider's latest status.
import { adoptAttempt, failOpenAttempt } from '../../db/provider-jobs/provider-attempts.js'
import { storedPrice } from '../../db/provider-jobs/provider-charge.js'
import { markSeen, markUnknown } from '../../db/provider-jobs/provider-jobs.js'
import type { ProviderRef } from '../../db/provider-jobs/provider-refs.js'
import type { CircuitPrice } from '../../domain/money/charge.js'
import type { ProviderJobView } from '../../services/providers/adapter.js'
import { statedCharge } from './stated-charge.js'
import {
  type Again,
  accessOf,
  again,
  againAfter,
  fail,
  lookPause,
  type ProviderDeps,
  runningJob,
  type StepContext,
  type StepEnd,
  waiting,
  withinRate
} from './step.js'

export type Followed = { next: 'collect' } | StepEnd

export async function followTask(deps: ProviderDeps, context: StepContext): Promise<Followed> {
  const { ref, fence } = context
  const found = await runningJob(deps, context)
  if ('end' in found) return found.end
  const { job } = found
  const { task } = job
  if (!task?.providerJobId) throw new Error(`job ${ref.jobId} has no task at ${job.provider}`)
  if (task.state === 'completed') return { next: 'collect' }
  if (task.state !== 'accepted') return ended(deps, context, task.state, task.errorMessage)
  if (!ref.asked) await adoptAttempt(deps.db, ref.jobId, fence)
  const access = await accessOf(deps, { ...job, place: task.place })
  if ('missing' in access) return silent(deps, context, job.secondsSilent, again(60_000, access.missing))
  const { adapter, at } = access
  const pauseMs = await lookPause(deps, job)
  const later = await withinRate(deps, adapter, job.teamId, 'look')
  if (later) return later
  try {
    const view = await adapter.look(at, task.providerJobId, context.signal)
    await storeView(deps, ref, view, storedPrice(task))
    if (view.status === 'completed') return { next: 'collect' }
    if (view.status === 'failed' || view.status === 'cancelled') return ended(deps, context, view.status, view.failure)
    return again(pauseMs, `${job.provider}: ${view.raw}`)
  } catch (error) {
    const wait = againAfter(deps, error)
    return silent(deps, context, job.secondsSilent, { ...wait, afterMs: Math.max(wait.afterMs, pauseMs) })
  }
}

/** Stores what a provider reported, and notifies waiting requests of a change. @param price that of the provider job. */
export async function storeView(
  deps: ProviderDeps,
  ref: ProviderRef,
  view: ProviderJobView,
  price: CircuitPrice | null
): Promise<void> {
  const changed = await markSeen(deps.db, ref, {
    ...statedCharge(deps, ref.jobId, view, price),
    isUsagePending: view.isUsagePending,
    state: view.status === 'queued' || view.status === 'running' ? 'accepted' : view.status,
    status: view.status,
    queuePosition: view.queuePosition,
    predictedWaitSeconds: view.predictedWaitSeconds,
    failure: view.failure
  })
  if (changed) deps.announce(ref.jobId)
}

async function ended(
  deps: ProviderDeps,
  { ref, fence }: StepContext,
  state: string,
  reason: string | null
): Promise<Followed> {
  if (state === 'unknown') return fail('provider_outcome_unknown', 'the provider never reported the outcome')
  const message =
    state === 'cancelled'
      ? 'the task was cancelled at the provider, not by this service'
      : `the provider could not run the task: ${reason ?? 'it gave no reason'}`
  const error = { code: 'provider_failed', message } as const
  if (!ref.asked) await failOpenAttempt(deps.db, ref.jobId, fence, error)
  return { next: 'fail', error }
}

/** After thirty days without any response, the outcome counts as unknown. */
async function silent(
  deps: ProviderDeps,
  { ref, fence }: StepContext,
  secondsSilent: number | null,
  wait: Again
): Promise<Followed> {
  const { silenceSeconds } = deps.providerTimes
  if ((secondsSilent ?? 0) < silenceSeconds) return waiting(deps, ref, wait)
  await markUnknown(deps.db, ref, fence)
  return fail(
    'provider_outcome_unknown',
    `no answer about the task for ${Math.round(silenceSeconds / 86_400)} days: ${wait.why}`
  )
}
