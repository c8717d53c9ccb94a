// Axes of shares from 0 to 1, linear or logarithmic, as functions from a share to a place.
import { roundStep, type Tick } from './ticks.js'

export interface ShareAxis {
  ticks: Tick[]
  /** Pixels from the left end; a share below the axis is at its left end. */
  place: (share: number) => number
  /** The share at the right end. A larger one is placed there too. */
  end: number
}

const TICK_ROOM = 64

/** @param most the largest share that is drawn. */
export function linearAxis(most: number, width: number): ShareAxis {
  const top = Math.min(1, most > 0 ? most : 1)
  const step = roundStep(top / Math.max(1, Math.floor(width / TICK_ROOM)))
  const end = Math.min(1, Math.ceil(top / step - 1e-9) * step)
  const place = (share: number) => (Math.min(Math.max(share, 0), end) / end) * width
  const ticks: Tick[] = []
  for (let mark = 0; mark * step <= end + 1e-12; mark++)
    ticks.push({ at: place(mark * step), label: percentLabel(mark * step) })
  return { ticks, place, end }
}

/** @param least the smallest share that is drawn, above 0. The axis begins a power of ten below, so its bar is seen. */
export function logarithmicAxis(least: number, most: number, width: number): ShareAxis {
  const low = Math.ceil(Math.log10(least) - 1e-9) - 1
  const high = Math.max(low + 1, Math.min(0, Math.ceil(Math.log10(most) - 1e-9)))
  const place = (share: number) =>
    share <= 0 ? 0 : (Math.min(1, Math.max(0, (Math.log10(share) - low) / (high - low))) || 0) * width
  const every = Math.max(1, Math.ceil(((high - low) * TICK_ROOM) / Math.max(TICK_ROOM, width)))
  const ticks: Tick[] = []
  for (let decade = high; decade >= low; decade -= every)
    ticks.unshift({ at: place(10 ** decade), label: percentLabel(10 ** decade) })
  return { ticks, place, end: 10 ** high }
}

function percentLabel(share: number): string {
  const percent = Number((share * 100).toPrecision(6))
  return `${percent !== 0 && percent < 0.001 ? percent.toExponential() : percent} %`
}
