// Parses the statements of OpenQASM 3.
import type { Position } from '../../circuit/circuit.js'
import { DeclarationParser } from './declaration-parser.js'
import { at } from './expression-parser.js'
import type { Expression, GateCall, Modifier, Statement } from './syntax.js'
import { fault, type Token } from './tokens.js'

/** What the server calls the statements that it refuses. */
const refused: Record<string, string> = {
  def: "'def' (a subroutine; write its gates out, or define a gate)",
  extern: "'extern'",
  box: "'box'",
  delay: "'delay'",
  defcalgrammar: "'defcalgrammar'",
  defcal: "'defcal'",
  cal: "'cal'",
  end: "'end'"
}

const modifiers = new Set(['ctrl', 'negctrl', 'inv', 'pow'])

export class Parser extends DeclarationParser {
  #loops = 0

  program(): Statement[] {
    if (this.accept('OPENQASM')) {
      this.next()
      this.expect(';')
    }
    const statements: Statement[] = []
    while (this.token.kind !== 'end') statements.push(this.#statement())
    return statements
  }

  #statement(): Statement {
    return this.nested(() => this.#parsed())
  }

  #parsed(): Statement {
    while (this.token.kind === 'annotation') {
      this.next()
      this.#skipLine()
    }
    const { token } = this
    if (token.kind === 'name') return this.#beginningWithName()
    if (token.kind === 'keyword') {
      if (modifiers.has(token.text) || token.text === 'gphase') return this.#gateCall()
      const found = this.#keyword(token)
      if (found !== null) return found
    }
    if (this.is('{')) {
      this.#block()
      return { kind: 'refused', what: 'a block outside of a statement', ...at(token) }
    }
    return this.#expressionStatement()
  }

  #keyword(token: Token): Statement | null {
    const position = at(token)
    switch (token.text) {
      case 'include':
        return this.include()
      case 'qubit':
      case 'qreg':
        return this.qubits()
      case 'creg':
        return this.oldBits()
      case 'const':
        return this.constant()
      case 'input':
      case 'output':
        return this.io()
      case 'let':
        return this.alias()
      case 'gate':
        return this.#gateDefinition()
      case 'measure': {
        this.notInGate("cannot have a non-unitary 'measure' instruction in a gate")
        this.next()
        const measured = this.operand()
        const target = this.accept('->') ? this.operand() : undefined
        this.expect(';')
        return { kind: 'measure', measured, ...(target && { target }), ...position }
      }
      case 'reset': {
        this.notInGate("cannot have a non-unitary 'reset' instruction in a gate")
        this.next()
        const operand = this.operand()
        this.expect(';')
        return { kind: 'reset', operand, ...position }
      }
      case 'barrier': {
        this.next()
        const operands = this.is(';') ? [] : this.list(() => this.operand(), ';')
        this.expect(';')
        return { kind: 'barrier', operands, ...position }
      }
      case 'if':
        return this.#if()
      case 'for':
        return this.#for()
      case 'while':
        return this.#while()
      case 'switch':
        return this.#switch()
      case 'break':
      case 'continue':
        if (this.#loops === 0) throw fault(`'${token.text}' statement outside loop`, token)
        this.next()
        this.expect(';')
        return { kind: 'leave', what: token.text, ...position }
      case 'return':
        throw fault("'return' statement outside subroutine", token)
      case 'pragma':
      case '#pragma':
        this.next()
        this.#skipLine()
        return { kind: 'refused', what: "'pragma' (for #pragma braket, choose the framework marqov)", ...position }
      default:
        return Object.hasOwn(refused, token.text) ? this.#refused(token) : this.declaration()
    }
  }

  #skipLine(): void {
    if (this.token.kind === 'line') this.next()
  }

  /** Skips a statement that is refused once it is reached: up to its semicolon, or through its block. */
  #refused(token: Token): Statement {
    this.next()
    for (let depth = 0; ; ) {
      if (this.token.kind === 'end') throw this.unexpected()
      const { kind, text } = this.next()
      if (kind === 'calibration') break
      if (kind !== 'symbol') continue
      if (text === '{') depth++
      else if (text === '}') depth--
      if (depth < 0) throw this.unexpected()
      if (depth === 0 && (text === ';' || text === '}')) break
    }
    return { kind: 'refused', what: refused[token.text]!, ...at(token) }
  }

  #gateDefinition(): Statement {
    const position = at(this.next())
    if (this.scope !== 'global') throw fault('gate definitions must be global', position)
    const name = this.name().text
    let params: string[] = []
    if (this.accept('(')) {
      if (!this.is(')')) params = this.list(() => this.name().text, ')')
      this.expect(')')
    }
    const qubits = this.list(() => this.name().text, '{')
    this.scope = 'gate'
    const body = this.#block()
    this.scope = 'global'
    return { kind: 'gate definition', name, params, qubits, body, ...position }
  }

  #block(): Statement[] {
    this.expect('{')
    const statements: Statement[] = []
    while (!this.is('}')) {
      if (this.token.kind === 'end') throw this.unexpected()
      statements.push(this.#statement())
    }
    this.expect('}')
    return statements
  }

  /** The block, or the one statement, that belongs to a statement. */
  #body(): Statement[] {
    const scope = this.scope
    if (scope === 'global') this.scope = 'block'
    const body = this.is('{') ? this.#block() : [this.#statement()]
    this.scope = scope
    return body
  }

  #loopBody(): Statement[] {
    this.#loops++
    const body = this.#body()
    this.#loops--
    return body
  }

  #if(): Statement {
    const position = at(this.next())
    this.expect('(')
    const condition = this.expression()
    this.expect(')')
    const held = this.#body()
    const otherwise = this.accept('else') ? this.#body() : []
    return { kind: 'if', condition, held, otherwise, ...position }
  }

  #for(): Statement {
    const position = at(this.next())
    const type = this.type()
    const variable = this.name().text
    this.expect('in')
    const values = this.#loopValues()
    return { kind: 'for', type, variable, values, body: this.#loopBody(), ...position }
  }

  #loopValues() {
    if (this.is('{')) return this.set()
    if (!this.accept('[')) return this.expression()
    const position = at(this.token)
    const start = this.is(':') ? undefined : this.expression()
    const range = this.rangeAfter(start, position)
    this.expect(']')
    return range
  }

  #while(): Statement {
    const position = at(this.next())
    this.expect('(')
    this.expression()
    this.expect(')')
    this.#loopBody()
    return {
      kind: 'refused',
      what: "'while' (its number of turns is not known before the run; run it on the server)",
      ...position
    }
  }

  #switch(): Statement {
    const position = at(this.next())
    this.expect('(')
    const target = this.expression()
    this.expect(')')
    this.expect('{')
    const cases: { values: Expression[]; body: Statement[] }[] = []
    let otherwise: Statement[] | null = null
    while (!this.accept('}')) {
      const word = this.token
      if (this.accept('case')) {
        if (otherwise !== null) throw fault("'case' statement after 'default'", word)
        const values = this.list(() => this.expression(), '{')
        cases.push({ values, body: this.#body() })
      } else {
        this.expect('default')
        if (otherwise !== null) throw fault("multiple 'default' cases", word)
        otherwise = this.#body()
      }
    }
    return { kind: 'switch', target, cases, otherwise, ...position }
  }

  /** A gate call, an assignment or an expression. */
  #beginningWithName(): Statement {
    const call = this.attempt(() => this.#plainCall())
    if (call !== null) return call
    const assignment = this.attempt(() => this.#assignment())
    return assignment ?? this.#expressionStatement()
  }

  #plainCall(): GateCall | null {
    const next = this.tokenAfter(1)
    if (next.kind === 'symbol' && next.text !== '(' && next.text !== '[') return null
    return this.#callAfter([], at(this.token))
  }

  #gateCall(): GateCall {
    const position = at(this.token)
    const found: Modifier[] = []
    while (modifiers.has(this.token.text) && this.token.kind === 'keyword') found.push(this.#modifier())
    const call = this.#callAfter(found, position)
    if (call === null) throw this.unexpected()
    return call
  }

  #modifier(): Modifier {
    const word = this.next()
    const kind = word.text as Modifier['kind']
    let argument: Expression | undefined
    if (kind === 'pow' || (kind !== 'inv' && this.is('('))) {
      this.expect('(')
      argument = this.expression()
      this.expect(')')
    }
    this.expect('@')
    return { kind, ...(argument && { argument }), ...at(word) }
  }

  /** The rest of a gate call; null where something else than a gate call stands. */
  #callAfter(found: Modifier[], position: Position): GateCall | null {
    const isPhase = this.is('gphase')
    const name = isPhase ? this.next().text : this.name().text
    const args = this.is('(') ? this.args() : []
    let hasDuration = false
    if (this.is('[')) {
      this.designator()
      hasDuration = true
    }
    const { kind } = this.token
    if (kind !== 'name' && kind !== 'hardware qubit' && !(isPhase && this.is(';'))) return null
    const operands = this.is(';') ? [] : this.list(() => this.operand(), ';')
    this.expect(';')
    if (isPhase && args.length !== 1) {
      throw fault(`'gphase' takes exactly one argument, but received ${args.length}`, position)
    }
    return { kind: 'gate call', name, modifiers: found, args, operands, hasDuration, ...position }
  }

  #assignment(): Statement | null {
    const position = at(this.token)
    const target = this.operand()
    if (this.token.kind !== 'assignment' && !this.is('=')) return null
    const operator = this.next().text
    this.notInGate('cannot assign to classical parameters in a gate')
    if (this.accept('measure')) {
      const measured = this.operand()
      this.expect(';')
      if (operator !== '=') throw fault(`'${operator}' of a measurement is not supported`, position)
      return { kind: 'measure', measured, target, ...position }
    }
    const value = this.expression()
    this.expect(';')
    return { kind: 'assignment', target, operator, value, ...position }
  }

  #expressionStatement(): Statement {
    const position = at(this.token)
    this.expression()
    this.expect(';')
    return { kind: 'refused', what: 'a call or an expression as a statement', ...position }
  }
}
