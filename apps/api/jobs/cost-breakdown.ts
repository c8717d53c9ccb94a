// Shows how an estimate was computed.
import { type Static, Type } from 'typebox'
import type { Pricing } from '../../../domain/money/cost.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import { count, usd } from '../http/response.js'

export const CostBreakdown = Type.Object({
  task_fee: usd,
  per_shot: usd,
  shots: count,
  tasks: count,
  minimum_cost: usd,
  /** Only of devices that are billed by time. */
  per_second: Type.Optional(usd),
  seconds_max: Type.Optional(count)
})

/** @param tasks circuits. */
export const costBreakdown = (
  { taskFee, perShot, minimumCost, byTime }: Pricing,
  shots: number,
  tasks: number
): Static<typeof CostBreakdown> => ({
  task_fee: usdFromMicro(taskFee),
  per_shot: usdFromMicro(perShot),
  shots,
  tasks,
  minimum_cost: usdFromMicro(minimumCost),
  ...(byTime && { per_second: usdFromMicro(byTime.perSecond), seconds_max: byTime.secondsMax })
})
