// What a provider states about the cost of a provider job. A figure that is not as expected is logged, next to its note.
import { type Charge, type CircuitPrice, chargeOf } from '../../domain/money/charge.js'
import type { ProviderJobView } from '../../services/providers/adapter.js'
import type { ProviderDeps } from './step.js'

const nothingYet: Charge = { cost: null, usage: null, note: null }

/** @param price that of the provider job. */
export function statedCharge(
  { log }: Pick<ProviderDeps, 'log'>,
  jobId: string,
  view: ProviderJobView,
  price: CircuitPrice | null
): Charge {
  if (view.status === 'queued' || view.status === 'running') return nothingYet
  const charge = chargeOf(view, price)
  if (charge.note !== null && !view.isUsagePending)
    log.warn({ jobId, note: charge.note }, 'the cost of a provider job is not as expected')
  return charge
}
