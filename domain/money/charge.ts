// What a provider job cost, from what its provider states: USD, or the seconds that it used on a device that is billed by
// time. Usage in any other unit is shown, and never converted: its price is not known here.
import type { Pricing, TimePrice } from './cost.js'
import type { MicroUsd } from './money.js'

/** The price of one circuit on a device that is billed by time. */
export interface CircuitPrice extends TimePrice {
  /** Task fee and shots. */
  fixed: MicroUsd
  minimumCost: MicroUsd
}

/** `null` for a backend that is not billed by time. */
export const circuitPrice = ({ taskFee, perShot, minimumCost, byTime }: Pricing, shots: number): CircuitPrice | null =>
  byTime && { fixed: taskFee + perShot * BigInt(shots), minimumCost, ...byTime }

/** What a provider job used, in a unit of its provider. */
export interface Usage {
  amount: number
  unit: string
}

/** What a provider states about the cost of a job that has ended. */
export interface StatedCharge {
  /** USD wins over usage. */
  cost: MicroUsd | null
  usage?: Usage
  /** Whether one of them is still to come: usage that is stated so far costs nothing yet. */
  isUsagePending?: boolean
}

export interface Charge {
  /** `null` when it is not known: the estimate counts. */
  cost: MicroUsd | null
  usage: Usage | null
  /** What a reader of the cost must know, in public words; `null` for nothing. */
  note: string | null
}

const UNIT_MAX = 32
/** Far beyond what a provider can bill: a larger number is a mistake. */
const AMOUNT_MAX = 1e12
/** A billion USD, as for every other amount (money.ts). */
const COST_MAX = 1_000_000_000_000_000n

/** @param price as it was when the circuit was sent; `null` when the device was not billed by time. */
export function chargeOf({ cost, usage: stated, isUsagePending }: StatedCharge, price: CircuitPrice | null): Charge {
  const usage = stated && isUsage(stated) ? stated : null
  if (isUsagePending)
    return { cost, usage, note: 'the provider has not stated the cost yet; the estimate is booked until it does' }
  if (stated && !usage) return { cost, usage, note: 'the provider states a usage that cannot be read' }
  if (usage?.unit !== 'seconds' || price === null) return { cost, usage, note: null }
  const { amount } = usage
  const byTime = costOfTime(price, amount)
  if (byTime > COST_MAX)
    return { cost, usage, note: `the provider states ${amount} seconds, which cannot be right; the estimate is booked` }
  const { secondsMax } = price
  const note = amount > secondsMax ? `used ${amount} seconds, although at most ${secondsMax} were reserved` : null
  return { cost: cost ?? byTime, usage, note }
}

const isUsage = ({ amount, unit }: Usage): boolean =>
  Number.isFinite(amount) &&
  amount >= 0 &&
  amount <= AMOUNT_MAX &&
  unit.length <= UNIT_MAX &&
  /^[\p{L}\p{N}\p{P}\p{S}]+(?: [\p{L}\p{N}\p{P}\p{S}]+)*$/u.test(unit)

/** max(task fee + shots + seconds used, minimum), rounded up to a micro-dollar. */
function costOfTime({ fixed, minimumCost, perSecond }: CircuitPrice, seconds: number): MicroUsd {
  // The shortest decimal text of the number is what the provider wrote, so that no rounding of doubles is billed.
  const [, whole, decimals = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(seconds))!
  const parts = 10n ** BigInt(decimals.length + Number(exponent))
  const cost = fixed + (perSecond * BigInt(whole + decimals) + parts - 1n) / parts
  return cost > minimumCost ? cost : minimumCost
}
