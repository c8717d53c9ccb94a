// What the readers of all dialects of OpenQASM 3 return, and how they refuse.
import type { Effect, Operation } from '../simulator/execution.js'

export interface Gate {
  parameters: number
  /** The first qubits of a call, before the targets. */
  controls: number
  targets: number
  effect(parameters: readonly number[]): Effect
}

/** One qubit or bit. */
export interface Place {
  /** The name of its register; for a physical qubit, its own. */
  register: string
  element: number
  /** Its number among all qubits, or among all bits. */
  index: number
}

export interface Measurement {
  qubit: Place
  /** Null for `measure q;` without a destination. */
  bit: Place | null
}

/** `if (register == value)`; bit 0 of the register is the least significant. */
export interface Condition {
  register: string
  value: bigint
}

/** One step of a program that can measure before its end. */
export type Step = { condition: Condition | null } & (
  | { kind: 'gate'; operation: Operation }
  | { kind: 'measure'; measurement: Measurement }
  | { kind: 'reset'; qubit: number }
)

export interface ReadProgram {
  /** One more than the highest qubit. */
  qubits: number
  /** Its registers of bits, in the order of their declarations. */
  bitRegisters: readonly { name: string; size: number }[]
  /** How many declarations the program has. */
  registers: { qubit: number; bit: number }
  /** Whether it names qubits of the machine, such as $0. */
  physical: boolean
  /** The qubits that it declares, or names of the machine, ascending. */
  named: readonly number[]
  operations: Operation[]
  measurements: Measurement[]
  /** Gates, measurements and resets in their order. */
  steps: readonly Step[]
}

/** Why a program cannot be read. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError'
  constructor(
    readonly line: number,
    message: string,
    /** An unknown gate, which a provider can see before it accepts the program. */
    readonly unknownGate = false
  ) {
    super(`line ${line}: ${message}`)
  }
}
