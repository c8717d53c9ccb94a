// Parses expressions of OpenQASM 3.
import type { Position } from '../../circuit/circuit.js'
import { NESTING_MAX } from '../limits.js'
import type { Expression, IndexElement, Range, SetOfValues, Type } from './syntax.js'
import { fault, type Token, tokensOf } from './tokens.js'

const levels: Record<string, number> = {
  '||': 1,
  '&&': 2,
  '|': 3,
  '^': 4,
  '&': 5,
  '==': 6,
  '!=': 6,
  '<': 7,
  '<=': 7,
  '>': 7,
  '>=': 7,
  '<<': 8,
  '>>': 8,
  '+': 9,
  '-': 9,
  '*': 10,
  '/': 10,
  '%': 10,
  '**': 12
}
const UNARY = 11
const POWER = 12

const typeNames = new Set('bit int uint float angle bool duration stretch complex array'.split(' '))

export class ExpressionParser {
  readonly #tokens: Token[]
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#tokens = tokensOf(text)
  }

  /** Where the text ends. */
  get end(): Position {
    return at(this.#tokens.at(-1)!)
  }

  protected get token(): Token {
    return this.#tokens[this.#at]!
  }

  protected tokenAfter(count: number): Token {
    return this.#tokens[Math.min(this.#at + count, this.#tokens.length - 1)]!
  }

  protected next(): Token {
    const token = this.token
    if (token.kind !== 'end') this.#at++
    return token
  }

  /** Parses something, or goes back to where it began and returns null. */
  protected attempt<T>(parse: () => T | null): T | null {
    const start = this.#at
    const found = parse()
    if (found === null) this.#at = start
    return found
  }

  protected is(text: string): boolean {
    const { kind } = this.token
    return this.token.text === text && (kind === 'symbol' || kind === 'keyword' || kind === 'assignment')
  }

  protected accept(text: string): boolean {
    const found = this.is(text)
    if (found) this.next()
    return found
  }

  protected expect(text: string): Token {
    if (!this.is(text)) throw this.unexpected()
    return this.next()
  }

  protected name(): Token {
    if (this.token.kind !== 'name') throw this.unexpected()
    return this.next()
  }

  protected unexpected(): Error {
    return fault(`syntax error at '${this.token.text.slice(0, 40)}'`, this.token)
  }

  /** Counts the levels around `parse`, which would else end with the stack of the machine. */
  protected nested<T>(parse: () => T): T {
    this.#depth++
    if (this.#depth > NESTING_MAX) throw fault('the program is nested too deeply', this.token)
    const found = parse()
    this.#depth--
    return found
  }

  expression(least = 0): Expression {
    return this.nested(() => {
      let left = this.#prefix()
      while (this.token.kind === 'symbol') {
        const operator = this.token.text
        const level = levels[operator]
        if (level === undefined || level < least) break
        this.next()
        // The power groups from the right, all else from the left.
        const right = this.expression(level === POWER ? level : level + 1)
        left = { kind: 'binary', operator, left, right, ...at(left) }
      }
      return left
    })
  }

  #prefix(): Expression {
    const { token } = this
    if (token.kind === 'symbol' && (token.text === '-' || token.text === '!' || token.text === '~')) {
      this.next()
      return { kind: 'unary', operator: token.text, operand: this.expression(UNARY), ...at(token) }
    }
    let found = this.#primary()
    while (this.is('[')) found = this.indexed(found)
    return found
  }

  #primary(): Expression {
    const token = this.token
    const position = at(token)
    if (this.#startsType()) {
      const type = this.type()
      this.expect('(')
      const argument = this.expression()
      this.expect(')')
      return { kind: 'cast', type, argument, ...position }
    }
    if (this.accept('(')) {
      const inner = this.expression()
      this.expect(')')
      return inner
    }
    if (token.kind === 'name' && this.tokenAfter(1).text === '(') {
      this.next()
      this.args()
      return { kind: 'valueless', what: token.text === 'sizeof' ? 'SizeOf' : 'FunctionCall', ...position }
    }
    if (token.kind === 'keyword' && token.text === 'durationof') {
      throw fault("'durationof' is not supported", token)
    }
    const literal = literalOf(token)
    if (literal === null) throw this.unexpected()
    this.next()
    return { ...literal, ...position }
  }

  /** A name or a hardware qubit, with its indices: an operand of a gate, or the left side of an assignment. */
  protected operand(): Expression {
    const token = this.token
    if (token.kind === 'hardware qubit') {
      this.next()
      return { kind: 'name', name: token.text, ...at(token) }
    }
    this.name()
    let found: Expression = { kind: 'name', name: token.text, ...at(token) }
    while (this.is('[')) found = this.indexed(found)
    return found
  }

  protected indexed(of: Expression): Expression {
    this.expect('[')
    const by = this.is('{') ? this.set() : this.list(() => this.rangeOrExpression(), ']')
    this.expect(']')
    return { kind: 'index', of, by, ...at(of) }
  }

  protected set(): SetOfValues {
    const position = at(this.expect('{'))
    const values = this.list(() => this.expression(), '}')
    this.expect('}')
    return { kind: 'set', values, ...position }
  }

  protected rangeOrExpression(): IndexElement {
    const position = at(this.token)
    const start = this.is(':') ? undefined : this.expression()
    if (!this.is(':')) {
      if (start === undefined) throw this.unexpected()
      return start
    }
    return this.rangeAfter(start, position)
  }

  protected rangeAfter(start: Expression | undefined, position: Position): Range {
    this.expect(':')
    const second = this.#endsRange() ? undefined : this.expression()
    const first = start === undefined ? {} : { start }
    if (!this.accept(':')) return { kind: 'range', ...first, ...(second && { end: second }), ...position }
    const end = this.expression()
    return { kind: 'range', ...first, ...(second && { step: second }), end, ...position }
  }

  #endsRange(): boolean {
    return this.is(']') || this.is(',') || this.is(':')
  }

  /** What stands in parentheses behind a gate or a function. */
  protected args(): Expression[] {
    this.expect('(')
    const found = this.is(')') ? [] : this.list(() => this.expression(), ')')
    this.expect(')')
    return found
  }

  /** At least one item; a comma may stand before the closing word. */
  protected list<T>(item: () => T, closing: string): T[] {
    const found = [item()]
    while (this.accept(',')) {
      if (this.is(closing)) break
      found.push(item())
    }
    return found
  }

  #startsType(): boolean {
    return this.token.kind === 'keyword' && typeNames.has(this.token.text)
  }

  /** Whether a type stands here, and not a cast to it. */
  protected startsDeclaration(): boolean {
    if (!this.#startsType()) return false
    const declared = this.attempt(() => {
      this.type()
      return this.is('(') ? true : null
    })
    if (declared === null) return true
    return false
  }

  protected type(): Type {
    if (!this.#startsType()) throw this.unexpected()
    const token = this.next()
    const name = token.text as Type['name']
    if (name === 'complex' || name === 'array') return this.#compoundType(name)
    if (name === 'bool' || name === 'duration' || name === 'stretch' || !this.is('[')) return { name }
    const size = this.designator()
    const positive = !(size.kind === 'unary' || (size.kind === 'integer' && size.value === 0n))
    if (!positive && (name === 'int' || name === 'uint' || name === 'angle')) {
      throw fault(`${name} size must be positive`, size)
    }
    return { name, size }
  }

  #compoundType(name: 'complex' | 'array'): Type {
    if (name === 'complex' && !this.is('[')) return { name }
    this.expect('[')
    this.type()
    if (name === 'array') {
      this.expect(',')
      this.list(() => this.expression(), ']')
    }
    this.expect(']')
    return { name }
  }

  protected designator(): Expression {
    this.expect('[')
    const size = this.expression()
    this.expect(']')
    return size
  }
}

export const at = ({ line, column }: Position): Position => ({ line, column })

type Unplaced<T> = T extends Position ? Omit<T, keyof Position> : never

function literalOf({ kind, text }: Token): Unplaced<Expression> | null {
  switch (kind) {
    case 'name':
    case 'hardware qubit':
      return { kind: 'name', name: text }
    case 'integer':
      return { kind: 'integer', value: BigInt(text.replaceAll('_', '').toLowerCase()) }
    case 'float':
      return { kind: 'float', value: Number(text.replaceAll('_', '')) }
    case 'boolean':
      return { kind: 'boolean', value: text === 'true' }
    case 'bitstring': {
      const digits = text.slice(1, -1).replaceAll('_', '')
      return { kind: 'bitstring', value: BigInt(`0b${digits}`), width: digits.length }
    }
    case 'duration':
      return { kind: 'valueless', what: 'DurationLiteral' }
    case 'imaginary':
      return { kind: 'valueless', what: 'ImaginaryLiteral' }
    default:
      return null
  }
}
