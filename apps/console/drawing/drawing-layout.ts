// How a circuit's drawing is divided into rows and columns, in pixels. Qubit 0 is the topmost wire. What stands in a column
// is laid out by drawn-page.ts, for the columns that are shown.
import type { Circuit } from '../circuit/circuit.js'
import { numbered } from '../text/exact-numbers.js'
import { cellsOf, clipped } from '../text/shown-text.js'
import { type Columns, packed, type Rows, rowsFor } from './columns.js'
import { CELL, columnEdges, type RowGrid, rowGrid } from './grid.js'
import { marksOf } from './marks.js'
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

export interface Drawing {
  circuit: Circuit
  columns: Columns
  rows: Rows
  grid: RowGrid
  places: ReadonlyMap<number, BitPlace>
  labelWidth: number
  wires: DrawnWire[]
  /** The left edge of each column, and the right edge of the last one. */
  edges: number[]
  description: string
}

const LABEL_MARGIN = 12
const NAME_CELLS_MAX = 18
export const TITLE_CELLS_MAX = 300

export function drawCircuit(circuit: Circuit): Drawing {
  const classical = classicalWires(circuit)
  const places = bitPlaces(classical)
  const rows = rowsFor(circuit.qubits, classical.length, places)
  const columns = packed(marksOf(circuit, classical), rows)
  const hasWholeState = columns.marks.some(({ top }) => top === 0)
  const grid = rowGrid(circuit.qubits, classical.length, hasWholeState, columns.frames)
  const wires = [
    ...Array.from({ length: circuit.qubits }, (_, qubit) =>
      drawnWire('qubit', grid.centre(1 + qubit), circuit.qubitNames[qubit] ?? `qubit ${qubit}`, 1)
    ),
    ...classical.map(({ name, clbits }, wire) =>
      drawnWire('classical', grid.centre(1 + circuit.qubits + wire), name, clbits.length)
    )
  ]
  return {
    circuit,
    columns,
    rows,
    grid,
    places,
    labelWidth: LABEL_MARGIN + CELL * Math.max(2, ...wires.map(({ label }) => cellsOf(label))),
    wires,
    edges: columnEdges(columns.marks, columns.frames, columns.count),
    description: describe(circuit, columns)
  }
}

const drawnWire = (kind: DrawnWire['kind'], y: number, name: string, bits: number): DrawnWire => ({
  kind,
  y,
  label: clipped(name, NAME_CELLS_MAX),
  title: clipped(name, TITLE_CELLS_MAX),
  bits
})

function describe({ qubits, clbits, measuresImplicitly }: Circuit, { marks, count }: Columns): string {
  const gates = marks.filter(({ mark }) => mark.kind === 'gate').length
  const parts = [
    numbered(qubits, 'qubit'),
    numbered(clbits, 'classical bit'),
    `${numbered(gates, 'gate')} in ${numbered(count, 'column')}`
  ]
  const measured = measuresImplicitly ? ' The program measures nothing, so all qubits are measured at its end.' : ''
  return `${parts.join(', ')}. Qubit 0 is the topmost wire.${measured}`
}
