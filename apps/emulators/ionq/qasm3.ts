// The part of OpenQASM 3 that this emulator reads for jobs of type ionq.qasm3.v1: registers, gates of stdgates.inc, barriers,
// and a final measurement of qubit k into bit k. Anything else fails the job with its line.
import { fixedGates, phaseShift, swap } from '../simulator/gates.js'
import type { Complex, Matrix, Pauli } from '../simulator/state-vector.js'
import type { Operation, Program } from './circuit.js'
import type { Device } from './devices.js'
import { JobFailure } from './failure.js'
import { evaluate } from './qasm3-expression.js'

type Effect = { matrix: Matrix } | { paulis: readonly Pauli[]; angle: number }

interface Gate {
  parameters: number
  /** The first qubits of a call, before the targets. */
  controls: number
  targets: number
  effect(parameters: readonly number[]): Effect
}

/** Reads a program for a device. @throws JobFailure naming the line. */
export function readQasm(source: string, device: Device): Program {
  const reader = new Reader()
  for (const { text, line } of statementsOf(source)) {
    try {
      reader.read(text)
    } catch (error) {
      throw new JobFailure('CompilationError', `line ${line}: ${(error as Error).message}`)
    }
  }
  if (reader.qubits > device.qubits)
    throw new JobFailure(
      'NotEnoughQubits',
      `The program needs ${reader.qubits} qubits, ${device.name} has ${device.qubits}.`
    )
  if (reader.qubits === 0) throw new JobFailure('CompilationError', 'The program has no qubits.')
  return { qubits: reader.qubits, operations: reader.operations }
}

interface Register {
  first: number
  size: number
}

class Reader {
  readonly operations: Operation[] = []
  qubits = 0
  private bits = 0
  private readonly quantum = new Map<string, Register>()
  private readonly classical = new Map<string, Register>()
  private readonly measured = new Set<number>()

  read(text: string): void {
    if (/^OPENQASM 3(\.\d+)?$/.test(text) || text === 'include "stdgates.inc"') return
    const declared =
      /^(qubit|bit)(?:\s*\[(\d+)\])?\s+(\w+)$/.exec(text) ??
      swapped(/^(qreg|creg)\s+(\w+)(?:\s*\[(\d+)\])?$/.exec(text))
    if (declared) {
      this.declare(declared[1]!, Number(declared[2] ?? 1), declared[3]!)
      return
    }
    if (/^barrier\b/.test(text)) return
    const measurement = /^(\S+)\s*=\s*measure\s+(\S+)$/.exec(text) ?? /^measure\s+(\S+)\s*->\s*(\S+)$/.exec(text)
    if (measurement) {
      const [bits, qubits] = text.startsWith('measure')
        ? [measurement[2]!, measurement[1]!]
        : [measurement[1]!, measurement[2]!]
      this.measure(places(bits, this.classical, 'bit'), places(qubits, this.quantum, 'qubit'))
      return
    }
    const call = /^(\w+)\s*(?:\((.*)\))?\s+([^()@]+)$/.exec(text) ?? /^(\w+)\s*\((.*)\)\s*([^()@]+)$/.exec(text)
    if (!call) throw new Error(`this emulator does not read "${text.slice(0, 60)}"`)
    this.call(call[1]!, call[2], call[3]!)
  }

  private declare(kind: string, size: number, name: string): void {
    if (this.quantum.has(name) || this.classical.has(name)) throw new Error(`${name} is declared twice`)
    if (size < 1) throw new Error(`${name} is empty`)
    if (kind === 'qubit' || kind === 'qreg') {
      this.quantum.set(name, { first: this.qubits, size })
      this.qubits += size
    } else {
      this.classical.set(name, { first: this.bits, size })
      this.bits += size
    }
  }

  // The keys of a result with bits and qubits in another order are not documented, so such programs are refused.
  private measure(bits: number[], qubits: number[]): void {
    if (bits.length !== qubits.length) throw new Error(`${qubits.length} qubits are measured into ${bits.length} bits`)
    for (const [index, qubit] of qubits.entries()) {
      if (bits[index] !== qubit) throw new Error(`qubit ${qubit} is measured into bit ${bits[index]}, not into its own`)
      this.measured.add(qubit)
    }
  }

  private call(name: string, parameterText: string | undefined, operandText: string): void {
    const gate = gates[name]
    if (!gate) throw new Error(`there is no gate ${name} in stdgates.inc that this emulator knows`)
    const parameters = splitArguments(parameterText ?? '').map(evaluate)
    if (parameters.length !== gate.parameters)
      throw new Error(`${name} takes ${gate.parameters} parameters, not ${parameters.length}`)
    const operands = splitArguments(operandText).map((operand) => places(operand, this.quantum, 'qubit'))
    if (operands.length !== gate.controls + gate.targets)
      throw new Error(`${name} takes ${gate.controls + gate.targets} qubits, not ${operands.length}`)
    const length = Math.max(...operands.map((operand) => operand.length))
    if (operands.some((operand) => operand.length !== 1 && operand.length !== length))
      throw new Error(`${name} is given registers of different sizes`)
    const effect = gate.effect(parameters)
    for (let index = 0; index < length; index++) {
      const qubits = operands.map((operand) => operand[operand.length === 1 ? 0 : index]!)
      if (new Set(qubits).size < qubits.length) throw new Error(`${name} is given a qubit twice`)
      const late = qubits.find((qubit) => this.measured.has(qubit))
      if (late !== undefined) throw new Error(`${name} follows the measurement of qubit ${late}`)
      this.operations.push({
        ...effect,
        controls: qubits.slice(0, gate.controls),
        targets: qubits.slice(gate.controls)
      })
    }
  }
}

/** Rewrites `qreg name[size]` with name and size in the other order. */
const swapped = (match: RegExpExecArray | null) => match && [match[0], match[1], match[3], match[2]]

function places(text: string, registers: ReadonlyMap<string, Register>, what: string): number[] {
  const [, name = '', index] = /^(\w+)(?:\s*\[\s*(\d+)\s*\])?$/.exec(text.trim()) ?? []
  const register = registers.get(name)
  if (!register) throw new Error(`there is no ${what} register "${text.trim().slice(0, 40)}"`)
  if (index === undefined) return Array.from({ length: register.size }, (_, offset) => register.first + offset)
  if (Number(index) >= register.size) throw new Error(`${name} has no ${what} ${index}`)
  return [register.first + Number(index)]
}

/** Splits at the commas outside of parentheses. */
function splitArguments(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const letter of text) {
    if (letter === '(') depth++
    if (letter === ')') depth--
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

function statementsOf(source: string): { text: string; line: number }[] {
  const blank = (comment: string) => comment.replace(/[^\n]/g, ' ')
  const code = source.replace(/\/\/[^\n]*/g, blank).replace(/\/\*[\s\S]*?\*\//g, blank)
  const statements: { text: string; line: number }[] = []
  const parts = code.split(';')
  let line = 1
  for (const [index, part] of parts.entries()) {
    const leading = /^\s*/.exec(part)![0]
    const text = part.trim().replace(/\s+/g, ' ')
    const at = line + leading.split('\n').length - 1
    line += part.split('\n').length - 1
    if (text === '') continue
    if (/[{}]/.test(text)) throw new JobFailure('CompilationError', `line ${at}: this emulator does not read blocks`)
    if (index === parts.length - 1)
      throw new JobFailure('CompilationError', `line ${at}: "${text.slice(0, 60)}" does not end with ;`)
    statements.push({ text, line: at })
  }
  return statements
}

const fixed = (name: keyof typeof fixedGates, controls = 0): Gate => ({
  parameters: 0,
  controls,
  targets: 1,
  effect: () => ({ matrix: fixedGates[name] })
})
const rotation = (pauli: Pauli, controls = 0): Gate => ({
  parameters: 1,
  controls,
  targets: 1,
  effect: ([angle]) => ({ paulis: [pauli], angle: angle! / 2 })
})
const phase = (controls = 0): Gate => ({
  parameters: 1,
  controls,
  targets: 1,
  effect: ([angle]) => ({ matrix: phaseShift(angle!) })
})
const general = (parameters: number, angles: (given: readonly number[]) => [number, number, number]): Gate => ({
  parameters,
  controls: 0,
  targets: 1,
  effect: (given) => ({ matrix: turn(...angles(given)) })
})

/** U(theta, phi, lambda), without its phase. */
function turn(theta: number, phi: number, lambda: number): Matrix {
  const [cos, sin] = [Math.cos(theta / 2), Math.sin(theta / 2)]
  const times = (length: number, angle: number): Complex => [length * Math.cos(angle), length * Math.sin(angle)]
  return [
    [times(cos, 0), times(-sin, lambda)],
    [times(sin, phi), times(cos, phi + lambda)]
  ]
}

const gates: Record<string, Gate> = {
  x: fixed('x'),
  y: fixed('y'),
  z: fixed('z'),
  h: fixed('h'),
  s: fixed('s'),
  sdg: fixed('si'),
  t: fixed('t'),
  tdg: fixed('ti'),
  sx: fixed('v'),
  id: general(0, () => [0, 0, 0]),
  rx: rotation('X'),
  ry: rotation('Y'),
  rz: rotation('Z'),
  p: phase(),
  phase: phase(),
  u1: phase(),
  u2: general(2, ([phi, lambda]) => [Math.PI / 2, phi!, lambda!]),
  u3: general(3, ([theta, phi, lambda]) => [theta!, phi!, lambda!]),
  U: general(3, ([theta, phi, lambda]) => [theta!, phi!, lambda!]),
  cx: fixed('x', 1),
  CX: fixed('x', 1),
  cy: fixed('y', 1),
  cz: fixed('z', 1),
  ch: fixed('h', 1),
  cp: phase(1),
  cphase: phase(1),
  crx: rotation('X', 1),
  cry: rotation('Y', 1),
  crz: rotation('Z', 1),
  ccx: fixed('x', 2),
  swap: { parameters: 0, controls: 0, targets: 2, effect: () => ({ matrix: swap }) },
  cswap: { parameters: 0, controls: 1, targets: 2, effect: () => ({ matrix: swap }) }
}
