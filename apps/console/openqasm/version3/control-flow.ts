// What loops and switches of OpenQASM 3 go by: both are written out while the program is read.
import { UNROLLED_STATEMENTS_MAX } from '../limits.js'
import type { Resolver } from './resolver.js'
import type { Expression, ForLoop, Statement } from './syntax.js'
import { fault } from './tokens.js'

/** The values that a loop's variable takes, one after the other. */
export function loopValues(loop: ForLoop, resolver: Resolver): readonly bigint[] {
  const { values: node } = loop
  const value = node.kind === 'set' ? resolver.set(node) : node.kind === 'range' ? resolver.range(node) : null
  const bound = BigInt(Math.floor(UNROLLED_STATEMENTS_MAX / Math.max(1, loop.body.length)))
  const tooMany = () => fault(`the loop is longer than ${UNROLLED_STATEMENTS_MAX} statements once written out`, loop)
  if (value?.type === 'set') {
    if (BigInt(value.values.length) > bound) throw tooMany()
    return value.values
  }
  if (value?.type !== 'range' || value.start === null || value.end === null) {
    throw fault('a loop needs a range with both ends, or a set of integers', loop)
  }
  const step = value.step ?? 1n
  if (step === 0n) throw fault('range() arg 3 must not be zero', loop)
  const count = (value.end - value.start) / step + 1n
  const isEmpty = step > 0n ? value.end < value.start : value.end > value.start
  if (isEmpty) return []
  if (count > bound) throw tooMany()
  return Array.from({ length: Number(count) }, (_, turn) => value.start! + BigInt(turn) * step)
}

/** The bits that a switch tests. */
export function switchBits(target: Expression, resolver: Resolver): { clbits: readonly number[]; isBit: boolean } {
  const isPlain = target.kind === 'name' || target.kind === 'index'
  const value = isPlain ? resolver.resolve(target) : null
  if (value?.type === 'bit') return { clbits: [value.clbit], isBit: true }
  if (value?.type === 'bits' && value.isRegister) return { clbits: value.clbits, isBit: false }
  throw fault('switch takes a bit or a register, not an expression', target)
}

/** Integers that are declared for a switch to test, as Qiskit's exporter writes it. */
export function switchedIntegers(statements: readonly Statement[]): Set<string> {
  const targets = new Set<string>()
  walk(statements, (node) => {
    if (node.kind !== 'switch') return
    const target = node.target as Expression
    if (target.kind === 'name') targets.add(target.name)
  })
  const declared = statements.flatMap((one) =>
    one.kind === 'declaration' && (one.type.name === 'int' || one.type.name === 'uint') ? [one.name] : []
  )
  return new Set(declared.filter((name) => targets.has(name)))
}

/** Whether a name stands anywhere in statements. */
export function mentions(statements: readonly Statement[], name: string): boolean {
  let found = false
  walk(statements, (node) => {
    found ||= node.name === name || node.variable === name
  })
  return found
}

function walk(node: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (Array.isArray(node)) for (const item of node) walk(item, visit)
  else if (typeof node === 'object' && node !== null) {
    visit(node as Record<string, unknown>)
    for (const inner of Object.values(node)) walk(inner, visit)
  }
}
