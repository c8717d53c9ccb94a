// What the readers of the three formats return, and how they refuse.
import type { Program as IonqProgram } from '../../ionq/circuit.js'
import type { Step } from '../../language/program.js'
import type { Operation } from '../../simulator/execution.js'

/** A register of bits; by each bit, the qubit that is measured into it last, or null: it stays zero. */
export interface Register {
  name: string
  cells: (number | null)[]
}

export interface GateProgram {
  /** One more than the highest qubit. */
  qubits: number
  operations: readonly Operation[]
  registers: readonly Register[]
  /** Of a program that measures before its end; null if all its measurements are at the end. */
  steps: readonly Step[] | null
}

/** Why a job failed, as its `errorData`. */
export interface Failure {
  code: string
  message: string
}

export type Program =
  | { kind: 'ionq'; ionq: IonqProgram; shots: number }
  | { kind: 'gates'; gates: GateProgram; shots: number }
  | { kind: 'failed'; failure: Failure }

/** Thrown while a program is read; becomes the job's `errorData`. */
export class ProgramFailure extends Error {
  override readonly name = 'ProgramFailure'
  constructor(
    readonly code: 'InvalidInputData' | 'CompilationError' | 'NotEnoughQubits' | 'SimulationError',
    message: string
  ) {
    super(message)
  }
}
