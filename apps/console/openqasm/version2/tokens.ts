// The words of OpenQASM 2, as the server's parser splits a text into them.
import type { Position } from '../../circuit/circuit.js'
import { ProgramFault } from '../fault.js'

export type Kind = 'keyword' | 'symbol' | 'name' | 'real' | 'integer' | 'file' | 'version'

export interface Token extends Position {
  kind: Kind
  text: string
}

const keywords = new Set(
  'OPENQASM barrier cos creg exp gate if include ln measure opaque qreg reset sin sqrt tan pi'.split(' ')
)

const NUMBER = /\d*\.?\d*(?:[eE][+-]?\d*)?/y
const WORD = /[A-Za-z0-9_]+/y
const SYMBOL = /->|==|[-+*/^;,()[\]{}]/y

export const fault = (message: string, position: Position): ProgramFault =>
  new ProgramFault(`OpenQASM 2: ${message}`, position)

/** What the server's messages call a token. */
export function described({ kind, text }: Token): string {
  if (kind === 'name') return 'an identifier'
  if (kind === 'real') return 'a real number'
  if (kind === 'integer') return 'an integer'
  if (kind === 'file') return 'a filename string'
  return kind === 'version' ? "a '<major>.<minor>' version" : text
}

/** Reads the tokens one at a time: an error behind a statement has to come after those of the statement. */
export class Tokens {
  readonly #text: string
  #at = 0
  #line = 1
  #lineStart = 0
  #peeked: Token | null | undefined
  #afterVersionWord = false

  constructor(text: string) {
    this.#text = text
  }

  peek(): Token | null {
    if (this.#peeked === undefined) this.#peeked = this.#read()
    return this.#peeked
  }

  next(): Token | null {
    const token = this.peek()
    this.#peeked = undefined
    return token
  }

  /** Where the text ends. */
  get end(): Position {
    return this.#position(this.#at)
  }

  #position(at: number): Position {
    return { line: this.#line, column: at - this.#lineStart + 1 }
  }

  #read(): Token | null {
    this.#skip()
    const start = this.#at
    if (start >= this.#text.length) return null
    const position = this.#position(start)
    const token = { ...this.#token(position), ...position }
    this.#afterVersionWord = token.text === 'OPENQASM'
    return token
  }

  #token(position: Position): Omit<Token, keyof Position> {
    const char = this.#text[this.#at]!
    if (/[0-9.]/.test(char)) return this.#number(position)
    if (/[A-Za-z]/.test(char)) return this.#word(position)
    if (char === '"' || char === "'") return this.#file(char, position)
    const symbol = this.#match(SYMBOL)
    if (symbol !== null) return { kind: 'symbol', text: symbol }
    if (char === '=') throw fault("single equals '=' is never valid", position)
    if (char > '\u007f') throw fault(`encountered a non-ASCII byte: ${char}`, position)
    throw fault(`encountered '${char}', which doesn't match any valid tokens`, position)
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (!found) return null
    this.#at += found.length
    return found
  }

  #skip(): void {
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]!
      if (char === '\n') this.#newLine()
      else if (char === ' ' || char === '\t' || char === '\r') this.#at++
      else if (char === '/' && this.#text[this.#at + 1] === '/') {
        const end = this.#text.indexOf('\n', this.#at)
        this.#at = end < 0 ? this.#text.length : end
      } else return
    }
  }

  #newLine(): void {
    this.#at++
    this.#line++
    this.#lineStart = this.#at
  }

  #number(position: Position): Omit<Token, keyof Position> {
    const text = this.#match(NUMBER) ?? ''
    if (text === '.' || /^\.[eE]/.test(text)) {
      throw fault('expected a numeric fractional part after the bare decimal point', position)
    }
    if (/[eE][+-]?$/.test(text)) throw fault('needed to see an integer exponent for this float', position)
    const whole = /^\d+$/.test(text)
    const version = this.#afterVersionWord && /^\d+(\.\d+)?$/.test(text) && !/^0\d/.test(text)
    const kind = version ? 'version' : whole ? 'integer' : 'real'
    if (whole && !version && /^0\d/.test(text)) throw fault('integers cannot have leading zeroes', position)
    const next = this.#text[this.#at] ?? ''
    if (/[A-Za-z0-9_]/.test(next)) {
      const after = version ? 'a version identifier' : whole ? 'an integer' : 'a float'
      throw fault(`expected a word boundary after ${after}, but saw '${next}'`, position)
    }
    return { kind, text }
  }

  #word(position: Position): Omit<Token, keyof Position> {
    const text = this.#match(WORD)!
    if (keywords.has(text)) return { kind: 'keyword', text }
    if (/^[A-Z]/.test(text) && text !== 'U' && text !== 'CX') {
      throw fault("identifiers cannot start with capital letters except for the builtins 'U' and 'CX'", position)
    }
    return { kind: 'name', text }
  }

  #file(quote: string, position: Position): Omit<Token, keyof Position> {
    const end = this.#text.indexOf(quote, this.#at + 1)
    const line = /[\r\n]/.exec(this.#text.slice(this.#at))
    if (line !== null && (end < 0 || this.#at + line.index < end)) {
      throw fault('unexpected line break while lexing string literal', position)
    }
    if (end < 0) throw fault('unexpected end-of-file while lexing string literal', position)
    const text = this.#text.slice(this.#at, end + 1)
    this.#at = end + 1
    return { kind: 'file', text }
  }
}
