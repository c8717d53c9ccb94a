// Looks up a provider job that ended before its provider stated what it used, and books the figure that is stated now.
// AT-LEAST-ONCE: a figure is booked once (db/provider-jobs/pending-usage.ts).
import { bookUsage, type PendingUsage, type UsageOutcome } from '../../db/provider-jobs/pending-usage.js'
import { storedPrice } from '../../db/provider-jobs/provider-charge.js'
import { ProviderFault, type ProviderJobView } from '../../services/providers/adapter.js'
import { statedCharge } from './stated-charge.js'
import { type AccessDeps, accessOf, type ProviderDeps } from './step.js'

export type UsageDeps = AccessDeps & Pick<ProviderDeps, 'announce'>

export async function bookLateUsage(
  deps: UsageDeps,
  pending: PendingUsage,
  signal: AbortSignal
): Promise<UsageOutcome | 'not_yet'> {
  const view = await viewOf(deps, pending, signal)
  // An end was reported before; a provider that shows another status now is asked again.
  if (!view || view.isUsagePending || view.status === 'queued' || view.status === 'running') return 'not_yet'
  const { jobId } = pending
  const outcome = await bookUsage(deps.db, pending, statedCharge(deps, jobId, view, storedPrice(pending)))
  if (outcome !== 'over') deps.announce(jobId)
  return outcome
}

/** `null` when the provider cannot be asked now. */
async function viewOf(deps: UsageDeps, pending: PendingUsage, signal: AbortSignal): Promise<ProviderJobView | null> {
  const access = await accessOf(deps, pending)
  if ('missing' in access) return null
  try {
    return await access.adapter.look(access.at, pending.providerJobId, signal)
  } catch (error) {
    if (error instanceof ProviderFault) return null
    throw error
  }
}
