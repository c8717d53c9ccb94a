// A linear axis over any range of numbers, with marks at round values.
import { roundStep, type Tick } from './ticks.js'

export interface NumberAxis {
  ticks: Tick[]
  /** Pixels from the axis's beginning. */
  place: (value: number) => number
}

interface AxisOptions {
  /** How many marks fit, at least 1. */
  most: number
  /** Whether the axis ends at the values themselves, or at the round ones around them. */
  ends: 'values' | 'round'
}

export function numberAxis(least: number, greatest: number, length: number, { most, ends }: AxisOptions): NumberAxis {
  const [low, high] = widened(least, greatest)
  const step = roundStep((high - low) / most)
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)]
  const [begin, end] = ends === 'round' ? [first * step, last * step] : [low, high]
  // Where a step is too small for the numbers themselves, the axis has no marks.
  if (!(end > begin) || first + 1 === first) return { ticks: [], place: () => length / 2 }
  const place = (value: number) => Math.min(1, Math.max(0, (value - begin) / (end - begin))) * length
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  const ticks: Tick[] = []
  for (let mark = first; mark <= last; mark++) {
    const value = mark * step
    const isWithin = value >= begin - 1e-9 * step && value <= end + 1e-9 * step
    if (isWithin) ticks.push({ at: place(value), label: markText(value, decimals) })
  }
  return { ticks, place }
}

/** A range that is not a single point. */
function widened(least: number, greatest: number): [number, number] {
  if (greatest > least) return [least, greatest]
  const around = Math.abs(least) * 0.1 || 1
  return [least - around, least + around]
}

function markText(value: number, decimals: number): string {
  const size = Math.abs(value)
  if (size !== 0 && (size >= 1e6 || decimals > 6)) return Number(value.toPrecision(6)).toExponential()
  const text = value.toFixed(decimals)
  return Number(text) === 0 ? (0).toFixed(decimals) : text
}
