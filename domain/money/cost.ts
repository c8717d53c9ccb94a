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

export const isFree = ({ taskFee, perShot, minimumCost }: Pricing): boolean =>
  taskFee === 0n && perShot === 0n && minimumCost === 0n
