// Expressions of gate parameters in OpenQASM 2: all of them are numbers with a decimal point.
import { NESTING_MAX } from '../limits.js'
import { described, fault, type Token, type Tokens } from './tokens.js'

/** A number, or one that depends on the parameters of the gate whose body it stands in. */
export type Expression = number | ((params: readonly number[]) => number)

/** What a name in an expression stands for. */
export type NameInExpression = { param: number } | { function: string } | { fault: string }

const PREFIX_POWER = 5
const powers: Record<string, readonly [left: number, right: number]> = {
  '+': [1, 2],
  '-': [1, 2],
  '*': [3, 4],
  '/': [3, 4],
  '^': [8, 7]
}

const functions: Record<string, (value: number) => number> = {
  cos: Math.cos,
  exp: Math.exp,
  ln: Math.log,
  sin: Math.sin,
  sqrt: Math.sqrt,
  tan: Math.tan,
  acos: Math.acos,
  asin: Math.asin,
  atan: Math.atan
}

export const evaluated = (expression: Expression, params: readonly number[]): number =>
  typeof expression === 'number' ? expression : expression(params)

export class ExpressionReader {
  readonly #tokens: Tokens
  readonly #resolve: (name: string) => NameInExpression
  #depth = 0

  constructor(tokens: Tokens, resolve: (name: string) => NameInExpression) {
    this.#tokens = tokens
    this.#resolve = resolve
  }

  /** Reads an expression whose operators bind more tightly than `least`. */
  read(cause: Token, least = 0): Expression {
    this.#depth++
    if (this.#depth > NESTING_MAX) throw fault('the expression is nested too deeply', cause)
    let left = this.#operand(cause, least)
    while (true) {
      const operator = this.#tokens.peek()
      const power = operator?.kind === 'symbol' ? powers[operator.text] : undefined
      if (!operator || !power || power[0] < least) break
      this.#tokens.next()
      left = this.#binary(operator, left, this.read(cause, power[1]))
    }
    this.#depth--
    return left
  }

  #operand(cause: Token, least: number): Expression {
    const wanted = least === 0 ? 'an expression' : 'a missing operand'
    const token = this.#tokens.next()
    if (token === null) throw fault(`unexpected end-of-file when expecting to see ${wanted}`, cause)
    if (token.kind === 'integer' || token.kind === 'real') return Number(token.text)
    if (token.kind === 'name') return this.#named(token)
    if (token.kind === 'keyword' && token.text === 'pi') return Math.PI
    if (token.kind === 'keyword' && Object.hasOwn(functions, token.text)) return this.#call(token, token.text)
    if (token.text === '(' && token.kind === 'symbol') {
      const inner = this.read(token)
      this.#expect(')', 'a closing parenthesis', token)
      return inner
    }
    if (token.text === ')') {
      const missing = 'the parenthesis closed, but there was a missing operand'
      throw fault(least === 0 ? 'did not find an expected expression' : missing, token)
    }
    if (token.kind === 'symbol' && (token.text === '-' || token.text === '+')) {
      const operand = this.read(cause, PREFIX_POWER)
      if (token.text === '+') return operand
      return typeof operand === 'number' ? -operand : (params) => -operand(params)
    }
    if (Object.hasOwn(powers, token.text)) throw fault(`'${token.text}' is not a valid unary operator`, token)
    throw fault(`needed ${wanted}, but instead got ${described(token)}`, token)
  }

  #named(token: Token): Expression {
    const found = this.#resolve(token.text)
    if ('fault' in found) throw fault(found.fault, token)
    if ('function' in found) return this.#call(token, found.function)
    const { param } = found
    return (params) => params[param]!
  }

  #call(token: Token, name: string): Expression {
    this.#expect('(', 'an opening parenthesis', token)
    const argument = this.read(token)
    if (this.#tokens.peek()?.text === ',') this.#tokens.next()
    this.#expect(')', 'a closing parenthesis', token)
    const apply = (value: number): number => {
      if (name === 'ln' && !(value > 0)) {
        throw fault(`failure in constant folding: cannot take ln of non-positive ${value}`, token)
      }
      if (name === 'sqrt' && !(value >= 0)) {
        throw fault(`failure in constant folding: cannot take sqrt of negative ${value}`, token)
      }
      const result = functions[name]!(value)
      if (Number.isNaN(result)) throw fault(`${name} of ${value} is not a number`, token)
      return result
    }
    return typeof argument === 'number' ? apply(argument) : (params) => apply(argument(params))
  }

  #binary(token: Token, left: Expression, right: Expression): Expression {
    const apply = (a: number, b: number): number => {
      switch (token.text) {
        case '+':
          return a + b
        case '-':
          return a - b
        case '*':
          return a * b
        case '/':
          if (b === 0) throw fault('cannot divide by zero', token)
          return a / b
        default:
          return a ** b
      }
    }
    if (typeof right === 'number' && token.text === '/' && right === 0) throw fault('cannot divide by zero', token)
    if (typeof left === 'number' && typeof right === 'number') return apply(left, right)
    return (params) => apply(evaluated(left, params), evaluated(right, params))
  }

  #expect(symbol: string, wanted: string, cause: Token): void {
    const token = this.#tokens.next()
    if (token === null) throw fault(`unexpected end-of-file when expecting to see ${wanted}`, cause)
    if (token.kind !== 'symbol' || token.text !== symbol) {
      throw fault(`needed ${wanted}, but instead got ${described(token)}`, token)
    }
  }
}
