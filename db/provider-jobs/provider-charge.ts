// The price of a provider job and what its provider states about its cost, as its row has them.
import { type SQL, sql } from 'drizzle-orm'
import type { Charge, CircuitPrice } from '../../domain/money/charge.js'
import { now } from '../clock.js'
import { providerJobs } from '../tables/providers.js'

/** How soon a provider is queried again that did not state cost or usage together with the end. */
export const ASK_USAGE_FIRST_SECONDS = 60

export const priceColumns = {
  fixedCost: providerJobs.fixedCost,
  minimumCost: providerJobs.minimumCost,
  perSecond: providerJobs.perSecond,
  secondsMax: providerJobs.secondsMax
}

export type PriceRow = Pick<typeof providerJobs.$inferSelect, keyof typeof priceColumns>

/** `null` when it was not sent yet, or its device was not billed by time. */
export function storedPrice({ fixedCost, minimumCost, perSecond, secondsMax }: PriceRow): CircuitPrice | null {
  if (fixedCost === null || minimumCost === null || perSecond === null || secondsMax === null) return null
  return { fixed: fixedCost, minimumCost, perSecond, secondsMax }
}

export const priceValues = (price: CircuitPrice | null): PriceRow => ({
  fixedCost: price?.fixed ?? null,
  minimumCost: price?.minimumCost ?? null,
  perSecond: price?.perSecond ?? null,
  secondsMax: price?.secondsMax ?? null
})

/** What a provider states about a job that ended, in addition to its cost. */
export interface StatedUsage extends Partial<Pick<Charge, 'usage' | 'note'>> {
  /** Cost or usage are still to come. */
  isUsagePending?: boolean
}

export const usageValues = ({ usage, note, isUsagePending }: StatedUsage) => ({
  usageAmount: usage?.amount ?? null,
  usageUnit: usage?.unit ?? null,
  note: note ?? null,
  usageAskAt: isUsagePending ? (sql`${now} + make_interval(secs => ${ASK_USAGE_FIRST_SECONDS})` as SQL<Date>) : null
})
