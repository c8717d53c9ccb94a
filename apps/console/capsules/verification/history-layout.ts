// Where the verifications of one page stand: their verdicts in a strip, their distances over time. Points of one kind are one
// path, so that hundreds of them are drawn at once.
import { numberAxis } from '../../charts/number-axis.js'
import type { Tick } from '../../charts/ticks.js'
import { numbered } from '../../text/exact-numbers.js'
import { distanceText, type Verdict, verdicts, wordsOf } from '../words.js'

export interface PastPoint {
  completed_at: string
  verdict: Verdict
  tvd: number | null
  tvd_upper: number | null
  margin: number | null
  /** Absent where the public sees it. */
  trigger?: string
  alerted_at?: string | null
}

export interface Drift {
  points: number
  mean: number
  per_30_days: number | null
  standard_error: number | null
}

export interface HistoryLayout {
  height: number
  plot: { x: number; y: number; width: number; height: number }
  strip: { verdict: Verdict; path: string }[]
  points: { verdict: Verdict; path: string }[]
  /** From each distance up to its bound. */
  bounds: string
  margin: string
  /** Circles around the verifications that raised an alert, and squares around the confirmations. */
  alerts: string
  confirmations: string
  drift: { x1: number; y1: number; x2: number; y2: number } | null
  xTicks: Tick[]
  yTicks: Tick[]
  description: string
}

const [LEFT, RIGHT, TOP, STRIP, GAP, PLOT, BOTTOM] = [52, 12, 4, 18, 10, 180, 26]
const RADIUS = 3
const MS_OF_30_DAYS = 30 * 24 * 3_600_000

const dateText = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** @param past in any order. */
export function historyLayout(past: readonly PastPoint[], drift: Drift | null, width: number): HistoryLayout {
  const inOrder = past
    .map((point) => ({ ...point, at: Date.parse(point.completed_at) }))
    .sort((one, other) => one.at - other.at)
  const [first, last] = [inOrder[0]?.at ?? 0, inOrder.at(-1)?.at ?? 0]
  const span = Math.max(1, last - first)
  const plot = { x: LEFT, y: TOP + STRIP + GAP, width: Math.max(80, width - LEFT - RIGHT), height: PLOT }
  const x = (at: number) => plot.x + (last === first ? 0.5 : (at - first) / span) * plot.width
  const top = inOrder.reduce(
    (most, { tvd, tvd_upper, margin }) => Math.max(most, tvd ?? 0, tvd_upper ?? 0, margin ?? 0),
    0
  )
  const axis = numberAxis(0, top || 1, plot.height, { most: 5, ends: 'round' })
  const y = (distance: number) => plot.y + plot.height - axis.place(distance)
  const measured = inOrder.flatMap((point) => (point.tvd === null ? [] : [{ ...point, tvd: point.tvd }]))
  const around = (points: typeof measured, draw: (x: number, y: number) => string) =>
    points.map(({ at, tvd }) => draw(rounded(x(at)), rounded(y(tvd)))).join('')
  const cell = Math.max(1, Math.floor(plot.width / Math.max(1, inOrder.length)))
  return {
    height: plot.y + plot.height + BOTTOM,
    plot,
    strip: byVerdict(inOrder, (points) =>
      points.map(({ place }) => {
        const from = rounded(plot.x + (place / Math.max(1, inOrder.length)) * plot.width)
        return `M${from} ${TOP}h${cell}v${STRIP}h${-cell}z`
      })
    ),
    points: byVerdict(measured, (points) =>
      points.map(({ at, tvd }) => circle(rounded(x(at)), rounded(y(tvd)), RADIUS))
    ),
    bounds: measured
      .flatMap(({ at, tvd, tvd_upper }) =>
        tvd_upper === null ? [] : [`M${rounded(x(at))} ${rounded(y(tvd))}V${rounded(y(tvd_upper))}`]
      )
      .join(''),
    margin: steps(inOrder.flatMap(({ at, margin }) => (margin === null ? [] : [[x(at), y(margin)] as const]))),
    alerts: around(
      measured.filter(({ alerted_at }) => alerted_at != null),
      (left, up) => circle(left, up, 2 * RADIUS)
    ),
    confirmations: around(
      measured.filter(({ trigger }) => trigger === 'confirmation'),
      (left, up) => `M${left - 6} ${up - 6}h12v12h-12z`
    ),
    drift: driftLine(measured, drift, { first, last, x, y }),
    xTicks:
      inOrder.length === 0 ? [] : datesOf(first, last, plot.width).map((at) => ({ at: x(at), label: dateText(at) })),
    yTicks: axis.ticks.map(({ at, label }) => ({ at: plot.y + plot.height - at, label })),
    description: descriptionOf(inOrder, drift)
  }
}

const rounded = (value: number): number => Math.round(value * 10) / 10

const circle = (x: number, y: number, r: number): string =>
  `M${rounded(x - r)} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`

function byVerdict<Point extends { verdict: Verdict }>(
  points: readonly Point[],
  draw: (points: (Point & { place: number })[]) => string[]
): { verdict: Verdict; path: string }[] {
  const placed = points.map((point, place) => ({ ...point, place }))
  return verdicts.flatMap((verdict) => {
    const own = placed.filter((point) => point.verdict === verdict)
    return own.length === 0 ? [] : [{ verdict, path: draw(own).join('') }]
  })
}

const steps = (points: readonly (readonly [number, number])[]): string =>
  points
    .map(([left, up], at) => (at === 0 ? `M${rounded(left)} ${rounded(up)}` : `H${rounded(left)}V${rounded(up)}`))
    .join('')

/** Through the mean of times and distances, with the slope that the service computed. */
function driftLine(
  measured: readonly { at: number; tvd: number }[],
  drift: Drift | null,
  { first, last, x, y }: { first: number; last: number; x: (at: number) => number; y: (tvd: number) => number }
): HistoryLayout['drift'] {
  if (drift === null || drift.per_30_days === null || measured.length === 0) return null
  const middle = measured.reduce((sum, { at }) => sum + (at - first), 0) / measured.length + first
  const at = (time: number) => Math.max(0, drift.mean + (drift.per_30_days! * (time - middle)) / MS_OF_30_DAYS)
  return { x1: rounded(x(first)), y1: rounded(y(at(first))), x2: rounded(x(last)), y2: rounded(y(at(last))) }
}

const DATE_WIDTH = 90

function datesOf(first: number, last: number, width: number): number[] {
  if (first === last) return [first]
  const count = Math.max(1, Math.floor(width / DATE_WIDTH) - 1)
  return Array.from({ length: count + 1 }, (_, at) => first + ((last - first) * at) / count)
}

function descriptionOf(points: readonly (PastPoint & { at: number })[], drift: Drift | null): string {
  if (points.length === 0) return 'There is no verification yet.'
  const each = verdicts.flatMap((verdict) => {
    const times = points.filter((point) => point.verdict === verdict).length
    return times === 0 ? [] : [`${times} ${wordsOf(verdict)}`]
  })
  const from = `${numbered(points.length, 'verification')} from ${dateText(points[0]!.at)} to ${dateText(points.at(-1)!.at)}: ${each.join(', ')}.`
  return drift === null ? from : `${from} ${driftText(drift)}`
}

/** A slope within two standard errors of 0 means nothing. */
export function driftText({ mean, per_30_days: slope, standard_error: error }: Drift): string {
  const middle = `The mean distance is ${distanceText(mean)}.`
  if (slope === null || error === null) return middle
  const change = `${slope < 0 ? '-' : '+'}${distanceText(Math.abs(slope))} in 30 days, standard error ${distanceText(error)}`
  return `${middle} Drift: ${change}${Math.abs(slope) <= 2 * error ? ', which means nothing yet' : ''}.`
}
