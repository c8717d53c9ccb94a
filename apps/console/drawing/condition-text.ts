// Conditions of an `if` as its frame shows them, and the classical bits that they read.
import type { ClassicalValue, Condition } from '../circuit/circuit.js'
import type { ClassicalWire } from './wires.js'

/** A condition can be as long as a program; what follows is shown as `…`. */
const CHARACTERS_MAX = 200
/** A number between two groups of bits would be compared with each of many; more names than this are counted. */
const BITS_NAMED_MAX = 8

interface Names {
  wires: readonly ClassicalWire[]
  clbits: readonly string[]
  /** How many more characters are written. */
  left: number
}

/** `c == 3`, `!c[0] && (a < b)` */
export function conditionText(
  condition: Condition,
  wires: readonly ClassicalWire[],
  clbits: readonly string[]
): string {
  const text = written(condition, { wires, clbits, left: CHARACTERS_MAX }, false)
  return text.length <= CHARACTERS_MAX ? text : `${text.slice(0, CHARACTERS_MAX - 1)}…`
}

/** Each bit once. */
export function conditionBits(condition: Condition): number[] {
  const bits = new Set<number>()
  const visit = (one: Condition): void => {
    if (one.kind === 'compare') {
      for (const value of [one.left, one.right])
        if ('clbits' in value) for (const clbit of value.clbits) bits.add(clbit)
    } else if (one.kind === 'not') visit(one.of)
    else for (const part of one.parts) visit(part)
  }
  visit(condition)
  return [...bits]
}

function written(condition: Condition, names: Names, isInside: boolean): string {
  if (names.left <= 0) return '…'
  switch (condition.kind) {
    case 'compare': {
      const text = comparison(condition, names)
      names.left -= text.length
      return isInside && text.includes(' ') ? `(${text})` : text
    }
    case 'not':
      return `!${written(condition.of, names, true)}`
    default: {
      // Of no parts all hold, and none does.
      if (condition.parts.length === 0) return String(condition.kind === 'and')
      const parts: string[] = []
      for (const part of condition.parts) {
        parts.push(written(part, names, true))
        if (names.left <= 0) break
      }
      const text = parts.join(condition.kind === 'and' ? ' && ' : ' || ')
      return isInside && parts.length > 1 ? `(${text})` : text
    }
  }
}

function comparison({ left, operator, right }: Condition & { kind: 'compare' }, names: Names): string {
  const [one, other] = [valueText(left, names), valueText(right, names)]
  // A single bit that is 1 is written as in most programs: by its name alone.
  if (isBit(left) && 'constant' in right && operator === '==' && right.constant <= 1)
    return right.constant === 1 ? one : `!${one}`
  return `${one} ${operator} ${other}`
}

const isBit = (value: ClassicalValue): boolean => 'clbits' in value && value.clbits.length === 1

function valueText(value: ClassicalValue, { wires, clbits: names }: Names): string {
  if ('constant' in value) return String(value.constant)
  const { clbits } = value
  const register = wires.find(
    (wire) => wire.clbits.length === clbits.length && wire.clbits.every((bit, at) => bit === clbits[at])
  )
  if (register) return register.name
  const named = clbits.slice(0, BITS_NAMED_MAX).map((clbit) => names[clbit] ?? `bit ${clbit}`)
  const rest = clbits.length - named.length
  return named.length === 1 ? named[0]! : `{${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}}`
}
