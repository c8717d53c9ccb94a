// The estimate of a job's cost, from the backend's prices.
import type { MicroUsd } from './money.js'

/** Prices of a backend in micro-USD, per task (one circuit sent) and per shot. */
export interface Pricing {
  taskFee: MicroUsd
  perShot: MicroUsd
  minimumCost: MicroUsd
}

/** circuits x max(taskFee + perShot x shots, minimumCost). */
export function estimateCost(pricing: Pricing, shots: number, circuits = 1): MicroUsd {
  const perCircuit = pricing.taskFee + pricing.perShot * BigInt(shots)
  return BigInt(circuits) * (perCircuit > pricing.minimumCost ? perCircuit : pricing.minimumCost)
}

/**
 * The same for the runs of a sweep, each of which can have shots of its own.
 * @param shots of each run.
 * @param circuits of each run.
 */
export const estimateRuns = (pricing: Pricing, shots: readonly number[], circuits: number): MicroUsd =>
  shots.reduce((sum, of) => sum + estimateCost(pricing, of, circuits), 0n as MicroUsd)

export const isFree = ({ taskFee, perShot, minimumCost }: Pricing): boolean =>
  taskFee === 0n && perShot === 0n && minimumCost === 0n
