// What the statements of OpenQASM 2 have in common: expected tokens, lists, and gates on whole registers.
import type { Position } from '../../circuit/circuit.js'
import type { ProgramFault } from '../fault.js'
import { described, fault, type Token, Tokens } from './tokens.js'

/** One bit, or all bits of a register. */
export type Operand = { single: number } | { range: readonly number[] }

export const at = ({ line, column }: Position): Position => ({ line, column })

export const eof = (wanted: string, cause: Position): ProgramFault =>
  fault(`unexpected end-of-file when expecting to see ${wanted}`, cause)

export const needed = (wanted: string, token: Token): ProgramFault =>
  fault(`needed ${wanted}, but instead got ${described(token)}`, token)

export class TokenReader extends Tokens {
  isNext(symbol: string): boolean {
    const token = this.peek()
    return token?.kind === 'symbol' && token.text === symbol
  }

  accept(symbol: string): boolean {
    const found = this.isNext(symbol)
    if (found) this.next()
    return found
  }

  expect(symbol: string, wanted: string, cause: Token): Token {
    const token = this.next()
    if (token === null) throw eof(wanted, cause)
    if (token.kind !== 'symbol' || token.text !== symbol) throw needed(wanted, token)
    return token
  }

  expectKind(kind: Token['kind'], wanted: string, cause: Token): Token {
    const token = this.next()
    if (token === null) throw eof(wanted, cause)
    if (token.kind !== kind) throw needed(wanted, token)
    return token
  }

  /** A list that may end with a comma. */
  listOf<T>(read: () => T | null): T[] {
    const found: T[] = []
    for (let item = read(); item !== null; item = read()) {
      found.push(item)
      if (!this.accept(',')) break
    }
    return found
  }

  names(): Token[] {
    return this.listOf(() => (this.peek()?.kind === 'name' ? this.next() : null))
  }
}

/** The qubits of each call that a gate on whole registers stands for. */
export function broadcast(operands: readonly Operand[], name: Token): number[][] {
  const seen = new Set<number>()
  let length: number | null = null
  for (const operand of operands) {
    const qubits = 'single' in operand ? [operand.single] : operand.range
    if ('range' in operand) {
      if (length !== null && length !== 0 && length !== qubits.length) {
        throw fault('cannot resolve broadcast in gate application', name)
      }
      length = qubits.length
    }
    for (const qubit of qubits) {
      if (seen.has(qubit)) throw fault('duplicate qubits in gate application', name)
      seen.add(qubit)
    }
  }
  const times = length ?? 1
  return Array.from({ length: times }, (_, turn) =>
    operands.map((operand) => ('single' in operand ? operand.single : operand.range[turn]!))
  )
}
