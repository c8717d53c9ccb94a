// Where the figures of a verdict stand on one axis of distances.
import { linearAxis, type ShareAxis } from '../../charts/share-axis.js'
import { distanceText } from '../words.js'

export interface Distances {
  tvd: number | null
  /** The largest true distance. */
  tvd_upper: number | null
  margin: number
  /** What two runs of one distribution are apart on average. */
  tvd_null?: number | null
}

export interface DistanceLayout {
  axis: ShareAxis
  margin: number
  observed: number | null
  upper: number | null
  byChance: number | null
  /** The same in words. */
  description: string
}

export function distanceLayout({ tvd, tvd_upper, margin, tvd_null = null }: Distances, width: number): DistanceLayout {
  const axis = linearAxis(Math.max(margin, tvd ?? 0, tvd_upper ?? 0, tvd_null ?? 0) * 1.1, width)
  const at = (distance: number | null) => (distance === null ? null : axis.place(distance))
  const bound = tvd_upper === null ? '' : `, the true one is at most ${distanceText(tvd_upper)}`
  const chance = tvd_null === null ? '' : ` Chance alone gives ${distanceText(tvd_null)} on average.`
  return {
    axis,
    margin: axis.place(margin),
    observed: at(tvd),
    upper: at(tvd_upper),
    byChance: at(tvd_null),
    description:
      tvd === null
        ? `No distance was computed. The margin is ${distanceText(margin)}.`
        : `The observed distance is ${distanceText(tvd)}${bound}; the margin is ${distanceText(margin)}.${chance}`
  }
}
