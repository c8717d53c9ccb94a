// A quantum circuit as the console holds it: what the reader of OpenQASM returns, the drawing shows and the simulators run.
// All names are resolved, all gates reduced to a closed set, all loops unrolled. Qubit 0 is the leftmost one everywhere.

/** Where something stands in the program's text; both count from 1. */
export interface Position {
  line: number
  column: number
}

/** Something in the program that is wrong or that is refused, in words that say how to mend it. */
export interface Fault extends Position {
  message: string
}

/** Gates on one target qubit, except `gphase` (no target: a phase of the whole state) and `swap` (two targets). */
export type GateName =
  | 'id'
  | 'x'
  | 'y'
  | 'z'
  | 'h'
  | 's'
  | 'sdg'
  | 't'
  | 'tdg'
  | 'sx'
  | 'sxdg'
  | 'rx'
  | 'ry'
  | 'rz'
  | 'p'
  | 'u'
  | 'swap'
  | 'gphase'

export interface Control {
  qubit: number
  /** The value of the qubit at which the gate acts. */
  value: 0 | 1
}

export interface GateOperation {
  kind: 'gate'
  name: GateName
  /**
   * In radians: one for rx, ry, rz, p and gphase; theta, phi, lambda for u, whose matrix is
   * [[cos(t/2), -e^(i l) sin(t/2)], [e^(i p) sin(t/2), e^(i(p+l)) cos(t/2)]] (no further phase).
   * rz(a) is diag(e^(-i a/2), e^(i a/2)); p(a) is diag(1, e^(i a)); sx is the square root of x with sx^2 = x exactly.
   */
  angles: readonly number[]
  controls: readonly Control[]
  targets: readonly number[]
  /** Index into `Circuit.calls`: the statement of the program that this gate is a part of. */
  call: number
}

export interface MeasureOperation {
  kind: 'measure'
  qubit: number
  clbit: number
  call: number
}

export interface ResetOperation {
  kind: 'reset'
  qubit: number
  call: number
}

/** Has no effect on the state; the drawing shows it. */
export interface BarrierOperation {
  kind: 'barrier'
  qubits: readonly number[]
  call: number
}

/** A value of classical bits; `clbits[0]` is the least significant bit. */
export type ClassicalValue = { clbits: readonly number[] } | { constant: number }

export type Condition =
  | { kind: 'compare'; left: ClassicalValue; operator: '==' | '!=' | '<' | '<=' | '>' | '>='; right: ClassicalValue }
  | { kind: 'not'; of: Condition }
  | { kind: 'and' | 'or'; parts: readonly Condition[] }

export interface BranchOperation {
  kind: 'if'
  condition: Condition
  then: readonly Operation[]
  otherwise: readonly Operation[]
  call: number
}

export type Operation = GateOperation | MeasureOperation | ResetOperation | BarrierOperation | BranchOperation

/** A statement of the program as its author wrote it: what the drawing shows as one box, linked to its line. */
export interface Call extends Position {
  /** As written: `ccx`, `rzz`, a gate of the program's own, `measure`, `reset`, `barrier`, `if`. */
  name: string
  angles: readonly number[]
  qubits: readonly number[]
  /** How many of `qubits`, from the first, are drawn as controls (1 for cx, 2 for ccx, 0 for rzz). */
  controls: number
}

/** A named part of the outcome, for example a classical register; `clbits` from left to right as the outcome shows them. */
export interface OutcomeRegister {
  name: string
  clbits: readonly number[]
}

export interface Circuit {
  /** The version of the language that the program was written in. */
  language: 'openqasm2' | 'openqasm3'
  qubits: number
  /** Names of the qubits in order, for the drawing: `q[0]`. */
  qubitNames: readonly string[]
  clbits: number
  clbitNames: readonly string[]
  operations: readonly Operation[]
  calls: readonly Call[]
  /**
   * What a count's key shows, by the server's rules: bits that no measurement writes are left out; a program without
   * measurement gets one measurement of all qubits into a register `meas` (and `measuresImplicitly`).
   */
  outcome: readonly OutcomeRegister[]
  /** True where the reader has added the measurement of all qubits at the end. */
  measuresImplicitly: boolean
}
