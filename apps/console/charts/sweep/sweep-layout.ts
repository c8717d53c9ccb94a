// Where each part of a sweep's plot stands: values against one parameter, with an error bar of one standard error.
import type { SweepData, SweepPoint } from '../../results/sweep.js'
import { numbered } from '../../text/exact-numbers.js'
import { cellsOf, clipped } from '../../text/shown-text.js'
import { numberAxis } from '../number-axis.js'
import type { Tick } from '../ticks.js'

/** As many shapes and colours as can be told apart. */
export const SERIES_MAX = 6
/** More points are drawn as one shape for each series, without a title of their own: thousands of elements stop a page. */
export const POINTS_APART_MAX = 300

export interface PlacedPoint {
  key: number
  x: number
  y: number
  error: { from: number; to: number } | null
  value: SweepPoint
}

export interface PlacedSeries {
  name: string
  /** Which shape and colour. */
  style: number
  points: PlacedPoint[]
  /** Through the points from left to right; empty where two points have the same parameter. */
  path: string
}

export interface SweepLayout {
  width: number
  height: number
  plot: { x: number; y: number; width: number; height: number }
  xTicks: Tick[]
  yTicks: Tick[]
  series: PlacedSeries[]
  seriesNotShown: number
  /** Values that cannot be drawn, because they are not finite numbers. */
  pointsNotShown: number
  description: string
}

const HEIGHT = 320
const CELL = 6.6
const GAP = 8
/** Half of the last mark's label. */
const RIGHT = 24
const TOP = 8
const X_LABELS = 24
const X_TICK_ROOM = 72
const Y_TICK_ROOM = 40
const INSET = 10
const CATEGORY_CELLS_MAX = 10
const NAME_CELLS_MAX = 60

export function sweepLayout({ parameter, series: all, leftOut = 0 }: SweepData, width: number): SweepLayout {
  const drawn = all.slice(0, SERIES_MAX).map(({ name, points }) => ({ name, points: points.filter(isDrawn) }))
  const points = drawn.flatMap(({ points }) => points)
  const pointsNotShown = all
    .slice(0, SERIES_MAX)
    .reduce((sum, { points }) => sum + points.filter((point) => !isDrawn(point)).length, 0)
  const height = HEIGHT - TOP - X_LABELS

  const [low, high] = rangeOf(points.flatMap(({ y, error }) => [y - (error ?? 0), y + (error ?? 0)]))
  const vertical = numberAxis(low, high, height, {
    most: Math.floor(height / Y_TICK_ROOM),
    ends: 'round'
  })
  const plotX = GAP + CELL * Math.max(1, ...vertical.ticks.map(({ label }) => cellsOf(label)))
  const plot = { x: plotX, y: TOP, width: Math.max(80, width - plotX - RIGHT), height }
  const horizontal = parameterAxis(points, plot.width - 2 * INSET)
  const placeX = (x: number | string) => pixels(plot.x + INSET + horizontal.place(x))
  const placeY = (y: number) => pixels(plot.y + height - vertical.place(y))

  const series = drawn.map(({ name, points }, style) => {
    const placed = points.map((value, key): PlacedPoint => {
      const { x, y, error } = value
      const bar = error ? { from: placeY(y - error), to: placeY(y + error) } : null
      return { key, x: placeX(x), y: placeY(y), error: bar, value }
    })
    return { name: clipped(name, NAME_CELLS_MAX), style, points: placed, path: pathOf(placed) }
  })
  return {
    width,
    height: HEIGHT,
    plot,
    xTicks: horizontal.ticks.map(({ at, label }) => ({ at: plot.x + INSET + at, label })),
    yTicks: vertical.ticks.map(({ at, label }) => ({ at: plot.y + height - at, label })),
    series,
    seriesNotShown: Math.max(0, all.length - SERIES_MAX) + leftOut,
    pointsNotShown,
    description: `${numbered(points.length, 'point')} of ${series.map(({ name }) => name).join(', ')} against ${clipped(parameter, NAME_CELLS_MAX)}, from ${low} to ${high}.`
  }
}

/** `ZZ at theta = 0.5: 0.25 ± 0.0316` */
export const titleOf = ({ x, y, error }: SweepPoint, name: string, parameter: string): string =>
  `${clipped(name, NAME_CELLS_MAX)} at ${clipped(parameter, NAME_CELLS_MAX)} = ${clipped(String(x), NAME_CELLS_MAX)}: ${y}${errorText(error)}`

/** To a hundredth: paths through thousands of points with all their digits take long to write and to read. */
const pixels = (place: number): number => Math.round(place * 100) / 100

/** ` ± 0.0316` */
export const errorText = (error: number | null): string =>
  error === null ? ' (standard error not stated)' : error === 0 ? ' (exact)' : ` ± ${Number(error.toPrecision(3))}`

const isDrawn = ({ x, y, error }: SweepPoint): boolean =>
  (typeof x === 'string' || Number.isFinite(x)) && Number.isFinite(y) && (error === null || Number.isFinite(error))

function rangeOf(values: readonly number[]): [number, number] {
  let [low, high] = [Infinity, -Infinity]
  for (const value of values) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  return low === Infinity ? [0, 1] : [low, high]
}

function parameterAxis(points: readonly SweepPoint[], length: number) {
  const most = Math.max(1, Math.floor(length / X_TICK_ROOM))
  if (points.every(({ x }) => typeof x === 'number')) {
    const axis = numberAxis(...rangeOf(points.map(({ x }) => x as number)), length, { most, ends: 'values' })
    return { ticks: axis.ticks, place: (x: number | string) => axis.place(x as number) }
  }
  const places = new Map<string, number>()
  for (const { x } of points) if (!places.has(String(x))) places.set(String(x), places.size)
  const place = (x: number | string) => ((places.get(String(x))! + 0.5) / places.size) * length
  const every = Math.ceil(places.size / most)
  const ticks = [...places.keys()]
    .filter((_, at) => at % every === 0)
    .map((label) => ({ at: place(label), label: clipped(label, CATEGORY_CELLS_MAX) }))
  return { ticks, place }
}

function pathOf(points: readonly PlacedPoint[]): string {
  const sorted = [...points].sort((one, other) => one.x - other.x)
  // Several values at one place come from a sweep of more than this parameter, through which a line means nothing.
  if (sorted.some(({ x }, at) => x === sorted[at + 1]?.x)) return ''
  return sorted.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join('')
}
