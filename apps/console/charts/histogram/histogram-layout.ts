// Where each part of a histogram stands: a row for each outcome, its label to the left, its bars in the middle, their
// counts to the right. Rows rather than columns, because an outcome can have 256 bits.
import type { Counts } from '../../results/counts.js'
import { groupedDigits, numbered, percentText } from '../../text/exact-numbers.js'
import { cellsOf, clipped } from '../../text/shown-text.js'
import { linearAxis, logarithmicAxis, type ShareAxis } from '../share-axis.js'
import type { Tick } from '../ticks.js'
import { type Bar, type BarSelection, selectBars } from './bars.js'
import { labelLines, type OutcomeReading, outcomeParts } from './outcome-label.js'

export interface HistogramData extends OutcomeReading {
  /** One set, or two to be compared. */
  sets: readonly { name: string; counts: Counts }[]
}

export interface HistogramOptions {
  /** In pixels. */
  width: number
  top: number
  sort: 'count' | 'outcome'
  axis: 'linear' | 'logarithmic'
  /** Outcomes as Qiskit prints them. */
  turned: boolean
}

export interface PlacedBar {
  set: number
  x: number
  y: number
  width: number
  height: number
  /** Whether the bar is longer than the axis: the rest can be much more than any outcome. */
  isCut: boolean
  interval: { from: number; to: number; y: number } | null
  value: { x: number; y: number; text: string }
}

export interface PlacedRow {
  key: string
  isRest: boolean
  y: number
  height: number
  /** The parts of a label on one line, or its lines. */
  label: { x: number; y: number; text: string; part: number }[]
  bars: PlacedBar[]
  /** Everything about the row in words. */
  title: string
}

export interface HistogramLayout {
  width: number
  height: number
  plot: { x: number; y: number; width: number; height: number }
  ticks: Tick[]
  rows: PlacedRow[]
  /** What the picture shows, for those who do not see it. */
  description: string
}

/** Of the monospaced font of labels and counts, at 12 pixels. */
const CELL = 7.3
const LINE = 15
const LABEL_LINES_MAX = 4
const LABEL_CELLS_MIN = 6
/** No outcome of a circuit is longer; texts of a program can be. */
const OUTCOME_CELLS_MAX = 256
const PART_GAP = 0.6 * CELL
const GAP = 10
const BAR = 14
const BAR_OF_PAIR = 15
const ROW_GAP = 8
const AXIS = 22
const PLOT_MIN = 48

/** Which bars are shown, which takes a while for 100,000 outcomes and does not depend on the size of the picture. */
export function histogramBars(data: HistogramData, options: Pick<HistogramOptions, 'top' | 'sort' | 'turned'>) {
  const sets = data.sets.map(({ counts }) => counts)
  const shownAs = (outcome: string) => shownParts(outcome, data, options.turned).join(' ')
  return selectBars(sets, { ...options, shownAs })
}

const shownParts = (outcome: string, { registers }: HistogramData, turned: boolean): string[] =>
  outcomeParts(outcome, registers, turned).map((part) => clipped(part, OUTCOME_CELLS_MAX))

export function histogramLayout(
  data: HistogramData,
  selection: BarSelection,
  options: Pick<HistogramOptions, 'width' | 'axis' | 'turned'>
): HistogramLayout {
  const { width, turned } = options
  const sets = data.sets.map(({ counts }) => counts)
  const entries = [
    ...selection.rows.map(({ outcome, bars }) => ({
      parts: shownParts(outcome, data, turned),
      bars,
      isRest: false,
      key: `=${outcome}`
    })),
    ...(selection.rest ? [{ parts: [restLabel(selection)], bars: selection.rest.bars, isRest: true, key: 'rest' }] : [])
  ]
  const values = entries.map(({ bars }) => bars.map((bar, set) => valueText(bar, sets[set]!.total)))
  const valueWidth = CELL * Math.max(0, ...values.flat().map(cellsOf))
  const wanted = Math.max(LABEL_CELLS_MIN, ...entries.map(({ parts }) => cellsOf(parts.join(' '))))
  const room = Math.floor((width - valueWidth - 2 * GAP - PLOT_MIN) / CELL)
  const cells = Math.max(LABEL_CELLS_MIN, Math.min(wanted, room, Math.floor((0.45 * width) / CELL)))
  const plotX = cells * CELL + GAP
  const plotWidth = Math.max(PLOT_MIN, width - plotX - valueWidth - GAP)
  const axis = axisOf(selection, options.axis, plotWidth)

  const barHeight = sets.length > 1 ? BAR_OF_PAIR : BAR
  let y = 0
  const rows = entries.map(({ parts, bars, isRest, key }, at): PlacedRow => {
    const lines = labelLines(parts, cells, LABEL_LINES_MAX)
    const height = ROW_GAP + Math.max(bars.length * barHeight, lines.length * LINE)
    const top = y
    y += height
    const firstBar = top + (height - bars.length * barHeight) / 2
    return {
      key,
      isRest,
      y: top,
      height,
      label: placedLabel(parts, lines, cells * CELL, top + height / 2),
      bars: bars.map((bar, set) =>
        placedBar(bar, set, axis, plotX, firstBar + set * barHeight, barHeight - (sets.length > 1 ? 2 : 0), {
          x: width,
          text: values[at]![set]!
        })
      ),
      title: rowTitle(isRest ? restLabel(selection) : parts.join(' '), data, bars)
    }
  })
  return {
    width,
    height: y + AXIS,
    plot: { x: plotX, y: 0, width: plotWidth, height: y },
    ticks: axis.ticks.map(({ at, label }) => ({ at: plotX + at, label })),
    rows,
    description: describe(data, selection, rows)
  }
}

/** `rest (1,004 outcomes)` */
export function restLabel({ rest }: BarSelection): string {
  const outcomes = numbered(rest!.outcomes, 'outcome')
  return `rest (${rest!.atLeast ? `at least ${outcomes}` : outcomes})`
}

/** A count with its share, or why there is none. */
export const valueText = ({ count }: Bar, total: bigint): string =>
  count === null ? 'not read' : `${groupedDigits(count)}  ${percentText(count, total).padStart(8)}`

/** `47.2 to 53.4 %` */
export const intervalText = ([low, high]: readonly [number, number]): string =>
  `${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)} %`

/** A linear axis is one for the outcomes, beside which the rest can be large; a logarithmic one has room for all. */
function axisOf({ rows, rest }: BarSelection, kind: HistogramOptions['axis'], width: number): ShareAxis {
  const outcomes = rows.flatMap(({ bars }) => bars)
  const most = outcomes.reduce((top, { share, interval }) => Math.max(top, interval?.[1] ?? share), 0)
  const seen = [...outcomes, ...(rest?.bars ?? [])].map(({ share }) => share).filter((share) => share > 0)
  return kind === 'logarithmic' && seen.length > 0
    ? logarithmicAxis(Math.min(...seen), Math.max(...seen, most), width)
    : linearAxis(most, width)
}

function placedLabel(parts: readonly string[], lines: readonly string[], right: number, middle: number) {
  if (lines.length > 1)
    return lines.map((text, line) => ({ x: right, y: middle + (line - (lines.length - 1) / 2) * LINE, text, part: 0 }))
  const widths = parts.map((part) => cellsOf(part) * CELL)
  let x = right
  return parts
    .map((text, part) => ({ text, part }))
    .reverse()
    .map(({ text, part }) => {
      const placed = { x, y: middle, text, part }
      x -= widths[part]! + PART_GAP
      return placed
    })
    .reverse()
}

function placedBar(
  { share, interval }: Bar,
  set: number,
  { place, end }: ShareAxis,
  x: number,
  y: number,
  height: number,
  value: { x: number; text: string }
): PlacedBar {
  const middle = y + height / 2
  return {
    set,
    x,
    y,
    // What was counted at all is seen.
    width: share > 0 ? Math.max(1, place(share)) : 0,
    height,
    isCut: share > end,
    interval: interval && { from: x + place(interval[0]), to: x + place(interval[1]), y: middle },
    value: { ...value, y: middle }
  }
}

function rowTitle(label: string, { sets }: HistogramData, bars: readonly Bar[]): string {
  const each = bars.map((bar, set) => {
    const { name, counts } = sets[set]!
    const of = sets.length > 1 ? `${clipped(name, 40)}: ` : ''
    if (bar.count === null) return `${of}not among the most frequent outcomes that were read`
    const interval = bar.interval ? `, 95 % interval ${intervalText(bar.interval)}` : ''
    return `${of}${groupedDigits(bar.count)} of ${groupedDigits(counts.total)} (${percentText(bar.count, counts.total)})${interval}`
  })
  return `${label}: ${each.join('; ')}`
}

function describe({ sets }: HistogramData, selection: BarSelection, rows: readonly PlacedRow[]): string {
  const names = sets.map(({ name, counts }) => `${clipped(name, 40)} with ${numbered(counts.total, 'shot')}`)
  const shown = selection.rows.length
  const what =
    selection.rest === null ? `All ${numbered(shown, 'outcome')}` : `The ${numbered(shown, 'most frequent outcome')}`
  return `${what} of ${names.join(' and ')}. ${rows
    .slice(0, 3)
    .map(({ title }) => `${title}.`)
    .join(' ')}`
}
