// Reads a program in OpenQASM 3: parses it as a whole, then follows its statements.
import type { Circuit, Condition, Position } from '../../circuit/circuit.js'
import { bitIs, equals } from '../../circuit/conditions.js'
import { CircuitWriter } from '../circuit-writer.js'
import { placed } from '../gates/part.js'
import { loopValues, mentions, switchBits, switchedIntegers } from './control-flow.js'
import { Declarations, type Measured, type StatementOf } from './declarations.js'
import { type BodyItem, Definitions } from './definitions.js'
import { at } from './expression-parser.js'
import { checkQubits, GateCalls } from './gate-calls.js'
import { Parser } from './parser.js'
import type { Resolver } from './resolver.js'
import { RuntimeConditions } from './runtime-conditions.js'
import { Scopes } from './scopes.js'
import type { Expression, ForLoop, GateCall, GateDefinition, Statement, Switch } from './syntax.js'
import { fault } from './tokens.js'
import { integer } from './values.js'

export function readVersion3(text: string): Circuit {
  const parser = new Parser(text)
  return new Program3(parser.program()).read(parser.end)
}

class Program3 {
  readonly #statements: Statement[]
  readonly #writer = new CircuitWriter()
  readonly #scopes = new Scopes()
  readonly #declarations: Declarations
  readonly #resolver: Resolver
  readonly #conditions: RuntimeConditions
  readonly #calls: GateCalls
  readonly #definitions = new Definitions(this.#writer)
  /** The body of the gate that is being defined. */
  #body: BodyItem[] | null = null
  /** Integers that a switch tests, and the one that the statement before assigned. */
  readonly #switched: ReadonlySet<string>
  #before: { name: string; value: Expression } | null = null
  #assigned: { name: string; value: Expression } | null = null

  constructor(statements: Statement[]) {
    this.#statements = statements
    this.#switched = switchedIntegers(statements)
    this.#declarations = new Declarations(this.#writer, this.#scopes, this.#switched)
    this.#resolver = this.#declarations.resolver
    this.#conditions = new RuntimeConditions(this.#resolver)
    this.#calls = new GateCalls(this.#scopes, this.#declarations)
  }

  read(end: Position): Circuit {
    this.#follow(this.#statements)
    const [input] = this.#declarations.inputs
    if (input) {
      const names = this.#declarations.inputs.map(({ name }) => name).sort()
      const message = `unbound parameters: ${names.slice(0, 5).join(', ')}; run the program on the server, with params`
      throw fault(message, input)
    }
    return this.#writer.finish('openqasm3', end)
  }

  #follow(statements: readonly Statement[]): void {
    for (const statement of statements) {
      this.#writer.step(statement)
      ;[this.#before, this.#assigned] = [this.#assigned, null]
      this.#statement(statement)
    }
  }

  #statement(statement: Statement): void {
    switch (statement.kind) {
      case 'include':
        this.#declarations.include(statement)
        return
      case 'qubits':
        this.#declarations.qubits(statement)
        return
      case 'declaration':
        this.#declare(statement)
        return
      case 'constant':
        this.#declarations.constant(statement)
        return
      case 'input':
        this.#declarations.input(statement)
        return
      case 'alias':
        this.#declarations.alias(statement)
        return
      case 'gate definition':
        this.#define(statement)
        return
      case 'gate call':
        this.#call(statement)
        return
      case 'measure':
        this.#measure(statement)
        return
      case 'assignment':
        this.#assign(statement)
        return
      case 'reset': {
        const operand = this.#resolver.qubits(statement.operand)
        for (const qubit of typeof operand === 'number' ? [operand] : operand) {
          this.#writer.reset(qubit, this.#drawn('reset', [qubit], statement))
        }
        return
      }
      case 'barrier':
        this.#barrier(statement)
        return
      case 'if': {
        const condition = this.#conditions.read(statement.condition)
        this.#branch(condition, statement, statement.held, () => this.#local(statement.otherwise))
        return
      }
      case 'switch':
        this.#switch(statement)
        return
      case 'for':
        this.#for(statement)
        return
      case 'leave':
        throw fault(`'${statement.what}' is not available here; run the program on the server`, statement)
      case 'refused':
        throw fault(`${statement.what} is not supported`, statement)
    }
  }

  #declare(statement: StatementOf<'declaration'>): void {
    const measured = this.#declarations.bits(statement)
    if (measured !== null) this.#emitMeasures(measured, statement)
  }

  #define(definition: GateDefinition): void {
    const calls = this.#definitions.checkSize(definition)
    const body: BodyItem[] = []
    this.#scopes.within('gate', () => {
      for (const [place, name] of definition.params.entries()) {
        this.#scopes.add(name, { type: 'angle', constant: null, of: (params) => params[place]! }, definition)
      }
      for (const [qubit, name] of definition.qubits.entries()) {
        this.#scopes.add(name, { type: 'qubit', qubit }, definition)
      }
      this.#body = body
      this.#follow(definition.body)
      this.#body = null
    })
    this.#calls.define(definition.name, calls)
    if (this.#scopes.get(definition.name, definition) !== null) {
      throw fault(`'${definition.name}' is already defined.`, definition)
    }
    const gate = this.#definitions.gate(definition, body)
    this.#scopes.add(definition.name, { type: 'gate', gate }, definition, true)
  }

  #call(statement: GateCall): void {
    const prepared = this.#calls.prepare(statement)
    const each = this.#calls.operands(statement)
    for (const qubits of each) checkQubits(prepared, qubits, statement)
    if (this.#body !== null) {
      this.#body.push(...each.map((qubits) => ({ call: prepared, qubits })))
      return
    }
    const { name, controls } = prepared
    const { parts } = prepared.make([])
    const angles = prepared.angles.map(({ of }) => of([]))
    for (const qubits of each) {
      const call = this.#writer.addCall({ name, angles, qubits, controls, ...at(statement) })
      this.#writer.gate(placed(parts, qubits), call)
    }
  }

  #measure(statement: StatementOf<'measure'>): void {
    if (statement.target === undefined) throw fault('measurements must save their result in Qiskit', statement)
    const clbits = this.#resolver.clbits(statement.target)
    const qubits = this.#declarations.measured(statement.measured, clbits.length, statement)
    this.#emitMeasures({ qubits, clbits }, statement)
  }

  #emitMeasures({ qubits, clbits }: Measured, position: Position): void {
    for (const [place, qubit] of qubits.entries()) {
      this.#writer.measure(qubit, clbits[place]!, this.#drawn('measure', [qubit], position))
    }
  }

  /** `int x; x = c; switch (x) { ... }`, as Qiskit's exporter writes a switch over bits. */
  #assign(statement: StatementOf<'assignment'>): void {
    const name = statement.target.kind === 'name' ? statement.target.name : null
    if (name === null || !this.#switched.has(name) || statement.operator !== '=') {
      throw fault('an assignment to a classical variable is not supported', statement)
    }
    this.#assigned = { name, value: statement.value }
  }

  #barrier(statement: StatementOf<'barrier'>): void {
    const named = [...new Set(statement.operands.flatMap((operand) => this.#resolver.qubits(operand)))]
    if (this.#body !== null) {
      this.#body.push('barrier')
      return
    }
    const qubits = statement.operands.length > 0 ? named : this.#writer.qubitNames.map((_, qubit) => qubit)
    if (qubits.length > 0) this.#writer.barrier(qubits, this.#drawn('barrier', qubits, statement))
  }

  #branch(condition: Condition, position: Position, held: readonly Statement[], otherwise: () => void): void {
    if (this.#body !== null) throw fault('a gate has no classical control', position)
    const call = this.#drawn('if', [], position)
    this.#writer.branch(condition, call, () => this.#local(held), otherwise)
  }

  #local(statements: readonly Statement[]): void {
    this.#scopes.within('local', () => this.#follow(statements))
  }

  #switch(statement: Switch): void {
    let { target } = statement
    if (target.kind === 'name' && this.#switched.has(target.name)) {
      if (this.#before?.name !== target.name) {
        throw fault(`'${target.name}' in switch has to be assigned in the statement before it`, statement)
      }
      target = this.#before.value
    }
    const tested = switchBits(target, this.#resolver)
    const seen = new Set<bigint>()
    const branches = statement.cases.map(({ values, body }) => {
      const parts = values.map((value) => {
        const number = this.#resolver.constantInteger(value)
        const label = tested.isBit && number !== 0n ? 1n : number
        if (seen.has(label)) throw fault(`duplicate case value ${label}`, value)
        if (label < 0n || label >> BigInt(tested.clbits.length) > 0n) {
          throw fault(`the switch has ${tested.clbits.length} bit(s), but case ${label} needs more`, value)
        }
        seen.add(label)
        return tested.isBit ? bitIs(tested.clbits[0]!, label === 1n) : equals(tested.clbits, label)
      })
      return { condition: { kind: 'or', parts } as Condition, body }
    })
    if (branches.length === 0 && statement.otherwise === null)
      throw fault('must have at least one case to run', statement)
    // Each case is the opposite of those before it, so that what a block writes cannot select a second one.
    const last = (): void => this.#local(statement.otherwise ?? [])
    const chain = branches.reduceRight<() => void>(
      (rest, { condition, body }) =>
        () =>
          this.#branch(condition, statement, body, rest),
      last
    )
    chain()
  }

  #for(loop: ForLoop): void {
    if (loop.type.name !== 'int' && loop.type.name !== 'uint') {
      throw fault('only integer loop variables are supported', loop)
    }
    const values = loopValues(loop, this.#resolver)
    if (values.length === 0 && !mentions(loop.body, loop.variable)) {
      throw fault('a loop without a turn is not available here', loop)
    }
    for (const value of values) {
      this.#scopes.within('local', () => {
        this.#scopes.add(loop.variable, integer(value), loop)
        this.#follow(loop.body)
      })
    }
  }

  #drawn(name: string, qubits: readonly number[], position: Position): number {
    return this.#writer.addCall({ name, angles: [], qubits, controls: 0, ...at(position) })
  }
}
