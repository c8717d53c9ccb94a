// The part of OpenQASM 2 that this emulator reads for honeywell.openqasm.v1: registers, gates of qelib1.inc, barriers,
// measurements into any bits, resets, and `if`. Anything else fails the job with its line.
import { fixed, general, ofMatrix, phase, rotation } from '../../language/gates.js'
import { type Gate, ProgramError, type Step } from '../../language/program.js'
import { type Dialect, readProgram } from '../../language/reader.js'
import { type Statement, statementsOf } from '../../language/statements.js'
import { swap } from '../../simulator/gates.js'
import type { GateProgram, Register } from './program.js'

/** In all registers together. */
const bitsMax = 10_000

/** @throws ProgramError naming the line. */
export function readQasm2(source: string): GateProgram {
  const statements = statementsOf(source)
  const [first] = statements
  if (!first || !/^OPENQASM 2(\.0)?$/.test(first.text))
    throw new ProgramError(first?.line ?? 1, 'the program must begin with "OPENQASM 2.0;"')
  for (const statement of statements) assertOfVersion2(statement)
  const included = statements.some(({ text }) => library.test(text))
  const { qubits, operations, measurements, steps } = readProgram(source, {
    ...dialect,
    gates: included ? { ...builtIn, ...gates } : builtIn
  })
  const registers = registersOf(statements)
  // A later measurement into the same bit replaces the earlier one.
  for (const { qubit, bit } of measurements) {
    const register = registers.find(({ name }) => name === bit!.register)
    register!.cells[bit!.element] = qubit.index
  }
  return { qubits, operations, registers, steps: measuresAtEnd(steps) ? null : steps }
}

const library = /^include "(qelib1|hqslib1)\.inc"$/

/** The reader knows version 3 as well, whose statements a reader of version 2 must refuse. */
function assertOfVersion2({ text, line }: Statement): void {
  if (/^(qubit|bit|input|include "stdgates)\b|=\s*measure\b/.test(text))
    throw new ProgramError(line, `"${text.slice(0, 60)}" is not OpenQASM 2`)
  if (/^(opaque|gate)\b/.test(text)) throw new ProgramError(line, `this emulator does not read "${text.slice(0, 60)}"`)
  if (/^[qc]reg\b/.test(text) && !/^[qc]reg \w+ ?\[ ?\d+ ?\]$/.test(text))
    throw new ProgramError(line, `"${text.slice(0, 60)}" must be a name with a size`)
}

function registersOf(statements: readonly Statement[]): Register[] {
  let bits = 0
  return statements.flatMap(({ text, line }) => {
    const [, name, size] = /^creg (\w+) ?\[ ?(\d+) ?\]$/.exec(text) ?? []
    if (name === undefined) return []
    bits += Number(size)
    if (bits > bitsMax) throw new ProgramError(line, `the program has more than ${bitsMax} bits`)
    return [{ name, cells: Array<number | null>(Number(size)).fill(null) }]
  })
}

/** Whether no outcome depends on the order of measurements and what follows them. */
function measuresAtEnd(steps: readonly Step[]): boolean {
  const measured = new Set<number>()
  return steps.every((step) => {
    if (step.condition || step.kind === 'reset') return false
    if (step.kind === 'measure') measured.add(step.measurement.qubit.index)
    else return ![...step.operation.controls, ...step.operation.targets].some((qubit) => measured.has(qubit))
    return true
  })
}

const controlled = (gate: Gate): Gate => ({ ...gate, controls: gate.controls + 1 })
const u3 = general(3, ([theta, phi, lambda]) => [theta!, phi!, lambda!])

const builtIn: Readonly<Record<string, Gate>> = { U: u3, CX: fixed('x', 1) }

/** Those of qelib1.inc, with those that qiskit's copy of the file has beyond the paper. */
const gates: Readonly<Record<string, Gate>> = {
  u3,
  u: u3,
  u2: general(2, ([phi, lambda]) => [Math.PI / 2, phi!, lambda!]),
  u1: phase(),
  p: phase(),
  id: general(0, () => [0, 0, 0]),
  x: fixed('x'),
  y: fixed('y'),
  z: fixed('z'),
  h: fixed('h'),
  s: fixed('s'),
  sdg: fixed('si'),
  t: fixed('t'),
  tdg: fixed('ti'),
  sx: fixed('v'),
  sxdg: fixed('vi'),
  rx: rotation(['X']),
  ry: rotation(['Y']),
  rz: rotation(['Z']),
  rxx: rotation(['X', 'X']),
  rzz: rotation(['Z', 'Z']),
  cx: fixed('x', 1),
  cy: fixed('y', 1),
  cz: fixed('z', 1),
  ch: fixed('h', 1),
  crx: rotation(['X'], 1),
  cry: rotation(['Y'], 1),
  crz: rotation(['Z'], 1),
  cu1: phase(1),
  cp: phase(1),
  cu3: controlled(u3),
  ccx: fixed('x', 2),
  swap: ofMatrix(0, 2, () => swap),
  cswap: ofMatrix(0, 2, () => swap, 1)
}

const dialect: Omit<Dialect, 'gates'> = {
  ignored: /^(OPENQASM 2(\.0)?|include "(qelib1|hqslib1)\.inc")$/,
  gatesFrom: 'in qelib1.inc that this emulator knows',
  physicalQubits: false,
  bareMeasurements: false,
  midCircuit: true,
  inputs: null,
  // Any bit takes any qubit.
  checkMeasurement: () => {}
}
