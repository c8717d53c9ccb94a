import { and, eq, type SQL } from 'drizzle-orm'
import type { Given } from '../statement.js'
import { jobs } from '../tables/jobs.js'

/** The writer of a change: the generation of the worker, and for direct jobs its lease. */
export interface Fence {
  generation: number
  lease?: string
}

/** A fence whose values a statement gets each time that it runs. */
export interface GivenFence {
  generation: Given<number>
  lease?: Given<string>
}

/** The condition that stops a worker that has lost its claim on a job from writing to it. */
export function fenceHolds(fence: GivenFence | undefined): SQL | undefined {
  if (!fence) return undefined
  const generation = eq(jobs.generation, fence.generation)
  return fence.lease ? and(generation, eq(jobs.leaseToken, fence.lease)) : generation
}
