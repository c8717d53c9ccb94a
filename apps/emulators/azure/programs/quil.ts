// The part of Quil that this emulator reads for rigetti.quil.v1: regions of bits, standard gates, fences, and measurements at
// the end into any cells. Anything else fails the job with its line.
import { evaluate } from '../../language/expression.js'
import { fixed, general, ofMatrix, phase, rotation } from '../../language/gates.js'
import { type Gate, ProgramError } from '../../language/program.js'
import { splitArguments } from '../../language/statements.js'
import type { Operation } from '../../simulator/execution.js'
import { swap } from '../../simulator/gates.js'
import type { Complex } from '../../simulator/state-vector.js'
import type { GateProgram, Register } from './program.js'

/** In all regions together. */
const bitsMax = 10_000
const qubitMax = 100_000

/** @throws ProgramError naming the line. */
export function readQuil(source: string): GateProgram {
  const reader = new Reader()
  for (const [index, line] of source.split('\n').entries())
    for (const text of line.replace(/#.*$/, '').split(';')) {
      try {
        if (text.trim() !== '') reader.read(text.trim().replace(/\s+/g, ' '))
      } catch (error) {
        throw new ProgramError(index + 1, (error as Error).message)
      }
    }
  return { qubits: reader.qubits, operations: reader.operations, registers: reader.registers, steps: null }
}

class Reader {
  qubits = 0
  readonly operations: Operation[] = []
  readonly registers: Register[] = []
  private readonly measured = new Set<number>()

  read(text: string): void {
    const declared = /^DECLARE (\w+) BIT(?: ?\[ ?(\d+) ?\])?$/.exec(text)
    if (declared) {
      this.declare(declared[1]!, Number(declared[2] ?? 1))
      return
    }
    if (/^(FENCE( \d+)*|NOP|PRAGMA PRESERVE_BLOCK|PRAGMA END_PRESERVE_BLOCK)$/.test(text)) return
    // The machine starts with every qubit zero, so a reset of all before the first gate does nothing.
    if (text === 'RESET' && this.operations.length === 0 && this.measured.size === 0) return
    const measurement = /^MEASURE (\d+) (\w+)(?: ?\[ ?(\d+) ?\])?$/.exec(text)
    if (measurement) {
      this.measure(qubitOf(measurement[1]!), measurement[2]!, Number(measurement[3] ?? 0))
      return
    }
    const call = /^([A-Z][A-Z0-9]*) ?(?:\((.*)\))?((?: \d+)+)$/.exec(text)
    if (!call || reserved.has(call[1]!)) throw new Error(`this emulator does not read "${text.slice(0, 60)}"`)
    this.call(call[1]!, call[2], call[3]!.trim().split(' ').map(qubitOf))
  }

  private declare(name: string, size: number): void {
    if (this.registers.some((one) => one.name === name)) throw new Error(`${name} is declared twice`)
    const before = this.registers.reduce((sum, { cells }) => sum + cells.length, 0)
    if (size < 1 || before + size > bitsMax)
      throw new Error(`${name}: must have 1 to ${bitsMax - before} bits (got ${size})`)
    this.registers.push({ name, cells: Array<number | null>(size).fill(null) })
  }

  private measure(qubit: number, name: string, cell: number): void {
    const region = this.registers.find((one) => one.name === name)
    if (!region) throw new Error(`unknown region of bits "${name}"`)
    if (cell >= region.cells.length) throw new Error(`${name} has no bit ${cell}`)
    region.cells[cell] = qubit
    this.qubits = Math.max(this.qubits, qubit + 1)
    this.measured.add(qubit)
  }

  private call(name: string, parameterText: string | undefined, qubits: number[]): void {
    const gate = Object.hasOwn(gates, name) ? gates[name] : undefined
    if (!gate) throw new Error(`unknown gate ${name} of Quil`)
    const parameters = splitArguments(parameterText ?? '').map((one) => evaluate(one))
    if (parameters.length !== gate.parameters)
      throw new Error(`${name} takes ${gate.parameters} parameters, not ${parameters.length}`)
    if (qubits.length !== gate.controls + gate.targets)
      throw new Error(`${name} takes ${gate.controls + gate.targets} qubits, not ${qubits.length}`)
    if (new Set(qubits).size < qubits.length) throw new Error(`${name} is given a qubit twice`)
    const late = qubits.find((qubit) => this.measured.has(qubit))
    if (late !== undefined) throw new Error(`${name} follows the measurement of qubit ${late}`)
    this.qubits = Math.max(this.qubits, ...qubits.map((qubit) => qubit + 1))
    this.operations.push({
      ...gate.effect(parameters),
      controls: qubits.slice(0, gate.controls),
      targets: qubits.slice(gate.controls)
    })
  }
}

/** Instructions that look like the call of a gate. */
const reserved = new Set('DECLARE MEASURE RESET WAIT FENCE DELAY JUMP LABEL DEFGATE PRAGMA'.split(' '))

function qubitOf(text: string): number {
  const qubit = Number(text)
  if (qubit > qubitMax) throw new Error(`qubit ${text} is larger than the ${qubitMax} of a program`)
  return qubit
}

const zero: Complex = [0, 0]
const one: Complex = [1, 0]
const i: Complex = [0, 1]

/** By the specification of Quil; a control comes before its target. */
const gates: Readonly<Record<string, Gate>> = {
  I: general(0, () => [0, 0, 0]),
  X: fixed('x'),
  Y: fixed('y'),
  Z: fixed('z'),
  H: fixed('h'),
  S: fixed('s'),
  T: fixed('t'),
  PHASE: phase(),
  RX: rotation(['X']),
  RY: rotation(['Y']),
  RZ: rotation(['Z']),
  CNOT: fixed('x', 1),
  CZ: fixed('z', 1),
  CPHASE: phase(1),
  CCNOT: fixed('x', 2),
  SWAP: ofMatrix(0, 2, () => swap),
  CSWAP: ofMatrix(0, 2, () => swap, 1),
  ISWAP: ofMatrix(0, 2, () => [
    [one, zero, zero, zero],
    [zero, zero, i, zero],
    [zero, i, zero, zero],
    [zero, zero, zero, one]
  ])
}
