// The declarations of an OpenQASM 3 program: qubits, bits, constants, inputs and other names for them.
import type { Position } from '../../circuit/circuit.js'
import type { CircuitWriter } from '../circuit-writer.js'
import { stdgates } from '../gates/standard-gates.js'
import { CLBITS_MAX, READ_QUBITS_MAX } from '../limits.js'
import { at } from './expression-parser.js'
import { Resolver } from './resolver.js'
import type { Scopes } from './scopes.js'
import type { Expression, Statement } from './syntax.js'
import { fault } from './tokens.js'
import { decimal, integer, isNumber, typeName, type Value } from './values.js'

export type StatementOf<K extends Statement['kind']> = Extract<Statement, { kind: K }>

export interface Measured {
  qubits: readonly number[]
  clbits: readonly number[]
}

export class Declarations {
  readonly resolver: Resolver
  readonly inputs: (Position & { name: string })[] = []
  hasIncluded = false
  readonly #writer: CircuitWriter
  readonly #scopes: Scopes
  /** Integers that a switch tests. */
  readonly #switched: ReadonlySet<string>
  #addressing: 'physical' | 'virtual' | null = null
  #aliases = 0

  constructor(writer: CircuitWriter, scopes: Scopes, switched: ReadonlySet<string>) {
    this.#writer = writer
    this.#scopes = scopes
    this.#switched = switched
    this.resolver = new Resolver(scopes, (index, position) => this.#hardwareQubit(index, position))
  }

  include(statement: StatementOf<'include'>): void {
    if (statement.file !== 'stdgates.inc') throw fault('non-stdgates imports not currently supported', statement)
    for (const [name, gate] of Object.entries(stdgates)) {
      if (this.#scopes.get(name, statement) !== null) throw fault(`'${name}' is already defined.`, statement)
      this.#scopes.add(name, { type: 'gate', gate: { ...gate, isRenamed: false } }, statement)
    }
    this.hasIncluded = true
  }

  qubits(statement: StatementOf<'qubits'>): void {
    const { name, size } = statement
    const count = size === undefined ? 1 : this.#size(size, READ_QUBITS_MAX, 'qubits')
    if (this.#addressing === 'physical') {
      const message = 'Virtual qubit declared in physical addressing mode. Mixing modes not currently supported.'
      throw fault(message, statement)
    }
    this.#addressing = 'virtual'
    const qubits = this.#writer.addQubits(bitNames(name, size === undefined ? null : count), statement)
    if (size !== undefined) this.#writer.nameRegister(escaped(name), statement)
    const value: Value = size === undefined ? { type: 'qubit', qubit: qubits[0]! } : { type: 'qubits', qubits }
    this.#scopes.add(name, value, statement, true)
  }

  /** Declares bits, and returns what is measured into them. */
  bits(statement: StatementOf<'declaration'>): Measured | null {
    const { type, name, measured } = statement
    if (type.name !== 'bit') {
      if (this.#switched.has(name) && !statement.isInitialised) return null
      throw fault(`declarations of type '${type.name}' are not supported`, statement)
    }
    if (this.#scopes.kind !== 'global') throw fault('only global declarations are supported', statement)
    const isSingle = type.size === undefined
    const size = isSingle ? 1 : this.#size(type.size!, CLBITS_MAX, 'classical bits')
    const qubits = measured === undefined ? null : this.measured(measured, size, statement)
    const clbits = this.#writer.addClbits(bitNames(name, isSingle ? null : size), statement)
    this.#writer.addRegister(isSingle ? name : escaped(name), clbits, statement)
    const value: Value = isSingle ? { type: 'bit', clbit: clbits[0]! } : { type: 'bits', clbits, isRegister: true }
    this.#scopes.add(name, value, statement)
    if (qubits !== null) return { qubits, clbits }
    if (statement.isInitialised) throw fault('initialisation of classical bits is not supported', statement)
    return null
  }

  #size(size: Expression, max: number, what: string): number {
    const count = this.resolver.constantInteger(size)
    if (count < 0n) throw fault(`a register's size must not be negative (got ${count})`, size)
    if (count > BigInt(max)) throw fault(`circuit declares ${count} ${what}, at most ${max} are possible`, size)
    return Number(count)
  }

  constant(statement: StatementOf<'constant'>): void {
    const value = this.resolver.resolve(statement.value)
    if (!isNumber(value) || value.type === 'angle' || value.constant === null) {
      throw fault('only constant numbers can be declared const', statement)
    }
    const { constant } = value
    const { name: type } = statement.type
    if ((type === 'int' || type === 'uint') && typeof constant === 'bigint') {
      this.#scopes.add(statement.name, integer(constant), statement)
    } else if (type === 'float' || type === 'angle') {
      this.#scopes.add(statement.name, decimal(Number(constant)), statement)
    } else throw fault("the constant's value does not have its declared type", statement)
  }

  input(statement: StatementOf<'input'>): void {
    if (statement.isOutput) throw fault("the 'output' keyword is not supported", statement)
    const { name: type } = statement.type
    if (type !== 'float' && type !== 'angle') throw fault("only 'float' and 'angle' inputs are supported", statement)
    this.#scopes.add(statement.name, { type, constant: null, of: () => 1 }, statement, true)
    this.inputs.push({ name: statement.name, ...at(statement) })
  }

  alias(statement: StatementOf<'alias'>): void {
    const value = this.resolver.resolve(statement.value)
    if (value.type !== 'bits' && value.type !== 'qubits') {
      const message = `aliases must be of registers of either clbits or qubits, not '${typeName(value)}'`
      throw fault(message, statement)
    }
    const members = value.type === 'bits' ? value.clbits : value.qubits
    if (new Set(members).size < members.length) throw fault('an alias must not repeat a bit', statement)
    const isGlobal = this.#scopes.kind === 'global'
    const name = isGlobal ? escaped(statement.name) : `${escaped(statement.name)}_${this.#aliases++}`
    if (value.type === 'bits') this.#writer.addRegister(name, members, statement)
    else this.#writer.nameRegister(name, statement)
    this.#scopes.add(statement.name, value.type === 'bits' ? { ...value, isRegister: true } : value, statement)
  }

  measured(node: Expression, size: number, position: Position): readonly number[] {
    const measured = this.resolver.qubits(node)
    const qubits = typeof measured === 'number' ? [measured] : measured
    if (qubits.length === size) return qubits
    throw fault(`${qubits.length} qubits cannot be measured into ${size} bits`, position)
  }

  #hardwareQubit(index: number, position: Position): number {
    if (this.#addressing === 'virtual') {
      const message = 'Physical qubit referenced in virtual addressing mode. Mixing modes not currently supported.'
      throw fault(message, position)
    }
    this.#addressing = 'physical'
    const first = this.#writer.qubitNames.length
    const count = Math.min(Math.max(0, index + 1 - first), READ_QUBITS_MAX + 1)
    const names = Array.from({ length: count }, (_, place) => `$${first + place}`)
    this.#writer.addQubits(names, position)
    return index
  }
}

const bitNames = (name: string, size: number | null): string[] =>
  size === null ? [name] : Array.from({ length: size }, (_, place) => `${name}[${place}]`)

/** A register's name as the server shows it: one that begins otherwise than with a small letter is marked. */
function escaped(name: string): string {
  if (/^[a-z][A-Za-z0-9_]*$/.test(name)) return name
  const plain = name.replace(/[^\p{L}\p{N}_]/gu, '_')
  return /^[a-z]/.test(plain) ? plain : `esc_${plain}`
}
