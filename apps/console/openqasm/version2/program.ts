// Reads a program in OpenQASM 2, statement by statement, with the rules and the words of the server's parser.
import type { Circuit, Condition } from '../../circuit/circuit.js'
import { equals } from '../../circuit/conditions.js'
import { CircuitWriter } from '../circuit-writer.js'
import { placed } from '../gates/part.js'
import { type BodyCall, definedGate, partsOf } from './definitions.js'
import { type Expression, ExpressionReader, type NameInExpression } from './expressions.js'
import { descriptions, type KnownGate, Symbols } from './symbols.js'
import { at, broadcast, eof, needed, type Operand, TokenReader } from './token-reader.js'
import { fault, type Token } from './tokens.js'

/** A register compared with a number. */
type If = Condition | null

/** The parameters and qubits of the gate whose definition is being read. */
type Locals = ReadonlyMap<string, { param: number } | { qubit: number }>

const DEFINED = /\b(?:gate|opaque)\s+([A-Za-z_]\w*)/g

export class Program2 {
  readonly #tokens: TokenReader
  readonly #symbols: Symbols
  readonly #writer = new CircuitWriter()
  #allowVersion = true

  /** @param bare the text with its comments blanked out. */
  constructor(text: string, bare: string) {
    this.#tokens = new TokenReader(text)
    this.#symbols = new Symbols(new Set([...bare.matchAll(DEFINED)].map((found) => found[1]!)))
  }

  read(): Circuit {
    for (let token = this.#tokens.peek(); token !== null; token = this.#tokens.peek()) {
      this.#writer.step(token)
      this.#statement(token)
      this.#allowVersion = false
    }
    return this.#writer.finish('openqasm2', this.#tokens.end)
  }

  #statement(token: Token): void {
    if (token.kind === 'name') {
      this.#call(null)
      return
    }
    const read = token.kind === 'keyword' ? this.#keyword(token.text) : null
    if (token.kind === 'symbol' && token.text === ';') this.#tokens.next()
    else if (read === null) throw fault(`needed a start-of-statement token, but instead got ${token.text}`, token)
    else read()
  }

  #keyword(word: string): (() => void) | null {
    switch (word) {
      case 'qreg':
      case 'creg':
        return () => this.#register(word)
      case 'include':
        return () => this.#include()
      case 'measure':
        return () => this.#measure(null)
      case 'reset':
        return () => this.#reset(null)
      case 'barrier':
        return () => this.#barrier()
      case 'if':
        return () => this.#conditional()
      case 'opaque':
        return () => this.#opaque()
      case 'gate':
        return () => this.#definition()
      case 'OPENQASM':
        return () => this.#version()
      default:
        return null
    }
  }

  #version(): void {
    const word = this.#tokens.next()!
    if (!this.#allowVersion) throw fault('only the first statement may be a version declaration', word)
    const version = this.#tokens.expectKind('version', 'version number', word)
    if (!/^2(\.0+)?$/.test(version.text)) {
      throw fault(`can only handle OpenQASM 2.0, but given ${version.text}`, version)
    }
    this.#tokens.expect(';', ';', word)
  }

  #register(kind: 'qreg' | 'creg'): void {
    const word = this.#tokens.next()!
    const name = this.#tokens.expectKind('name', 'a valid identifier', word)
    const bracket = this.#tokens.expect('[', "'['", word)
    const size = Number(this.#tokens.expectKind('integer', 'an integer', bracket).text)
    this.#tokens.expect(']', "']'", bracket)
    this.#tokens.expect(';', "';'", word)
    if (this.#symbols.get(name.text)) throw fault(`'${name.text}' is already defined`, name)
    // The declared sizes have been added up before, so that this one is small.
    const names = Array.from({ length: size }, (_, place) => `${name.text}[${place}]`)
    if (kind === 'qreg') {
      this.#writer.nameRegister(name.text, name)
      this.#symbols.define(name.text, { kind, bits: this.#writer.addQubits(names, name) }, name)
    } else {
      const bits = this.#writer.addClbits(names, name)
      this.#writer.addRegister(name.text, bits, name)
      this.#symbols.define(name.text, { kind, bits }, name)
    }
  }

  #include(): void {
    const word = this.#tokens.next()!
    const file = this.#tokens.expectKind('file', 'a filename string', word)
    this.#tokens.expect(';', "';'", word)
    const name = file.text.slice(1, -1)
    if (name !== 'qelib1.inc') throw fault(`unable to find '${name}' in the include search path`, file)
    this.#symbols.include(word)
  }

  #measure(condition: If): void {
    const word = this.#tokens.next()!
    const qubits = this.#operand('qreg', 'a quantum argument', word)
    this.#tokens.expect('->', "'->'", word)
    const clbits = this.#operand('creg', 'a classical argument', word)
    this.#tokens.expect(';', "';'", word)
    const pairs: [number, number][] = []
    if ('single' in qubits && 'single' in clbits) pairs.push([qubits.single, clbits.single])
    else if ('range' in qubits && 'range' in clbits && qubits.range.length === clbits.range.length) {
      pairs.push(...qubits.range.map((qubit, place): [number, number] => [qubit, clbits.range[place]!]))
    } else throw fault('cannot resolve broadcast in measurement', word)
    for (const [qubit, clbit] of pairs) {
      this.#guarded(condition, word, () => {
        const call = this.#writer.addCall({ ...at(word), name: 'measure', angles: [], qubits: [qubit], controls: 0 })
        this.#writer.measure(qubit, clbit, call)
      })
    }
  }

  #reset(condition: If): void {
    const word = this.#tokens.next()!
    const operand = this.#operand('qreg', 'a quantum argument', word)
    this.#tokens.expect(';', "';'", word)
    for (const qubit of 'single' in operand ? [operand.single] : operand.range) {
      this.#guarded(condition, word, () => {
        const call = this.#writer.addCall({ ...at(word), name: 'reset', angles: [], qubits: [qubit], controls: 0 })
        this.#writer.reset(qubit, call)
      })
    }
  }

  #barrier(): void {
    const word = this.#tokens.next()!
    const operands = this.#tokens.isNext(';') ? null : this.#operands()
    this.#tokens.expect(';', "';'", word)
    const all = this.#writer.qubitNames.map((_, qubit) => qubit)
    const named = operands?.flatMap((one) => ('single' in one ? [one.single] : one.range))
    const qubits = [...new Set(named ?? all)]
    if (qubits.length === 0) return
    const call = this.#writer.addCall({ ...at(word), name: 'barrier', angles: [], qubits, controls: 0 })
    this.#writer.barrier(qubits, call)
  }

  #conditional(): void {
    const word = this.#tokens.next()!
    const parenthesis = this.#tokens.expect('(', "'('", word)
    const name = this.#tokens.expectKind('name', 'classical register', word)
    this.#tokens.expect('==', "'=='", word)
    const value = BigInt(this.#tokens.expectKind('integer', 'an integer', word).text)
    this.#tokens.expect(')', "')'", parenthesis)
    const symbol = this.#symbols.get(name.text)
    if (symbol === undefined) throw fault(`'${name.text}' is not defined in this scope`, name)
    if (symbol.kind !== 'creg') {
      throw fault(`'${name.text}' is ${descriptions[symbol.kind]}, not a classical register`, name)
    }
    const condition = equals(symbol.bits, value)
    const token = this.#tokens.peek()
    if (token === null) throw eof('a gate, measurement or reset to condition', word)
    if (token.kind === 'name') this.#call(condition)
    else if (token.text === 'measure') this.#measure(condition)
    else if (token.text === 'reset') this.#reset(condition)
    else throw needed('a gate application, measurement or reset', token)
  }

  #opaque(): void {
    const word = this.#tokens.next()!
    const name = this.#tokens.expectKind('name', 'an identifier', word)
    let params = 0
    if (this.#tokens.isNext('(')) {
      const parenthesis = this.#tokens.next()!
      params = this.#tokens.names().length
      this.#tokens.expect(')', 'closing parenthesis', parenthesis)
    }
    const qubits = this.#tokens.names().length
    this.#tokens.expect(';', ';', word)
    if (qubits === 0) throw fault('gates must act on at least one qubit', word)
    this.#symbols.define(name.text, { kind: 'gate', gate: { params, qubits, controls: 0, make: null } }, word)
  }

  #definition(): void {
    const word = this.#tokens.next()!
    const name = this.#tokens.expectKind('name', 'an identifier', word)
    const locals = new Map<string, { param: number } | { qubit: number }>()
    const add = (token: Token, local: { param: number } | { qubit: number }): void => {
      const known = locals.get(token.text)
      const what = known && ('param' in known ? 'a parameter' : 'a qubit')
      if (what) throw fault(`'${token.text}' is already defined as ${what}`, token)
      locals.set(token.text, local)
    }
    let params: Token[] = []
    if (this.#tokens.isNext('(')) {
      const parenthesis = this.#tokens.next()!
      params = this.#tokens.names()
      for (const [param, token] of params.entries()) add(token, { param })
      this.#tokens.expect(')', 'a closing parenthesis', parenthesis)
    }
    const qubits = this.#tokens.names()
    for (const [qubit, token] of qubits.entries()) add(token, { qubit })
    if (qubits.length === 0) {
      if (this.#tokens.peek() === null) throw eof('a qubit identifier', word)
      throw fault('gates must act on at least one qubit', word)
    }
    const brace = this.#tokens.expect('{', 'a gate body', word)
    const body: BodyCall[] = []
    while (!this.#tokens.isNext('}')) this.#bodyStatement(body, locals, brace)
    this.#tokens.next()
    const gate = definedGate(this.#writer, params.length, qubits.length, body)
    this.#symbols.define(name.text, { kind: 'gate', gate }, word)
  }

  #bodyStatement(body: BodyCall[], locals: Locals, brace: Token): void {
    const token = this.#tokens.peek()
    if (token === null) throw eof("a closing brace '}' of the gate body", brace)
    this.#writer.step(token)
    if (token.kind === 'name') {
      const { gate, name, angles } = this.#head(locals)
      const qubits = this.#tokens.listOf(() => this.#localQubit(locals))
      this.#checkCount(qubits.length, gate, name)
      this.#tokens.expect(';', "';'", name)
      if (new Set(qubits).size < qubits.length) throw fault('duplicate qubits in gate application', name)
      body.push({ gate, name, angles, qubits })
    } else if (token.kind === 'keyword' && token.text === 'barrier') {
      // It orders nothing that a simulator could exchange, and the body is drawn as one box.
      this.#tokens.next()
      if (!this.#tokens.isNext(';')) this.#tokens.listOf(() => this.#localQubit(locals))
      this.#tokens.expect(';', "';'", token)
    } else {
      throw fault(`only gate applications are valid within a 'gate' body, but saw ${token.text}`, token)
    }
  }

  #call(condition: If): void {
    const { gate, name, angles } = this.#head(null)
    const operands = this.#operands()
    this.#checkCount(operands.length, gate, name)
    this.#tokens.expect(';', "';'", name)
    const values = angles as readonly number[]
    for (const qubits of broadcast(operands, name)) {
      this.#guarded(condition, name, () => {
        const parts = partsOf(gate, name, values)
        const call = { ...at(name), name: name.text, angles: values, qubits, controls: gate.controls }
        this.#writer.gate(placed(parts, qubits), this.#writer.addCall(call))
      })
    }
  }

  /** The gate of a call, and its parameters. */
  #head(locals: Locals | null): { gate: KnownGate; name: Token; angles: Expression[] } {
    const name = this.#tokens.next()!
    const gate = this.#symbols.gate(name.text, name)
    if (!this.#tokens.isNext('(')) return { gate, name, angles: this.#checkParams([], gate, name, false) }
    const parenthesis = this.#tokens.next()!
    const reader = new ExpressionReader(this.#tokens, (word) => this.#inExpression(word, locals))
    const angles: Expression[] = []
    while (!this.#tokens.isNext(')')) {
      angles.push(reader.read(parenthesis))
      if (!this.#tokens.accept(',')) break
    }
    this.#tokens.expect(')', "')'", parenthesis)
    return { gate, name, angles: this.#checkParams(angles, gate, name, true) }
  }

  #checkParams(angles: Expression[], gate: KnownGate, name: Token, given: boolean): Expression[] {
    if (angles.length === gate.params) return angles
    // The server's parser itself does not count parameters that are not there at all; the gate does.
    const got = given ? String(angles.length) : '0'
    const many = `${gate.params} parameter${gate.params === 1 ? '' : 's'}`
    throw fault(`'${name.text}' takes ${many}, but got ${got}`, name)
  }

  #inExpression(name: string, locals: Locals | null): NameInExpression {
    const local = locals?.get(name)
    if (local && 'param' in local) return local
    if (local) return { fault: `'${name}' is a gate qubit, not a parameter` }
    if (this.#symbols.get(name)?.kind === 'function') return { function: name }
    return { fault: `'${name}' is not a parameter or custom instruction defined in this scope` }
  }

  #checkCount(got: number, gate: KnownGate, name: Token): void {
    if (got === gate.qubits) return
    const token = this.#tokens.peek()
    if (token === null) throw eof('the end of the argument list', name)
    if (token.text !== ';') throw needed('the end of the argument list', name)
    const many = `${gate.qubits} quantum argument${gate.qubits === 1 ? '' : 's'}`
    throw fault(`'${name.text}' takes ${many}, but got ${got}`, name)
  }

  #guarded(condition: If, word: Token, emit: () => void): void {
    if (condition === null) {
      emit()
      return
    }
    const call = this.#writer.addCall({ ...at(word), name: 'if', angles: [], qubits: [], controls: 0 })
    this.#writer.branch(condition, call, emit)
  }

  #localQubit(locals: Locals): number | null {
    const token = this.#tokens.peek()
    if (token?.kind !== 'name') return null
    this.#tokens.next()
    const local = locals.get(token.text)
    if (local && 'qubit' in local) return local.qubit
    if (local) throw fault(`'${token.text}' is a parameter, not a qubit`, token)
    const symbol = this.#symbols.get(token.text)
    const what = symbol ? `is ${descriptions[symbol.kind]}, not a qubit` : 'is not defined in this scope'
    throw fault(`'${token.text}' ${what}`, token)
  }

  #operands(): Operand[] {
    return this.#tokens.listOf(() => (this.#tokens.peek()?.kind === 'name' ? this.#bitsOf('qreg') : null))
  }

  #operand(kind: 'qreg' | 'creg', wanted: string, word: Token): Operand {
    const token = this.#tokens.peek()
    if (token === null) throw eof(wanted, word)
    if (token.kind !== 'name') throw needed(wanted, token)
    return this.#bitsOf(kind)
  }

  #bitsOf(kind: 'qreg' | 'creg'): Operand {
    const name = this.#tokens.next()!
    const symbol = this.#symbols.get(name.text)
    if (symbol === undefined) throw fault(`'${name.text}' is not defined in this scope`, name)
    if (symbol.kind !== kind) {
      throw fault(`'${name.text}' is ${descriptions[symbol.kind]}, not ${descriptions[kind]}`, name)
    }
    const { bits } = symbol as { bits: readonly number[] }
    if (!this.#tokens.isNext('[')) return { range: bits }
    const bracket = this.#tokens.next()!
    const index = this.#tokens.expectKind('integer', 'an integer index', bracket)
    this.#tokens.expect(']', 'a closing bracket', bracket)
    const bit = bits[Number(index.text)]
    if (bit === undefined) {
      const where = `out-of-range for register '${name.text}' of size ${bits.length}`
      throw fault(`index ${index.text} is ${where}`, index)
    }
    return { single: bit }
  }
}
