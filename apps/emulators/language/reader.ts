// Reads the part of OpenQASM 3 that all dialects of the emulators share: registers, gates, barriers and measurements at the
// end. What differs, a dialect says. Anything else is refused by its line.
import type { Operation } from '../simulator/execution.js'
import { evaluate } from './expression.js'
import {
  type Condition,
  type Gate,
  type Measurement,
  type Place,
  ProgramError,
  type ReadProgram,
  type Step
} from './program.js'
import { splitArguments, statementsOf } from './statements.js'

export interface Dialect {
  gates: Readonly<Record<string, Gate>>
  /** Statements without an effect, such as the version. */
  ignored: RegExp
  /** Where the gates come from, for messages. */
  gatesFrom: string
  /** Whether $0 names a qubit of the machine. */
  physicalQubits: boolean
  /** Whether a measurement needs no bit. */
  bareMeasurements: boolean
  /** Whether gates and resets can follow a measurement, and an `if` with the value of a register can stand before them. */
  midCircuit?: true
  /** The values of `input` declarations; null if there are none. */
  inputs: Readonly<Record<string, unknown>> | null
  /** Throws for a measurement that the dialect does not have. */
  checkMeasurement(measurement: Measurement, earlier: readonly Measurement[]): void
}

/** @throws ProgramError naming the line. */
export function readProgram(source: string, dialect: Dialect): ReadProgram {
  const reader = new Reader(dialect)
  for (const { text, line } of statementsOf(source)) {
    try {
      reader.read(text)
    } catch (error) {
      throw new ProgramError(line, (error as Error).message, error instanceof UnknownGate)
    }
  }
  return reader.program()
}

/** Statements that look like the call of a gate. */
const reserved = new Set(
  'array const def defcal delay extern float gate gphase include input int let nop output reset return uint'.split(' ')
)
/** More than any machine has. */
const registerMax = 10_000

class UnknownGate extends Error {}

interface Register {
  kind: 'qubit' | 'bit'
  first: number
  size: number
}

class Reader {
  private readonly operations: Operation[] = []
  private readonly measurements: Measurement[] = []
  private readonly steps: Step[] = []
  private condition: Condition | null = null
  private readonly registers = new Map<string, Register>()
  private readonly counts = { qubit: 0, bit: 0 }
  private readonly declared = { qubit: 0, bit: 0 }
  private readonly physical = new Set<number>()
  private readonly inputs = new Map<string, number>()
  private readonly measured = new Set<number>()

  constructor(private readonly dialect: Dialect) {}

  program(): ReadProgram {
    const physical = this.physical.size > 0
    const named = physical
      ? [...this.physical].sort((a, b) => a - b)
      : Array.from({ length: this.counts.qubit }, (_, qubit) => qubit)
    return {
      qubits: named.length === 0 ? 0 : named.at(-1)! + 1,
      registers: this.declared,
      bitRegisters: [...this.registers]
        .filter(([, { kind }]) => kind === 'bit')
        .map(([name, { size }]) => ({ name, size })),
      physical,
      named,
      operations: this.operations,
      measurements: this.measurements,
      steps: this.steps
    }
  }

  read(text: string): void {
    if (this.dialect.ignored.test(text)) return
    const declared =
      /^(qubit|bit)(?:\s*\[(\d+)\])?\s+(\w+)$/.exec(text) ??
      swapped(/^(qreg|creg)\s+(\w+)(?:\s*\[(\d+)\])?$/.exec(text))
    if (declared) {
      this.declare(declared[1]!, Number(declared[2] ?? 1), declared[3]!)
      return
    }
    const input = /^input (?:float|angle|int|uint)(?:\s*\[\d+\])?\s+(\w+)$/.exec(text)
    if (input && this.dialect.inputs) {
      this.take(input[1]!, this.dialect.inputs)
      return
    }
    if (/^barrier\b/.test(text)) return
    if (this.dialect.midCircuit && this.readMidCircuit(text)) return
    if (this.readMeasurement(text)) return
    const call = /^(\w+)\s*(?:\((.*)\))?\s+([^()@]+)$/.exec(text) ?? /^(\w+)\s*\((.*)\)\s*([^()@]+)$/.exec(text)
    if (!call || reserved.has(call[1]!)) throw new Error(`this emulator does not read "${text.slice(0, 60)}"`)
    this.call(call[1]!, call[2], call[3]!)
  }

  private declare(word: string, size: number, name: string): void {
    if (this.registers.has(name)) throw new Error(`${name} is declared twice`)
    if (size < 1) throw new Error(`${name} is empty`)
    if (size > registerMax) throw new Error(`${name} is larger than the ${registerMax} of a register`)
    const kind = word === 'qubit' || word === 'qreg' ? 'qubit' : 'bit'
    this.registers.set(name, { kind, first: this.counts[kind], size })
    this.counts[kind] += size
    this.declared[kind] += 1
    if (kind === 'qubit') this.refuseMixing()
  }

  private take(name: string, inputs: Readonly<Record<string, unknown>>): void {
    const value = inputs[name]
    if (typeof value !== 'number') throw new Error(`the input ${name} has no number`)
    this.inputs.set(name, value)
  }

  private readMidCircuit(text: string): boolean {
    const reset = /^reset\s+(\S+)$/.exec(text)
    if (reset) {
      for (const { index } of this.places(reset[1]!, 'qubit'))
        this.steps.push({ kind: 'reset', qubit: index, condition: this.condition })
      return true
    }
    const [, register, value, inner] = /^if\s*\(\s*(\w+)\s*==\s*(\d{1,4000})\s*\)\s*(.+)$/.exec(text) ?? []
    if (register === undefined || this.condition) return false
    if (/^(qreg|creg|qubit|bit|input|include|barrier)\b/.test(inner!))
      throw new Error(`"${inner!.slice(0, 60)}" cannot stand under an if`)
    if (this.registers.get(register)?.kind !== 'bit') throw new Error(`unknown bit register "${register}"`)
    this.condition = { register, value: BigInt(value!) }
    try {
      this.read(inner!)
    } finally {
      this.condition = null
    }
    return true
  }

  private readMeasurement(text: string): boolean {
    const assigned = /^(\S+)\s*=\s*measure\s+(\S+)$/.exec(text)
    const arrow = /^measure\s+(\S+)\s*->\s*(\S+)$/.exec(text)
    const bare = this.dialect.bareMeasurements ? /^measure\s+(\S+)$/.exec(text) : null
    if (!assigned && !arrow && !bare) return false
    const [bits, qubits] = assigned ? [assigned[1]!, assigned[2]!] : arrow ? [arrow[2]!, arrow[1]!] : [null, bare![1]!]
    this.measure(bits === null ? null : this.places(bits, 'bit'), this.places(qubits, 'qubit'))
    return true
  }

  private measure(bits: Place[] | null, qubits: Place[]): void {
    if (bits && bits.length !== qubits.length)
      throw new Error(`${qubits.length} qubits are measured into ${bits.length} bits`)
    for (const [index, qubit] of qubits.entries()) {
      const measurement = { qubit, bit: bits?.[index] ?? null }
      this.dialect.checkMeasurement(measurement, this.measurements)
      this.measurements.push(measurement)
      this.steps.push({ kind: 'measure', measurement, condition: this.condition })
      this.measured.add(qubit.index)
    }
  }

  private call(name: string, parameterText: string | undefined, operandText: string): void {
    const gate = Object.hasOwn(this.dialect.gates, name) ? this.dialect.gates[name] : undefined
    if (!gate) throw new UnknownGate(`unknown gate ${name} ${this.dialect.gatesFrom}`)
    const parameters = splitArguments(parameterText ?? '').map((text) => evaluate(text, this.inputs))
    if (parameters.length !== gate.parameters)
      throw new Error(`${name} takes ${gate.parameters} parameters, not ${parameters.length}`)
    const operands = splitArguments(operandText).map((operand) => this.places(operand, 'qubit'))
    if (operands.length !== gate.controls + gate.targets)
      throw new Error(`${name} takes ${gate.controls + gate.targets} qubits, not ${operands.length}`)
    const length = Math.max(...operands.map((operand) => operand.length))
    if (operands.some((operand) => operand.length !== 1 && operand.length !== length))
      throw new Error(`${name} is given registers of different sizes`)
    const effect = gate.effect(parameters)
    for (let index = 0; index < length; index++) {
      const qubits = operands.map((operand) => operand[operand.length === 1 ? 0 : index]!.index)
      if (new Set(qubits).size < qubits.length) throw new Error(`${name} is given a qubit twice`)
      const late = qubits.find((qubit) => this.measured.has(qubit))
      if (late !== undefined && !this.dialect.midCircuit)
        throw new Error(`${name} follows the measurement of qubit ${late}`)
      const operation = { ...effect, controls: qubits.slice(0, gate.controls), targets: qubits.slice(gate.controls) }
      this.operations.push(operation)
      this.steps.push({ kind: 'gate', operation, condition: this.condition })
    }
  }

  private places(text: string, kind: Register['kind']): Place[] {
    const machine = /^\$(\d{1,6})$/.exec(text.trim())
    if (machine && kind === 'qubit' && this.dialect.physicalQubits) {
      const index = Number(machine[1])
      this.physical.add(index)
      this.refuseMixing()
      return [{ register: text.trim(), element: 0, index }]
    }
    const [, name = '', element] = /^(\w+)(?:\s*\[\s*(\d+)\s*\])?$/.exec(text.trim()) ?? []
    const register = this.registers.get(name)
    if (register?.kind !== kind) throw new Error(`unknown ${kind} register "${text.trim().slice(0, 40)}"`)
    const { first, size } = register
    const all = Array.from({ length: size }, (_, offset) => ({
      register: name,
      element: offset,
      index: first + offset
    }))
    if (element === undefined) return all
    const one = all[Number(element)]
    if (!one) throw new Error(`${name} has no ${kind} ${element}`)
    return [one]
  }

  private refuseMixing(): void {
    if (this.physical.size > 0 && this.declared.qubit > 0)
      throw new Error('the program has both declared qubits and qubits of the machine')
  }
}

/** Rewrites `qreg name[size]` with name and size in the other order. */
const swapped = (match: RegExpExecArray | null) => match && [match[0], match[1], match[3], match[2]]
