// The figures of a run: the neighbour's times, what failed, and the time to recover.
import { type Measured, tookMs } from './neighbour.js'
import { type Memory, parts } from './processes.js'

/** The most that an attack can slow the neighbour down. */
export const SLOWER_MAX = 3
/** From the end of an attack until the neighbour's jobs are that fast again. */
export const RECOVERY_SECONDS_MAX = 10

export interface Times {
  jobs: number
  p50Ms: number | null
  p95Ms: number | null
}

export interface Figures {
  direct: Times
  temporal: Times
  /** Jobs and requests of the neighbour that failed, or jobs that did not finish. */
  failures: string[]
}

/** What failed of the jobs that began within a period. */
export const failuresOf = (jobs: readonly Measured[], from: number, to: number): string[] =>
  jobs.filter(({ beganAt }) => beganAt >= from && beganAt < to).flatMap(({ failures }) => failures)

/** The times of the jobs that began within a period. An unfinished job counts with the time that it has waited. */
export function figuresOf(jobs: readonly Measured[], from: number, to: number): Figures {
  const begun = jobs.filter(({ beganAt }) => beganAt >= from && beganAt < to)
  const unfinished = begun.filter(({ endedAt }) => endedAt === null)
  const failures = [
    ...failuresOf(begun, from, to),
    ...unfinished.map((job) => `job ${job.id}: not finished after ${seconds(tookMs(job))} s`)
  ]
  const timesOf = (mode: Measured['mode']): Times => {
    const sorted = begun
      .filter((job) => job.mode === mode)
      .map(tookMs)
      .sort((one, other) => one - other)
    return { jobs: sorted.length, p50Ms: quantile(sorted, 0.5), p95Ms: quantile(sorted, 0.95) }
  }
  return { direct: timesOf('direct'), temporal: timesOf('temporal'), failures }
}

/**
 * The time of each of the neighbour's jobs, divided by the 95th percentile of its mode alone. Both modes count together,
 * because an attack sees few workflows.
 */
export const timesAlone = (jobs: readonly Measured[], from: number, to: number, alone: Figures): number[] =>
  jobs.filter(({ beganAt }) => beganAt >= from && beganAt < to).map((job) => tookMs(job) / alone[job.mode].p95Ms!)

/** How many times slower than alone the neighbour's jobs were: the 95th percentile. `null` = there were none. */
export const slowdownOf = (times: readonly number[]): number | null =>
  quantile(
    [...times].sort((one, other) => one - other),
    0.95
  )

function quantile(sorted: readonly number[], share: number): number | null {
  return sorted.length === 0 ? null : sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!
}

/**
 * The seconds from `since` until the first of two jobs in a row that complete within the limit; `null` if there are none
 * yet. Jobs that began before `since` do not count.
 */
export function recoverySeconds(jobs: readonly Measured[], since: number, limitMs: number): number | null {
  const later = jobs.filter((job) => job.beganAt >= since && job.mode === 'direct')
  const isGood = (job: Measured | undefined) =>
    job?.endedAt != null && job.failures.length === 0 && tookMs(job) <= limitMs
  const first = later.findIndex((job, at) => isGood(job) && isGood(later[at + 1]))
  return first < 0 ? null : (later[first]!.beganAt - since) / 1000
}

/** The parts above their limit, as texts. */
export const aboveLimits = (peaks: Memory, limits: Memory): string[] =>
  parts
    .filter((part) => peaks[part] > limits[part])
    .map((part) => `${part}: ${peaks[part].toFixed(0)} MiB of ${limits[part]}`)

export const seconds = (ms: number): string => (ms / 1000).toFixed(ms < 9_950 ? 2 : 1)
