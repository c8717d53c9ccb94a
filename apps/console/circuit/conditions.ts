// Conditions on classical bits, made so that every comparison is exact.
import type { ClassicalValue, Condition } from './circuit.js'

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>='

export const ALWAYS: Condition = { kind: 'and', parts: [] }
export const NEVER: Condition = { kind: 'or', parts: [] }

/** A bit is 1, or 0. */
export const bitIs = (clbit: number, value: boolean): Condition => ({
  kind: 'compare',
  left: { clbits: [clbit] },
  operator: '==',
  right: { constant: value ? 1 : 0 }
})

/** Bits, the first the least significant, have a value; one that they cannot have, they never have. */
export function equals(clbits: readonly number[], value: bigint): Condition {
  if (value < 0n || value >> BigInt(clbits.length) > 0n) return NEVER
  if (value <= Number.MAX_SAFE_INTEGER) {
    return { kind: 'compare', left: { clbits }, operator: '==', right: { constant: Number(value) } }
  }
  return { kind: 'and', parts: clbits.map((clbit, place) => bitIs(clbit, (value >> BigInt(place)) % 2n === 1n)) }
}

/** Bits compared with a number, or null for a number that a condition cannot hold exactly. */
export function compared(clbits: readonly number[], operator: Comparison, value: bigint): Condition | null {
  if (operator === '==') return equals(clbits, value)
  if (operator === '!=') return { kind: 'not', of: equals(clbits, value) }
  if (value >> BigInt(clbits.length) > 0n) return operator === '<' || operator === '<=' ? ALWAYS : NEVER
  if (value > Number.MAX_SAFE_INTEGER) return null
  return { kind: 'compare', left: { clbits }, operator, right: { constant: Number(value) } }
}

export const mirrored: Record<Comparison, Comparison> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<='
}

/** Two conditions hold both or fail both. */
export function alike(left: Condition, right: Condition): Condition {
  const both: Condition = { kind: 'and', parts: [left, right] }
  const neither: Condition = { kind: 'and', parts: [not(left), not(right)] }
  return { kind: 'or', parts: [both, neither] }
}

export const not = (of: Condition): Condition => ({ kind: 'not', of })

/** The bits that a condition reads. */
export function conditionBits(condition: Condition): number[] {
  switch (condition.kind) {
    case 'not':
      return conditionBits(condition.of)
    case 'compare':
      return [condition.left, condition.right].flatMap((value) => ('clbits' in value ? [...value.clbits] : []))
    default:
      return condition.parts.flatMap(conditionBits)
  }
}

/** Whether a condition holds for values of the bits. */
export function holds(condition: Condition, bits: ArrayLike<number>): boolean {
  switch (condition.kind) {
    case 'not':
      return !holds(condition.of, bits)
    case 'and':
      return condition.parts.every((part) => holds(part, bits))
    case 'or':
      return condition.parts.some((part) => holds(part, bits))
    case 'compare': {
      const [left, right] = [numberOf(condition.left, bits), numberOf(condition.right, bits)]
      switch (condition.operator) {
        case '==':
          return left === right
        case '!=':
          return left !== right
        case '<':
          return left < right
        case '<=':
          return left <= right
        case '>':
          return left > right
        default:
          return left >= right
      }
    }
  }
}

const WORD = 30

function numberOf(value: ClassicalValue, bits: ArrayLike<number>): bigint {
  if ('constant' in value) return BigInt(value.constant)
  let sum = 0n
  for (let first = 0; first < value.clbits.length; first += WORD) {
    let word = 0
    for (let place = first; place < Math.min(first + WORD, value.clbits.length); place++) {
      word += bits[value.clbits[place]!]! * 2 ** (place - first)
    }
    sum += BigInt(word) << BigInt(first)
  }
  return sum
}
