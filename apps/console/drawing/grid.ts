// How high the rows of a drawing are and how wide its columns.
import { cellsOf, clipped } from '../text/shown-text.js'
import type { PlacedFrame, PlacedMark } from './columns.js'
import type { GateMark } from './marks.js'

export const BOX_HEIGHT = 28
/** Of labels in boxes and of names, at 12 pixels. */
export const CELL = 7.3
/** How much a frame's label takes above its first row. */
export const FRAME_LABEL = 13
export const FRAME_LABEL_CELLS_MAX = 24
const FRAME_CELL = 6.2
const QUBIT_ROW = 42
const CLASSICAL_ROW = 30
const WHOLE_STATE_ROW = 34
const PADDING = 10
const COLUMN_MIN = 46
const COLUMN_GAP = 16
const BOX_MIN = 30
const BOX_PADDING = 14
const PORT_WIDTH = 10
const LABEL_CELLS_MAX = 18
/** Half of a dot, a cross or a circle. */
const SIGN_HALF_WIDTH = 10

export interface RowGrid {
  height: number
  centre: (row: number) => number
  /** The upper edge, below the labels of frames that begin in this row. */
  top: (row: number) => number
  bottom: (row: number) => number
}

/** Rows in the order of columns.ts: the one of phases of the whole state, qubits, classical wires. */
export function rowGrid(
  qubits: number,
  classical: number,
  hasWholeState: boolean,
  frames: readonly PlacedFrame[]
): RowGrid {
  const heights = [
    hasWholeState ? WHOLE_STATE_ROW : 0,
    ...new Array<number>(qubits).fill(QUBIT_ROW),
    ...new Array<number>(classical).fill(CLASSICAL_ROW)
  ]
  const labels: number[] = new Array(heights.length).fill(0)
  for (const frame of frames) labels[frame.top] = Math.max(labels[frame.top]!, frame.labels)
  let edge = PADDING
  const tops = heights.map((height, row) => {
    const top = edge + labels[row]! * FRAME_LABEL
    edge = top + height
    return top
  })
  return {
    height: edge + PADDING,
    centre: (row) => tops[row]! + heights[row]! / 2,
    top: (row) => tops[row]!,
    bottom: (row) => tops[row]! + heights[row]!
  }
}

/** The left edge of each column, and the right edge of the last one. */
export function columnEdges(marks: readonly PlacedMark[], frames: readonly PlacedFrame[], count: number): number[] {
  const widths: number[] = new Array(count).fill(COLUMN_MIN)
  for (const { mark, column } of marks)
    if (mark.kind === 'gate') widths[column] = Math.max(widths[column]!, 2 * halfWidthOf(mark) + COLUMN_GAP)
  for (const { mark, begin, middle, end, depth } of frames) {
    const label = FRAME_CELL * (2 + cellsOf(clipped(mark.label, FRAME_LABEL_CELLS_MAX))) + 4 * Math.min(3, depth)
    const width = widths.slice(begin, middle ?? end).reduce((sum, one) => sum + one, 0)
    if (width < label) widths[begin] = widths[begin]! + label - width
  }
  const edges = [0]
  for (const width of widths) edges.push(edges.at(-1)! + width)
  return edges
}

export const labelOf = ({ label }: GateMark): string => clipped(label, LABEL_CELLS_MAX)

export function halfWidthOf(mark: GateMark): number {
  if (mark.sign !== 'box') return SIGN_HALF_WIDTH
  const ports = mark.targets.length > 1 ? 2 * PORT_WIDTH : 0
  return Math.max(BOX_MIN, CELL * cellsOf(labelOf(mark)) + BOX_PADDING + ports) / 2
}
