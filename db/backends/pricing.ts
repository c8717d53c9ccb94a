// The prices of a backend, as its row has them.
import { sql } from 'drizzle-orm'
import type { Pricing } from '../../domain/money/cost.js'
import { backends } from '../tables/backends.js'

/** `task_fee_micro` comes first: it is never null, and drizzle takes an object for missing whose first column is. */
export const pricingColumns = {
  taskFee: backends.taskFee,
  perShot: backends.perShot,
  minimumCost: backends.minimumCost,
  perSecond: backends.perSecond,
  secondsMax: backends.secondsMax
}

/** The SQL form of `isFree`. */
export const freePricing = sql`(${backends.taskFee} = 0 and ${backends.perShot} = 0 and ${backends.minimumCost} = 0
  and (${backends.perSecond} is null or ${backends.secondsMax} is null or ${backends.perSecond} = 0))`

type PricingRow = Pick<typeof backends.$inferSelect, keyof typeof pricingColumns>

export const pricingOf = ({ taskFee, perShot, minimumCost, perSecond, secondsMax }: PricingRow): Pricing => ({
  taskFee,
  perShot,
  minimumCost,
  byTime: perSecond === null || secondsMax === null ? null : { perSecond, secondsMax }
})

/** The columns of the prices that are given. */
export const pricingValues = ({ byTime, ...prices }: Partial<Pricing>): Partial<PricingRow> => ({
  ...prices,
  ...(byTime !== undefined && { perSecond: byTime?.perSecond ?? null, secondsMax: byTime?.secondsMax ?? null })
})
