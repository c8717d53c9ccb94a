// The estimate of a job's cost, from the backend's prices.
import type { MicroUsd } from './money.js'

/** The price of a machine's time. */
export interface TimePrice {
  /** Micro-USD per second. */
  perSecond: MicroUsd
  /** How long one circuit can use the machine: it is reserved for, and sent to the provider as the cap. */
  secondsMax: number
}

/** Prices of a backend in micro-USD, per task (one circuit sent) and per shot. */
export interface Pricing {
  taskFee: MicroUsd
  perShot: MicroUsd
  minimumCost: MicroUsd
  /** `null` for a backend that is not billed by time. */
  byTime: TimePrice | null
}

/** A day: longer than any provider lets one circuit run. */
export const SECONDS_MAX = 86_400

/** circuits x max(taskFee + perShot x shots + perSecond x secondsMax, minimumCost). */
export function estimateCost(pricing: Pricing, shots: number, circuits = 1): MicroUsd {
  const { taskFee, perShot, minimumCost, byTime } = pricing
  const time = byTime ? byTime.perSecond * BigInt(byTime.secondsMax) : 0n
  const perCircuit = taskFee + perShot * BigInt(shots) + time
  return BigInt(circuits) * (perCircuit > minimumCost ? perCircuit : minimumCost)
}

/**
 * The same for the runs of a sweep, each of which can have shots of its own.
 * @param shots of each run.
 * @param circuits of each run.
 */
export const estimateRuns = (pricing: Pricing, shots: readonly number[], circuits: number): MicroUsd =>
  shots.reduce((sum, of) => sum + estimateCost(pricing, of, circuits), 0n as MicroUsd)

export const isFree = ({ taskFee, perShot, minimumCost, byTime }: Pricing): boolean =>
  taskFee === 0n && perShot === 0n && minimumCost === 0n && (byTime === null || byTime.perSecond === 0n)
