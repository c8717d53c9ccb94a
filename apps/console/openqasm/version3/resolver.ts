// Resolves expressions of OpenQASM 3 into values, by the type rules of the server's reader.
import type { Position } from '../../circuit/circuit.js'
import type { Scopes } from './scopes.js'
import type { Expression, Range, SetOfValues } from './syntax.js'
import { fault } from './tokens.js'
import { decimal, integer, isNumber, type NumberType, type NumberValue, typeName, type Value } from './values.js'

export class Resolver {
  readonly #scopes: Scopes
  readonly #hardwareQubit: (index: number, position: Position) => number

  constructor(scopes: Scopes, hardwareQubit: (index: number, position: Position) => number) {
    this.#scopes = scopes
    this.#hardwareQubit = hardwareQubit
  }

  /** A value of a statement: its division of integers has to be exact, because 1/2 would be 0. */
  resolve(node: Expression): Value {
    this.#refuseInexactDivision(node)
    return this.#value(node)
  }

  constantInteger(node: Expression): bigint {
    const value = this.resolve(node)
    if ((value.type !== 'int' && value.type !== 'uint') || value.constant === null) {
      throw fault('required a constant integer', node)
    }
    return BigInt(value.constant)
  }

  constantNumber(node: Expression): number {
    const value = this.resolve(node)
    if (!isNumber(value) || value.type === 'angle' || value.constant === null) {
      throw fault('required a constant floating-point number', node)
    }
    return Number(value.constant)
  }

  angle(node: Expression): NumberValue {
    const value = this.resolve(node)
    if (!isNumber(value)) throw fault('required an angle-like value', node)
    return value
  }

  qubits(node: Expression): number | readonly number[] {
    const value = this.resolve(node)
    if (value.type === 'qubit') return value.qubit
    if (value.type === 'qubits') return value.qubits
    throw fault('required a qubit or qubit register', node)
  }

  clbits(node: Expression): readonly number[] {
    const value = this.resolve(node)
    if (value.type === 'bit') return [value.clbit]
    if (value.type === 'bits') return value.clbits
    throw fault('required a bit or bit register', node)
  }

  range(node: Range): Value {
    const part = (one: Expression | undefined): bigint | null => {
      if (one === undefined) return null
      const value = this.#value(one)
      if ((value.type !== 'int' && value.type !== 'uint') || value.constant === null) {
        throw fault('can only handle constant ranges', node)
      }
      return BigInt(value.constant)
    }
    return { type: 'range', start: part(node.start), end: part(node.end), step: part(node.step) }
  }

  set(node: SetOfValues): Value {
    const values = node.values.map((one) => {
      const value = this.#value(one)
      if ((value.type !== 'int' && value.type !== 'uint') || value.constant === null) {
        throw fault(`sequence values must be const int or uint, not '${typeName(value)}'`, one)
      }
      return BigInt(value.constant)
    })
    return { type: 'set', values }
  }

  #value(node: Expression): Value {
    switch (node.kind) {
      case 'integer':
        return integer(node.value)
      case 'float':
        return decimal(node.value)
      case 'boolean':
        return { type: 'bool', value: node.value }
      case 'bitstring':
        return integer(node.value, 'uint')
      case 'name':
        return this.#named(node.name, node)
      case 'index':
        return this.#indexed(this.#value(node.of), node)
      case 'concatenation':
        return this.#joined(this.#value(node.left), this.#value(node.right), node)
      case 'unary':
        return this.#negative(node)
      case 'binary':
        return this.#arithmetic(node)
      case 'cast':
        throw fault("'Cast' cannot be resolved into a Qiskit value", node)
      default:
        throw fault(`'${node.what}' cannot be resolved into a Qiskit value`, node)
    }
  }

  #named(name: string, position: Position): Value {
    const found = this.#scopes.get(name, position)
    if (found !== null) return found
    const hardware = /^\$(\d+)$/.exec(name)
    if (hardware === null) throw fault(`Undefined symbol '${name}'.`, position)
    return { type: 'qubit', qubit: this.#hardwareQubit(Number(hardware[1]), position) }
  }

  #joined(left: Value, right: Value, position: Position): Value {
    if (left.type === 'bits' && right.type === 'bits') {
      return { type: 'bits', clbits: [...left.clbits, ...right.clbits], isRegister: false }
    }
    if (left.type === 'qubits' && right.type === 'qubits') {
      return { type: 'qubits', qubits: [...left.qubits, ...right.qubits] }
    }
    throw fault('type error', position)
  }

  #indexed(of: Value, node: Expression & { kind: 'index' }): Value {
    if (of.type !== 'bits' && of.type !== 'qubits') {
      throw fault(`only indexing (qu)bit arrays is supported, not '${typeName(of)}'`, node)
    }
    const members = of.type === 'bits' ? of.clbits : of.qubits
    const some = (found: number[]): Value =>
      of.type === 'bits' ? { type: 'bits', clbits: found, isRegister: false } : { type: 'qubits', qubits: found }
    if (!Array.isArray(node.by)) {
      const { values } = this.set(node.by) as { values: readonly bigint[] }
      return some(values.map((index) => member(members, index, node)))
    }
    const [index, ...others] = node.by
    if (index === undefined || others.length > 0) throw fault('only 1D indexers are supported', node)
    if (index.kind === 'range') {
      return some(selected(members, this.range(index) as Value & { type: 'range' }, index))
    }
    const value = this.#value(index)
    if ((value.type !== 'int' && value.type !== 'uint') || value.constant === null) {
      throw fault(`unsupported index type: '${typeName(value)}'`, node)
    }
    const found = member(members, BigInt(value.constant), node)
    return of.type === 'bits' ? { type: 'bit', clbit: found } : { type: 'qubit', qubit: found }
  }

  #negative(node: Expression & { kind: 'unary' }): Value {
    const value = this.#value(node.operand)
    if (node.operator !== '-') throw fault(`unhandled unary operator '${node.operator}'`, node)
    if (!isNumber(value) || value.type === 'uint') {
      throw fault(`unary '-' is supported for int, angle and float, not '${typeName(value)}'`, node)
    }
    const { type, constant, of } = value
    return { type, constant: constant === null ? null : -constant, of: (params) => -of(params) }
  }

  #arithmetic(node: Expression & { kind: 'binary' }): Value {
    const { operator } = node
    if (!'+-*/'.includes(operator) || operator.length > 1) {
      throw fault(`unsupported binary operation '${operator}'`, node)
    }
    const [left, right] = [this.#value(node.left), this.#value(node.right)]
    const type = isNumber(left) && isNumber(right) ? joined(operator, left.type, right.type) : null
    if (type === null || !isNumber(left) || !isNumber(right)) throw fault('type error', node)
    const of = (params: readonly number[]): number => {
      const [a, b] = [left.of(params), right.of(params)]
      if (operator === '/' && b === 0) throw fault('division by zero', node)
      return operator === '+' ? a + b : operator === '-' ? a - b : operator === '*' ? a * b : a / b
    }
    if (left.constant === null || right.constant === null) return { type, constant: null, of }
    if (type === 'float') return decimal(of([]))
    const [a, b] = [BigInt(left.constant), BigInt(right.constant)]
    if (operator === '/' && b === 0n) throw fault('integer division or modulo by zero', node)
    const whole = operator === '+' ? a + b : operator === '-' ? a - b : operator === '*' ? a * b : floored(a, b)
    return integer(whole, type === 'uint' ? 'uint' : 'int')
  }

  #refuseInexactDivision(node: Expression): void {
    if (node.kind === 'unary') this.#refuseInexactDivision(node.operand)
    if (node.kind !== 'binary') return
    this.#refuseInexactDivision(node.left)
    this.#refuseInexactDivision(node.right)
    if (node.operator !== '/') return
    const [left, right] = [this.#value(node.left), this.#value(node.right)]
    const whole = [left, right].every(({ type }) => type === 'int' || type === 'uint')
    if (!whole || !isNumber(left) || !isNumber(right)) return
    const known = left.constant !== null && right.constant !== null && BigInt(right.constant) !== 0n
    if (known && BigInt(left.constant!) % BigInt(right.constant!) === 0n) return
    const shown = [left, right].map(({ constant }) => (constant === null ? 'a parameter' : String(constant)))
    const message = `${shown.join('/')} divides integers inexactly; write one of them with a decimal point`
    throw fault(message, node)
  }
}

/** The type of an operation on two numbers; null where the language has none. */
function joined(operator: string, left: NumberType, right: NumberType): NumberType | null {
  const whole = (type: NumberType): boolean => type === 'int' || type === 'uint'
  if (left !== 'angle' && right !== 'angle') {
    if (left === 'float' || right === 'float') return 'float'
    return left === 'uint' && right === 'uint' ? 'uint' : 'int'
  }
  const both = left === 'angle' && right === 'angle'
  const [other] = [left, right].filter((type) => type !== 'angle')
  switch (operator) {
    case '+':
    case '-':
      return both || other === 'float' ? 'angle' : null
    case '*':
      return both ? null : 'angle'
    default:
      if (left !== 'angle') return null
      if (both) return 'uint'
      return whole(right) || right === 'float' ? 'angle' : null
  }
}

function floored(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient
}

function member(members: readonly number[], index: bigint, position: Position): number {
  const length = BigInt(members.length)
  const place = index < 0n ? index + length : index
  if (place < 0n || place >= length) {
    throw fault(`index ${index} is out of range for a register of size ${members.length}`, position)
  }
  return members[Number(place)]!
}

/** A slice as the language has it: both its ends belong to it, and a negative index counts from the end. */
function selected(members: readonly number[], range: Value & { type: 'range' }, position: Position): number[] {
  const length = BigInt(members.length)
  const step = range.step ?? 1n
  if (step === 0n) throw fault('slice step cannot be zero', position)
  if (step < 0n && (range.start === null || range.end === null)) {
    throw fault('a slice with a negative step needs both its ends', position)
  }
  const counted = (index: bigint): bigint => (index < 0n ? index + length : index)
  const first = counted(range.start ?? 0n)
  const last = counted(range.end ?? length - 1n)
  if (step > 0n ? first > last : first < last) return []
  if (first < 0n || first >= length || last < 0n || last >= length) {
    throw fault(`the slice leaves a register of size ${members.length}`, position)
  }
  const found: number[] = []
  for (let place = first; step > 0n ? place <= last : place >= last; place += step) found.push(members[Number(place)]!)
  return found
}
