// Where each part of a circuit's drawing stands, in pixels. Qubit 0 is the topmost wire.
import type { Circuit, Position } from '../circuit/circuit.js'
import { numbered } from '../text/exact-numbers.js'
import { cellsOf, clipped } from '../text/shown-text.js'
import { type PlacedFrame, type PlacedMark, packed, type Rows, rowsFor } from './columns.js'
import {
  BOX_HEIGHT,
  CELL,
  columnEdges,
  FRAME_LABEL,
  FRAME_LABEL_CELLS_MAX,
  halfWidthOf,
  labelOf,
  type RowGrid,
  rowGrid
} from './grid.js'
import { type GateMark, marksOf } from './marks.js'
import { type BitPlace, bitPlaces, classicalWires } from './wires.js'

export interface DrawnWire {
  kind: 'qubit' | 'classical'
  y: number
  label: string
  /** The name in full. */
  title: string
  /** How many bits a classical wire stands for. */
  bits: number
}

interface Drawn {
  key: number
  /** `null` where the circuit does not say where its statement stands. */
  position: Position | null
  title: string
  column: number
  /** The centre. */
  x: number
}

export type DrawnMark = Drawn &
  (
    | {
        kind: 'gate'
        sign: GateMark['sign']
        label: string
        /** Half the width and the edges of the box; without a box, of the sign. */
        box: { halfWidth: number; top: number; bottom: number } | null
        /** Which of several targets each wire is, at the left side of the box. */
        ports: { y: number; text: string }[]
        targets: number[]
        controls: { y: number; isFilled: boolean }[]
        line: { from: number; to: number } | null
      }
    | { kind: 'measure'; y: number; toY: number; bit: string | null }
    | { kind: 'reset'; y: number }
    | { kind: 'barrier'; ys: number[] }
  )

export interface DrawnFrame {
  key: number
  position: Position | null
  title: string
  label: string
  begin: number
  end: number
  x: number
  width: number
  y: number
  height: number
  /** Where its `else` begins. */
  elseX: number | null
}

export interface Drawing {
  height: number
  labelWidth: number
  wires: DrawnWire[]
  /** By column. */
  marks: DrawnMark[]
  frames: DrawnFrame[]
  /** The left edge of each column, and the right edge of the last one. */
  edges: number[]
  description: string
}

const LABEL_MARGIN = 12
const NAME_CELLS_MAX = 18
const TITLE_CELLS_MAX = 300

export function drawCircuit(circuit: Circuit): Drawing {
  const classical = classicalWires(circuit)
  const places = bitPlaces(classical)
  const rows = rowsFor(circuit.qubits, classical.length, places)
  const columns = packed(marksOf(circuit, classical), rows)
  const hasWholeState = columns.marks.some(({ top }) => top === 0)
  const grid = rowGrid(circuit.qubits, classical.length, hasWholeState, columns.frames)
  const y = grid.centre
  const edges = columnEdges(columns.marks, columns.frames, columns.count)
  const marks = columns.marks.map((placed, key) => drawnMark(placed, key, { circuit, rows, places, edges, y }))
  const frames = columns.frames.map((placed, key) => drawnFrame(placed, key, { circuit, edges, grid }))
  const wires = [
    ...Array.from({ length: circuit.qubits }, (_, qubit) =>
      drawnWire('qubit', y(1 + qubit), circuit.qubitNames[qubit] ?? `qubit ${qubit}`, 1)
    ),
    ...classical.map(({ name, clbits }, wire) =>
      drawnWire('classical', y(1 + circuit.qubits + wire), name, clbits.length)
    )
  ]
  const labelWidth = LABEL_MARGIN + CELL * Math.max(2, ...wires.map(({ label }) => cellsOf(label)))
  return {
    height: grid.height,
    labelWidth,
    wires,
    marks,
    frames,
    edges,
    description: describe(circuit, marks, columns.count)
  }
}

interface Context {
  circuit: Circuit
  edges: readonly number[]
  y: (row: number) => number
}

function drawnMark(
  { mark, column, top, bottom }: PlacedMark,
  key: number,
  { circuit, rows, places, edges, y }: Context & { rows: Rows; places: ReadonlyMap<number, BitPlace> }
): DrawnMark {
  const common = {
    key,
    position: positionOf(circuit, mark.call),
    title: clipped(mark.title, TITLE_CELLS_MAX),
    column,
    x: (edges[column]! + edges[column + 1]!) / 2
  }
  const ofQubit = (qubit: number) => y(rows.ofQubit(qubit))
  switch (mark.kind) {
    case 'measure': {
      const bit = places.get(mark.clbit)?.bit ?? null
      return {
        ...common,
        kind: 'measure',
        y: ofQubit(mark.qubit),
        toY: y(bottom),
        bit: bit === null ? null : String(bit)
      }
    }
    case 'reset':
      return { ...common, kind: 'reset', y: ofQubit(mark.qubit) }
    case 'barrier':
      return { ...common, kind: 'barrier', ys: mark.qubits.map(ofQubit) }
    case 'gate': {
      const targets = mark.targets.length > 0 ? mark.targets.map(ofQubit) : mark.controls.length > 0 ? [] : [y(0)]
      const controls = mark.controls.map(({ qubit, value }) => ({ y: ofQubit(qubit), isFilled: value === 1 }))
      const isBox = mark.sign === 'box' && targets.length > 0
      return {
        ...common,
        kind: 'gate',
        sign: mark.sign,
        label: labelOf(mark),
        box: isBox
          ? {
              halfWidth: halfWidthOf(mark),
              top: Math.min(...targets) - BOX_HEIGHT / 2,
              bottom: Math.max(...targets) + BOX_HEIGHT / 2
            }
          : null,
        ports: isBox && targets.length > 1 ? targets.map((at, port) => ({ y: at, text: String(port) })) : [],
        targets,
        controls,
        line: top === bottom ? null : { from: y(top), to: y(bottom) }
      }
    }
  }
}

function drawnFrame(
  { mark, begin, middle, end, top, bottom, depth, labels }: PlacedFrame,
  key: number,
  { circuit, edges, grid }: { circuit: Circuit; edges: readonly number[]; grid: RowGrid }
): DrawnFrame {
  // Frames within frames lie apart, as far as there is room.
  const inset = 1 + Math.min(6, 2 * depth)
  const [left, right] = [edges[begin]! + inset, edges[end]! - inset]
  const from = grid.top(top) - labels * FRAME_LABEL + 1
  return {
    key,
    position: positionOf(circuit, mark.call),
    title: clipped(mark.title, TITLE_CELLS_MAX),
    label: clipped(mark.label, FRAME_LABEL_CELLS_MAX),
    begin,
    end,
    x: left,
    width: right - left,
    y: from,
    height: grid.bottom(bottom) - 1 - inset - from,
    elseX: middle === null ? null : edges[middle]!
  }
}

const drawnWire = (kind: DrawnWire['kind'], y: number, name: string, bits: number): DrawnWire => ({
  kind,
  y,
  label: clipped(name, NAME_CELLS_MAX),
  title: clipped(name, TITLE_CELLS_MAX),
  bits
})

function positionOf({ calls }: Circuit, call: number): Position | null {
  const { line, column } = calls[call] ?? { line: 0, column: 0 }
  return line > 0 ? { line, column } : null
}

function describe(
  { qubits, clbits, measuresImplicitly }: Circuit,
  marks: readonly DrawnMark[],
  columns: number
): string {
  const gates = marks.filter(({ kind }) => kind === 'gate').length
  const parts = [
    numbered(qubits, 'qubit'),
    numbered(clbits, 'classical bit'),
    `${numbered(gates, 'gate')} in ${numbered(columns, 'column')}`
  ]
  const measured = measuresImplicitly ? ' The program measures nothing, so all qubits are measured at its end.' : ''
  return `${parts.join(', ')}. Qubit 0 is the topmost wire.${measured}`
}
