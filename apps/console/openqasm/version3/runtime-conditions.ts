// Conditions of OpenQASM 3, by the rules of the server's reader.
import type { Condition } from '../../circuit/circuit.js'
import {
  ALWAYS,
  alike,
  bitIs,
  type Comparison,
  compared,
  equals,
  mirrored,
  NEVER,
  not
} from '../../circuit/conditions.js'
import type { Resolver } from './resolver.js'
import type { Expression } from './syntax.js'
import { fault } from './tokens.js'
import { isNumber, typeName, type Value } from './values.js'

/** A truth value; `constant` where the program fixes it. */
interface Bool {
  kind: 'bool'
  condition: Condition
  constant: boolean | null
}

/** A number: bits of which the first is the least significant, or a constant. */
type Uint = { kind: 'uint'; clbits: readonly number[] } | { kind: 'uint'; constant: bigint }

const LOGIC = ['&&', '||']
const BITWISE = ['&', '|', '^']
const COMPARED = ['==', '!=', '<', '<=', '>', '>=']

export class RuntimeConditions {
  readonly #resolver: Resolver

  constructor(resolver: Resolver) {
    this.#resolver = resolver
  }

  read(node: Expression): Condition {
    if (this.#isSimple(node)) return this.#simple(node)
    const found = this.evaluated(node)
    if (found.kind === 'bool') return found.condition
    throw fault('a condition has to be true or false; compare the register with a number', node)
  }

  /** Whether a condition is `bit`, `!bit`, `bit == constant` or `register == constant`. */
  #isSimple(node: Expression): boolean {
    if (node.kind === 'unary') return node.operand.kind !== 'unary' && node.operand.kind !== 'binary'
    if (node.kind !== 'binary') return true
    if ((node.operator !== '==' && node.operator !== '!=') || isEvaluated(node.left) || isEvaluated(node.right)) {
      return false
    }
    const kinds = [this.#resolver.resolve(node.left).type, this.#resolver.resolve(node.right).type]
    const both = kinds.every((kind) => kind === 'bit' || kind === 'bits')
    return !both && (node.operator === '==' || !kinds.includes('bits'))
  }

  #simple(node: Expression): Condition {
    const bad = (shown: string) =>
      fault(`conditions must be 'bit == const bool' or 'bitarray == const int', not '${shown}'`, node)
    if (node.kind !== 'binary') {
      const isNegated = node.kind === 'unary'
      if (isNegated && node.operator === '-') throw fault("unhandled unary operator '-'", node)
      const value = this.#resolver.resolve(isNegated ? node.operand : node)
      if (value.type !== 'bit') throw bad(typeName(value))
      return bitIs(value.clbit, !isNegated)
    }
    const [left, right] = [this.#resolver.resolve(node.left), this.#resolver.resolve(node.right)]
    const isBits = ({ type }: Value): boolean => type === 'bit' || type === 'bits'
    const shown = `${typeName(left)} ${node.operator} ${typeName(right)}`
    const [bits, other, literal] = isBits(left) ? [left, right, node.right] : [right, left, node.left]
    if (bits.type === 'bit') {
      const asBool = literal.kind === 'integer' && (literal.value === 0n || literal.value === 1n)
      if (other.type !== 'bool' && !asBool) throw bad(shown)
      const value = other.type === 'bool' ? other.value : literal.kind === 'integer' && literal.value === 1n
      return bitIs(bits.clbit, value === (node.operator === '=='))
    }
    if (bits.type !== 'bits' || (other.type !== 'int' && other.type !== 'uint') || other.constant === null) {
      throw bad(shown)
    }
    if (other.constant < 0) throw fault('a condition compares a register with a number that is not negative', node)
    return equals(bits.clbits, BigInt(other.constant))
  }

  /** An expression over bits, registers and numbers. */
  evaluated(node: Expression): Bool | Uint {
    if (node.kind === 'unary' && node.operator !== '-') return this.#negated(node)
    if (node.kind === 'cast') return this.#cast(node)
    if (node.kind === 'binary' && !isArithmetic(node)) return this.#binary(node)
    const value = this.#resolver.resolve(node)
    if (value.type === 'bits' && !value.isRegister) {
      throw fault('a condition on some bits of a register has to name them one by one', node)
    }
    if (value.type === 'bit') return { kind: 'bool', condition: bitIs(value.clbit, true), constant: null }
    if (value.type === 'bits') return { kind: 'uint', clbits: value.clbits }
    if (value.type === 'bool') return constantBool(value.value)
    const whole = isNumber(value) && (value.type === 'int' || value.type === 'uint') && value.constant !== null
    if (!whole || value.constant! < 0) {
      throw fault('a condition consists of bits, registers and numbers that are not negative', node)
    }
    return { kind: 'uint', constant: BigInt(value.constant!) }
  }

  #negated(node: Expression & { kind: 'unary' }): Bool {
    const operand = this.evaluated(node.operand)
    if (operand.kind === 'bool') {
      if (operand.constant !== null) return constantBool(!operand.constant)
      return { kind: 'bool', condition: not(operand.condition), constant: null }
    }
    if (node.operator === '!') throw fault("'!' takes a bit or a comparison", node)
    throw fault("'~' of a register in a condition is not available here; run it on the server", node)
  }

  #cast(node: Expression & { kind: 'cast' }): Bool | Uint {
    const operand = this.evaluated(node.argument)
    const { type } = node
    if (type.name === 'bool') {
      if (operand.kind === 'bool') return operand
      if ('constant' in operand) return constantBool(operand.constant !== 0n)
      return { kind: 'bool', condition: not(equals(operand.clbits, 0n)), constant: null }
    }
    if (type.name !== 'uint' || type.size === undefined) {
      throw fault("a cast in a condition is to 'bool' or 'uint[n]'", node)
    }
    const size = this.#resolver.constantInteger(type.size)
    if (size <= 0n || size > 64n) throw fault(`a cast to uint[${size}] is not available here`, node)
    if (operand.kind === 'uint') {
      if ('constant' in operand) return { kind: 'uint', constant: BigInt.asUintN(Number(size), operand.constant) }
      return { kind: 'uint', clbits: operand.clbits.slice(0, Number(size)) }
    }
    if (operand.constant !== null) return { kind: 'uint', constant: operand.constant ? 1n : 0n }
    const { condition } = operand
    const clbits = condition.kind === 'compare' && 'clbits' in condition.left ? condition.left.clbits : []
    const isBit = clbits.length === 1 && condition.kind === 'compare' && 'constant' in condition.right
    if (!isBit || (condition.right as { constant: number }).constant !== 1) {
      throw fault('a cast of a comparison to a number is not available here; run it on the server', node)
    }
    return { kind: 'uint', clbits }
  }

  #binary(node: Expression & { kind: 'binary' }): Bool {
    const { operator } = node
    if (![...LOGIC, ...BITWISE, ...COMPARED].includes(operator)) {
      const known = [...LOGIC, ...BITWISE, ...COMPARED, '!', '~'].join(', ')
      throw fault(`'${operator}' in a condition is not supported; use ${known}`, node)
    }
    let [left, right] = [this.evaluated(node.left), this.evaluated(node.right)]
    // 0 and 1 beside a bit are truth values.
    if (right.kind === 'bool') left = asBool(left)
    if (left.kind === 'bool') right = asBool(right)
    if (left.kind === 'bool' && right.kind === 'bool') return bools(operator, left, right, node)
    if (left.kind !== right.kind || LOGIC.includes(operator)) {
      const what = LOGIC.includes(operator)
        ? 'takes bits and comparisons'
        : 'takes two bits, or two registers or numbers'
      throw fault(`'${operator}' ${what}`, node)
    }
    if (BITWISE.includes(operator)) {
      throw fault(`'${operator}' of registers in a condition is not available here; run it on the server`, node)
    }
    return uints(operator as Comparison, left as Uint, right as Uint, node)
  }
}

const constantBool = (value: boolean): Bool => ({ kind: 'bool', condition: value ? ALWAYS : NEVER, constant: value })

function asBool(value: Bool | Uint): Bool | Uint {
  if (value.kind === 'bool' || !('constant' in value) || value.constant > 1n) return value
  return constantBool(value.constant === 1n)
}

function bools(operator: string, left: Bool, right: Bool, node: Expression): Bool {
  const parts = [left.condition, right.condition]
  const made = (condition: Condition): Bool => ({ kind: 'bool', condition, constant: null })
  switch (operator) {
    case '&&':
    case '&':
      return made({ kind: 'and', parts })
    case '||':
    case '|':
      return made({ kind: 'or', parts })
    case '==':
      return made(alike(left.condition, right.condition))
    case '!=':
    case '^':
      return made(not(alike(left.condition, right.condition)))
    default:
      throw fault(`'${operator}' compares registers and numbers, not bits`, node)
  }
}

function uints(operator: Comparison, left: Uint, right: Uint, node: Expression): Bool {
  const made = (condition: Condition): Bool => ({ kind: 'bool', condition, constant: null })
  if ('clbits' in left && 'clbits' in right) return made({ kind: 'compare', left, operator, right })
  let condition: Condition | null = null
  if ('clbits' in left && 'constant' in right) condition = compared(left.clbits, operator, right.constant)
  if ('constant' in left && 'clbits' in right) condition = compared(right.clbits, mirrored[operator], left.constant)
  if ('constant' in left && 'constant' in right) {
    const order = left.constant < right.constant ? -1 : left.constant > right.constant ? 1 : 0
    const held = {
      '==': order === 0,
      '!=': order !== 0,
      '<': order < 0,
      '<=': order <= 0,
      '>': order > 0,
      '>=': order >= 0
    }
    condition = held[operator] ? ALWAYS : NEVER
  }
  if (condition === null) throw fault('a comparison with a number above 2^53 is not available here', node)
  return made(condition)
}

/** Whether an operand is an expression over bits, not a bit, a register or an arithmetic constant. */
function isEvaluated(node: Expression): boolean {
  if (node.kind === 'unary') return node.operator !== '-'
  return node.kind === 'cast' || (node.kind === 'binary' && !isArithmetic(node))
}

/** Whether an expression is arithmetic on constants: names without an index. */
function isArithmetic(node: Expression): boolean {
  return node.kind === 'binary' && ['+', '-', '*', '/'].includes(node.operator) && !hasIndex(node)
}

function hasIndex(node: Expression): boolean {
  if (node.kind === 'index') return true
  if (node.kind === 'unary') return hasIndex(node.operand)
  if (node.kind === 'cast') return hasIndex(node.argument)
  return node.kind === 'binary' && (hasIndex(node.left) || hasIndex(node.right))
}
