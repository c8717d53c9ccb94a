// Looks up a provider job whose job has finished with its money held, and settles once the provider has reported the end of
// all provider jobs of the job. AT-LEAST-ONCE: a settled job is not settled again.
import { settleHeld } from '../../db/money/budget.js'
import { storedPrice } from '../../db/provider-jobs/provider-charge.js'
import { closeHeldProviderJob, type HeldProviderJob } from '../../db/provider-jobs/provider-money.js'
import { ProviderFault } from '../../services/providers/adapter.js'
import { statedCharge } from './stated-charge.js'
import { type AccessDeps, accessOf, type ProviderDeps, sentWithOthers } from './step.js'

export type HeldDeps = AccessDeps & Pick<ProviderDeps, 'announce' | 'providerTimes'>

export type HeldOutcome = 'settled' | 'not_yet'

export async function settleHeldProviderJob(
  deps: HeldDeps,
  held: HeldProviderJob,
  signal: AbortSignal
): Promise<HeldOutcome> {
  const access = await accessOf(deps, held)
  if ('missing' in access) return 'not_yet'
  const { adapter, at, version } = access
  try {
    const id =
      held.providerJobId ?? (await adapter.find(at, { token: held.token, target: held.target }, held.createdAt, signal))
    // Not found, long after the last submission: it was never accepted.
    if (id === null) {
      const longAgo = (held.secondsSinceSent ?? 0) >= deps.providerTimes.lookUpWindowSeconds
      const certain = longAgo && !sentWithOthers(held, { version, account: held.place?.account })
      return certain ? settle(deps, held, { state: 'withdrawn', providerJobId: null, cost: 0n }) : 'not_yet'
    }
    const view = await adapter.look(at, id, signal)
    const { status, isUsagePending } = view
    if (status === 'queued' || status === 'running') return 'not_yet'
    // A cost that is still to come is booked by another sweep (late-usage.ts); until then, the estimate counts.
    return settle(deps, held, {
      ...statedCharge(deps, held.jobId, view, storedPrice(held)),
      state: status,
      providerJobId: id,
      isUsagePending
    })
  } catch (error) {
    if (error instanceof ProviderFault) return 'not_yet'
    throw error
  }
}

async function settle(
  { db, announce }: HeldDeps,
  held: HeldProviderJob,
  found: Parameters<typeof closeHeldProviderJob>[2]
): Promise<HeldOutcome> {
  const { jobId } = held
  const end = await db.transaction(async (tx) => {
    const cost = await closeHeldProviderJob(tx, held, found)
    if (cost === 'held') return 'not_yet'
    await settleHeld(tx, jobId, cost)
    return 'settled'
  })
  announce(jobId)
  return end
}
