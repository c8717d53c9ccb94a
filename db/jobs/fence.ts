import { and, eq, type SQL } from 'drizzle-orm'
import { jobs } from '../tables/jobs.js'

/** Who is writing: the generation of the executing side, and for direct jobs the lease it holds. */
export interface Fence {
  generation: number
  lease?: string
}

/** The condition that keeps a side that lost its job from writing anything more about it. */
export function fenceHolds(fence: Fence | undefined): SQL | undefined {
  if (!fence) return undefined
  const generation = eq(jobs.generation, fence.generation)
  return fence.lease ? and(generation, eq(jobs.leaseToken, fence.lease)) : generation
}
