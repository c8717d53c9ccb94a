// How the distance of a capsule's verifications from its sealed counts changes over time.

export interface Drift {
  /** How many verifications have a distance. */
  points: number
  /** Total variation distance. */
  mean: number
  min: number
  max: number
  /** Change of the distance in 30 days by least squares, and its standard error; `null` below three points. */
  per_30_days: number | null
  standard_error: number | null
}

const MS_OF_30_DAYS = 30 * 24 * 3_600_000

/** @param points of one capsule, in any order. @returns `null` without any. */
export function driftOf(points: readonly { at: Date; tvd: number }[]): Drift | null {
  if (points.length === 0) return null
  const n = points.length
  const distances = points.map(({ tvd }) => tvd)
  const times = points.map(({ at }) => at.getTime() / MS_OF_30_DAYS)
  const mean = distances.reduce((sum, one) => sum + one, 0) / n
  const middle = times.reduce((sum, one) => sum + one, 0) / n
  const spread = times.reduce((sum, time) => sum + (time - middle) ** 2, 0)
  const summary = { points: n, mean, min: Math.min(...distances), max: Math.max(...distances) }
  if (n < 3 || spread === 0) return { ...summary, per_30_days: null, standard_error: null }
  const slope = times.reduce((sum, time, at) => sum + (time - middle) * (distances[at]! - mean), 0) / spread
  const rest = times.reduce((sum, time, at) => sum + (distances[at]! - mean - slope * (time - middle)) ** 2, 0)
  return { ...summary, per_30_days: slope, standard_error: Math.sqrt(rest / (n - 2) / spread) }
}
