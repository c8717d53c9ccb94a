// Puts marks into columns, each as far left as its wires allow: a mark blocks all wires from its first to its last one, so
// that no line crosses a box that it does not belong to.
import type { FrameMark, Mark } from './marks.js'
import type { BitPlace } from './wires.js'

export interface PlacedMark {
  mark: Exclude<Mark, FrameMark>
  column: number
  /** The first and the last row that it reaches. */
  top: number
  bottom: number
}

export interface PlacedFrame {
  mark: FrameMark
  /** Its first column, the first one of its `else` and the one after its last. */
  begin: number
  middle: number | null
  end: number
  top: number
  bottom: number
  /** How many frames are around it. */
  depth: number
  /** How many labels stand above its first row: its own, and those of frames within it that begin there too. */
  labels: number
}

export interface Columns {
  /** By column. */
  marks: PlacedMark[]
  frames: PlacedFrame[]
  count: number
}

/** The row of a phase of the whole state, which no wire carries. */
const WHOLE_STATE = 0

export interface Rows {
  /** How many rows there are: one for phases of the whole state, one for each qubit, one for each classical wire. */
  count: number
  ofQubit: (qubit: number) => number
  ofClbit: (clbit: number) => number
}

export const rowsFor = (qubits: number, wires: number, places: ReadonlyMap<number, BitPlace>): Rows => ({
  count: 1 + qubits + wires,
  ofQubit: (qubit) => 1 + qubit,
  ofClbit: (clbit) => 1 + qubits + (places.get(clbit)?.wire ?? 0)
})

export function packed(marks: readonly Mark[], rows: Rows): Columns {
  const free: number[] = new Array(rows.count).fill(0)
  const columns: Columns = { marks: [], frames: [], count: 0 }
  packInto(columns, marks, rows, free, 0)
  columns.marks.sort((one, other) => one.column - other.column || one.top - other.top)
  columns.count = Math.max(0, ...free)
  return columns
}

function packInto(columns: Columns, marks: readonly Mark[], rows: Rows, free: number[], depth: number): void {
  for (const mark of marks) {
    if (mark.kind === 'if') {
      packFrame(columns, mark, rows, free, depth)
      continue
    }
    const { top, bottom } = extentOf(mark, rows)
    // A barrier lets the wires between its own ones pass.
    const own = mark.kind === 'barrier' && mark.qubits.length > 0 ? mark.qubits.map(rows.ofQubit) : null
    const column = own ? Math.max(...own.map((row) => free[row]!)) : furthest(free, top, bottom)
    if (own) for (const row of own) free[row] = column + 1
    else free.fill(column + 1, top, bottom + 1)
    columns.marks.push({ mark, column, top, bottom })
  }
}

function packFrame(columns: Columns, mark: FrameMark, rows: Rows, free: number[], depth: number): void {
  const { top, bottom } = extentOf(mark, rows)
  const begin = furthest(free, top, bottom)
  const frame: PlacedFrame = { mark, begin, middle: null, end: begin, top, bottom, depth, labels: 1 }
  // Frames stand before those within them, which are drawn over them.
  const place = columns.frames.push(frame)
  free.fill(begin, top, bottom + 1)
  packInto(columns, mark.body, rows, free, depth + 1)
  // A frame without content is as wide as one column.
  frame.end = Math.max(furthest(free, top, bottom), begin + 1)
  if (mark.otherwise.length > 0) {
    frame.middle = frame.end
    free.fill(frame.middle, top, bottom + 1)
    packInto(columns, mark.otherwise, rows, free, depth + 1)
    frame.end = Math.max(furthest(free, top, bottom), frame.middle + 1)
  }
  free.fill(frame.end, top, bottom + 1)
  for (const inside of columns.frames.slice(place))
    if (inside.top === top) frame.labels = Math.max(frame.labels, inside.labels + 1)
}

interface Extent {
  top: number
  bottom: number
}

/** From the first to the last row that a mark has something on. */
function extentOf(mark: Mark, rows: Rows): Extent {
  switch (mark.kind) {
    case 'gate':
      return extent([...mark.targets, ...mark.controls.map(({ qubit }) => qubit)].map(rows.ofQubit))
    case 'measure':
      return extent([rows.ofQubit(mark.qubit), rows.ofClbit(mark.clbit)])
    case 'reset':
      return extent([rows.ofQubit(mark.qubit)])
    case 'barrier':
      return extent(mark.qubits.map(rows.ofQubit))
    case 'if': {
      let { top, bottom } = mark.clbits.length === 0 ? NOWHERE : extent(mark.clbits.map(rows.ofClbit))
      for (const body of [mark.body, mark.otherwise])
        for (const inside of body) {
          const reached = extentOf(inside, rows)
          top = Math.min(top, reached.top)
          bottom = Math.max(bottom, reached.bottom)
        }
      return top > bottom ? { top: WHOLE_STATE, bottom: WHOLE_STATE } : { top, bottom }
    }
  }
}

const NOWHERE: Extent = { top: Infinity, bottom: -Infinity }

const extent = (reached: readonly number[]): Extent =>
  reached.length === 0
    ? { top: WHOLE_STATE, bottom: WHOLE_STATE }
    : { top: Math.min(...reached), bottom: Math.max(...reached) }

function furthest(free: readonly number[], top: number, bottom: number): number {
  let most = 0
  for (let row = top; row <= bottom; row++) most = Math.max(most, free[row]!)
  return most
}
