// The words of OpenQASM 3, by the longest match, as the language's own lexer splits a text into them.
import type { Position } from '../../circuit/circuit.js'
import { ProgramFault } from '../fault.js'

export type Kind =
  | 'keyword'
  | 'name'
  | 'hardware qubit'
  | 'integer'
  | 'float'
  | 'boolean'
  | 'bitstring'
  | 'duration'
  | 'imaginary'
  | 'symbol'
  | 'assignment'
  | 'version'
  | 'string'
  | 'line'
  | 'annotation'
  | 'calibration'
  | 'end'

export interface Token extends Position {
  kind: Kind
  text: string
}

const keywords = new Set(
  (
    'OPENQASM include defcalgrammar def cal defcal gate extern box let break continue if else end return for while in ' +
    'switch case default pragma input output const readonly mutable qreg qubit creg bool bit int uint float angle ' +
    'complex array void duration stretch gphase inv pow ctrl negctrl durationof delay reset measure barrier im'
  ).split(' ')
)

const DIGITS = '(?:[0-9]_?)*[0-9]'
const EXPONENT = `[eE][+-]?${DIGITS}`
const FLOAT = `(?:${DIGITS}\\.(?:${DIGITS})?(?:${EXPONENT})?|\\.${DIGITS}(?:${EXPONENT})?|${DIGITS}${EXPONENT})`
const NAME = '[_\\p{Lu}\\p{Ll}\\p{Lt}\\p{Lm}\\p{Lo}\\p{Nl}][_\\p{Lu}\\p{Ll}\\p{Lt}\\p{Lm}\\p{Lo}\\p{Nl}0-9]*'

/** In the order of the language's rules: of two matches of the same length the first counts. */
const rules: [Kind, RegExp][] = [
  ['annotation', new RegExp(`@${NAME}(?:\\.${NAME})*`, 'uy')],
  ['keyword', /#pragma/y],
  ['assignment', /\*\*=|<<=|>>=|[-+*/&|~^%]=/y],
  ['symbol', /\*\*|\+\+|->|\|\||&&|==|!=|<=|>=|<<|>>|[-+*/%|&^@~!=<>[\]{}():;.,]/y],
  ['imaginary', new RegExp(`(?:${FLOAT}|${DIGITS})[ \\t]*im`, 'uy')],
  ['integer', /0[bB](?:[01]_?)*[01]|0o(?:[0-7]_?)*[0-7]|0[xX](?:[0-9a-fA-F]_?)*[0-9a-fA-F]/y],
  ['integer', new RegExp(DIGITS, 'y')],
  ['name', new RegExp(NAME, 'uy')],
  ['hardware qubit', /\$[0-9]+/y],
  ['float', new RegExp(FLOAT, 'uy')],
  ['duration', new RegExp(`(?:${FLOAT}|${DIGITS})[ \\t]*(?:dt|ns|us|µs|ms|s)`, 'uy')],
  ['bitstring', /"(?:[01]_?)*[01]"/y]
]

const BLANK = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)+/y
const VERSION = /[0-9]+(?:\.[0-9]+)?/y
const STRING = /"[^"\r\t\n]+"|'[^'\r\t\n]+'/y
const REST = /[ \t]*([^\r\n]*)/y

export const fault = (message: string, position: Position): ProgramFault =>
  new ProgramFault(`OpenQASM 3: ${message}`, position)

export function tokensOf(text: string): Token[] {
  return new Lexer(text).all()
}

class Lexer {
  readonly #text: string
  readonly #tokens: Token[] = []
  #at = 0
  #line = 1
  #lineStart = 0

  constructor(text: string) {
    this.#text = text
  }

  all(): Token[] {
    while (true) {
      this.#skip(this.#match(BLANK))
      if (this.#at >= this.#text.length) break
      const token = this.#longest()
      this.#at += token.text.length
      this.#push(token.kind, token.text)
      this.#modeAfter(token)
    }
    this.#tokens.push({ kind: 'end', text: '<EOF>', ...this.#position })
    return this.#tokens
  }

  #longest(): { kind: Kind; text: string } {
    let best: { kind: Kind; text: string } | null = null
    for (const [kind, pattern] of rules) {
      pattern.lastIndex = this.#at
      const text = pattern.exec(this.#text)?.[0]
      if (text !== undefined && text.length > (best?.text.length ?? 0)) best = { kind, text }
    }
    if (best === null) {
      throw fault(`token recognition error at: '${this.#text.slice(this.#at, this.#at + 1)}'`, this.#position)
    }
    if (best.kind !== 'name') return best
    if (best.text === 'true' || best.text === 'false') return { ...best, kind: 'boolean' }
    return keywords.has(best.text) ? { ...best, kind: 'keyword' } : best
  }

  /** Some words change how the text behind them is split. */
  #modeAfter({ kind, text }: { kind: Kind; text: string }): void {
    if (kind === 'annotation' || (kind === 'keyword' && /^#?pragma$/.test(text))) {
      const rest = this.#match(REST)
      if (rest?.trim()) this.#push('line', rest)
    } else if (kind !== 'keyword') return
    else if (text === 'OPENQASM') this.#mode('version', VERSION)
    else if (text === 'include' || text === 'defcalgrammar') this.#mode('string', STRING)
    else if (text === 'cal' || text === 'defcal') this.#calibration()
  }

  #mode(kind: Kind, pattern: RegExp): void {
    this.#skip(this.#match(/[ \t\r\n]+/y))
    const text = this.#match(pattern)
    if (text === null) {
      throw fault(`token recognition error at: '${this.#text.slice(this.#at, this.#at + 1)}'`, this.#position)
    }
    this.#push(kind, text)
  }

  /** A calibration up to its last brace; it is refused by its name, whatever it says. */
  #calibration(): void {
    let depth = 0
    let end = this.#text.indexOf('{', this.#at)
    if (end < 0) throw fault("syntax error: a calibration needs a block '{ ... }'", this.#position)
    do {
      if (this.#text[end] === '{') depth++
      if (this.#text[end] === '}') depth--
      end++
    } while (depth > 0 && end < this.#text.length)
    if (depth > 0) throw fault("syntax error at '<EOF>'", this.#position)
    const text = this.#text.slice(this.#at, end)
    this.#at = end
    this.#push('calibration', text)
    this.#countLines(text, end - text.length)
  }

  get #position(): Position {
    return { line: this.#line, column: this.#at - this.#lineStart + 1 }
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const text = pattern.exec(this.#text)?.[0]
    if (!text) return null
    this.#at += text.length
    return text
  }

  #skip(text: string | null): void {
    if (text) this.#countLines(text, this.#at - text.length)
  }

  #countLines(text: string, start: number): void {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      this.#line++
      this.#lineStart = start + at + 1
    }
  }

  /** Adds the token whose text has just been read. */
  #push(kind: Kind, text: string): void {
    const column = this.#at - text.length - this.#lineStart + 1
    this.#tokens.push({ kind, text, line: this.#line, column })
  }
}
