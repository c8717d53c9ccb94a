// The tree of an OpenQASM 3 program. Statements that are refused as soon as they are reached stand in it by name.
import type { Position } from '../../circuit/circuit.js'

export type BinaryOperator = string

export type Expression = Position &
  (
    | { kind: 'integer'; value: bigint }
    | { kind: 'float'; value: number }
    | { kind: 'boolean'; value: boolean }
    | { kind: 'bitstring'; value: bigint; width: number }
    | { kind: 'name'; name: string }
    | { kind: 'unary'; operator: '-' | '!' | '~'; operand: Expression }
    | { kind: 'binary'; operator: BinaryOperator; left: Expression; right: Expression }
    | { kind: 'index'; of: Expression; by: IndexElement[] | SetOfValues }
    | { kind: 'cast'; type: Type; argument: Expression }
    | { kind: 'concatenation'; left: Expression; right: Expression }
    /** A form that stands for no value here, by the name of its kind. */
    | { kind: 'valueless'; what: string }
  )

export type Range = Position & { kind: 'range'; start?: Expression; end?: Expression; step?: Expression }

export type SetOfValues = Position & { kind: 'set'; values: Expression[] }

export type IndexElement = Expression | Range

export interface Type {
  name: 'bit' | 'int' | 'uint' | 'float' | 'angle' | 'bool' | 'duration' | 'stretch' | 'complex' | 'array'
  size?: Expression
}

export interface Modifier extends Position {
  kind: 'ctrl' | 'negctrl' | 'inv' | 'pow'
  argument?: Expression
}

export interface GateCall extends Position {
  kind: 'gate call'
  name: string
  modifiers: Modifier[]
  args: Expression[]
  operands: Expression[]
  hasDuration: boolean
}

export interface GateDefinition extends Position {
  kind: 'gate definition'
  name: string
  params: string[]
  qubits: string[]
  body: Statement[]
}

export interface ForLoop extends Position {
  kind: 'for'
  type: Type
  variable: string
  values: Range | SetOfValues | Expression
  body: Statement[]
}

export interface Switch extends Position {
  kind: 'switch'
  target: Expression
  cases: { values: Expression[]; body: Statement[] }[]
  otherwise: Statement[] | null
}

export type Statement =
  | GateCall
  | GateDefinition
  | ForLoop
  | Switch
  | (Position &
      (
        | { kind: 'include'; file: string }
        | { kind: 'qubits'; name: string; size?: Expression }
        | { kind: 'declaration'; type: Type; name: string; measured?: Expression; isInitialised: boolean }
        | { kind: 'constant'; type: Type; name: string; value: Expression }
        | { kind: 'input'; isOutput: boolean; type: Type; name: string }
        | { kind: 'alias'; name: string; value: Expression }
        | { kind: 'measure'; measured: Expression; target?: Expression }
        | { kind: 'assignment'; target: Expression; operator: string; value: Expression }
        | { kind: 'reset'; operand: Expression }
        | { kind: 'barrier'; operands: Expression[] }
        | { kind: 'if'; condition: Expression; held: Statement[]; otherwise: Statement[] }
        /** A statement that is refused, as the refusal calls it. */
        | { kind: 'refused'; what: string }
        /** `break` or `continue`. */
        | { kind: 'leave'; what: string }
      ))
