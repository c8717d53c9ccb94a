// What the expressions of an OpenQASM 3 program stand for while it is read.
import type { Position } from '../../circuit/circuit.js'
import type { Gate } from '../gates/part.js'

export interface CallableGate {
  params: number
  qubits: number
  /** How many of its qubits, from the first, are drawn as controls. */
  controls: number
  /** Defined by the program under the name of a gate whose powers scale: which power is meant is not clear. */
  isRenamed: boolean
  make: (values: readonly number[]) => Gate
}

export type NumberType = 'int' | 'uint' | 'float' | 'angle'

/** `constant` is null for a number that depends on the parameters of the gate whose body is read. */
export interface NumberValue {
  type: NumberType
  constant: bigint | number | null
  of: (params: readonly number[]) => number
}

export type Value =
  | NumberValue
  | { type: 'bool'; value: boolean }
  | { type: 'bit'; clbit: number }
  /** `isRegister` is false for a selection of a register's bits. */
  | { type: 'bits'; clbits: readonly number[]; isRegister: boolean }
  | { type: 'qubit'; qubit: number }
  | { type: 'qubits'; qubits: readonly number[] }
  | { type: 'range'; start: bigint | null; end: bigint | null; step: bigint | null }
  | { type: 'set'; values: readonly bigint[] }
  | { type: 'gate'; gate: CallableGate }

export const integer = (value: bigint, type: 'int' | 'uint' = 'int'): NumberValue => ({
  type,
  constant: value,
  of: () => Number(value)
})

export const decimal = (value: number): NumberValue => ({ type: 'float', constant: value, of: () => value })

export const isNumber = (value: Value): value is NumberValue => 'of' in value

/** A value's type as the server's messages name it. */
export function typeName(value: Value): string {
  if (isNumber(value)) return `${value.constant === null ? '' : 'const '}${value.type}`
  switch (value.type) {
    case 'bool':
      return 'const bool'
    case 'bits':
      return `bit[${value.clbits.length}]`
    case 'qubits':
      return `qubit[${value.qubits.length}]`
    case 'set':
      return 'sequence[const int]'
    case 'range':
      return 'range[const int]'
    case 'gate':
      return `gate[${value.gate.params}, ${value.gate.qubits}]`
    default:
      return value.type
  }
}

export interface SymbolPlace extends Position {
  value: Value
}
