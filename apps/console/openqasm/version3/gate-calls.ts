// Gate calls of OpenQASM 3 with their modifiers, made ready for any values of the parameters around them.
import type { Position } from '../../circuit/circuit.js'
import { tooLong } from '../circuit-writer.js'
import { controlled, type Gate, inverse } from '../gates/part.js'
import { power } from '../gates/power.js'
import { OPERATIONS_MAX, READ_QUBITS_MAX } from '../limits.js'
import type { Declarations } from './declarations.js'
import type { Resolver } from './resolver.js'
import type { Scopes } from './scopes.js'
import type { Expression, GateCall, Modifier } from './syntax.js'
import { fault } from './tokens.js'
import { type CallableGate, type NumberValue, typeName } from './values.js'

/** A call as it is drawn, and what it does for values of the parameters of the gate that it stands in. */
export interface PreparedCall {
  name: string
  qubits: number
  controls: number
  angles: readonly NumberValue[]
  make: (params: readonly number[]) => Gate
}

const NO_INCLUDE = (name: string): string =>
  `gate '${name}' is not defined, because the program includes no gates: write include "stdgates.inc"; after the ` +
  "version line; a program in Amazon Braket's dialect (cnot, #pragma braket) needs the framework marqov"

export class GateCalls {
  readonly #scopes: Scopes
  readonly #resolver: Resolver
  /** Gates whose phase readers interpret differently, and those that the program builds on them. */
  readonly #phaseUnclear = new Set(['U', 'u2', 'u3'])
  readonly #declarations: Declarations

  constructor(scopes: Scopes, declarations: Declarations) {
    this.#scopes = scopes
    this.#declarations = declarations
    this.#resolver = declarations.resolver
  }

  /** Notes that a defined gate calls others. */
  define(name: string, calls: readonly GateCall[]): void {
    const unclear = calls.some((call) => {
      if (!this.#phaseUnclear.has(call.name)) return false
      const [first] = call.args
      const isZero =
        first !== undefined && (first.kind === 'integer' || first.kind === 'float') && Number(first.value) === 0
      return !(call.name === 'U' && isZero)
    })
    if (unclear) this.#phaseUnclear.add(name)
  }

  prepare(call: GateCall): PreparedCall {
    const gate = call.name === 'gphase' ? phaseGate : this.#gate(call)
    const angles = call.args.map((argument) => this.#resolver.angle(argument))
    const steps = this.#merged(call.modifiers).map((modifier) => this.#step(modifier, gate, call))
    // The innermost modifier acts first.
    steps.reverse()
    const qubits = steps.reduce((sum, { added }) => sum + added, gate.qubits)
    const negated = call.modifiers.some(({ kind }) => kind === 'negctrl')
    const make = (params: readonly number[]): Gate => {
      const plain = gate.make(angles.map(({ of }) => of(params)))
      return steps.reduce((made, { apply }) => apply(made), plain)
    }
    return {
      name: [...call.modifiers.map(textOf), call.name].join(' @ '),
      qubits,
      // A dot means a control that is 1.
      controls: negated ? 0 : qubits - gate.qubits + gate.controls,
      angles,
      make
    }
  }

  /** The qubits of each gate that a call on whole registers stands for. */
  operands(call: GateCall): number[][] {
    const operands = call.operands.map((operand) => this.#resolver.qubits(operand))
    const lengths = operands.flatMap((operand) => (typeof operand === 'number' ? [] : [operand.length]))
    const longest = Math.max(lengths.length < operands.length || operands.length === 0 ? 1 : 0, ...lengths)
    if (lengths.some((length) => length !== longest)) throw fault('mismatched lengths in gate broadcast', call)
    return Array.from({ length: longest }, (_, turn) =>
      operands.map((operand) => (typeof operand === 'number' ? operand : operand[turn]!))
    )
  }

  #gate(call: GateCall): CallableGate {
    if (this.#phaseUnclear.has(call.name) && call.modifiers.some(showsPhase)) {
      throw fault(
        `'${call.name}' with ctrl, negctrl or a fractional pow: the phase of the built-in U, of u2 and of u3, on which ` +
          'this gate rests, is not read alike everywhere, and the modifier makes it visible; build on the other gates ' +
          'of "stdgates.inc" (x, ry, p, cu, ...) instead',
        call
      )
    }
    const found = this.#scopes.get(call.name, call)
    if (found === null) {
      throw fault(this.#declarations.hasIncluded ? `gate '${call.name}' is not defined.` : NO_INCLUDE(call.name), call)
    }
    if (call.hasDuration) throw fault('gates with durations are not supported.', call)
    if (found.type !== 'gate') throw fault(`'${call.name}' is a '${typeName(found)}', not a gate.`, call)
    if (found.gate.params !== call.args.length) {
      const message = `gate '${call.name}' takes ${found.gate.params} parameters (got ${call.args.length})`
      throw fault(message, call)
    }
    return found.gate
  }

  /** Neighbouring controls as one. */
  #merged(modifiers: readonly Modifier[]): { modifier: Modifier; count: number }[] {
    const merged: { modifier: Modifier; count: number }[] = []
    for (const modifier of modifiers) {
      const { kind, argument } = modifier
      let count = 0
      if (kind === 'ctrl' || kind === 'negctrl') {
        count = argument === undefined ? 1 : Number(this.#resolver.constantInteger(argument))
        const before = merged.at(-1)
        if (before?.modifier.kind === kind) count += merged.pop()!.count
        if (count > READ_QUBITS_MAX)
          throw fault(`a gate with ${count} controls is wider than any circuit here`, modifier)
        if (count < 1) throw fault(`a gate needs at least one control (got ${count})`, modifier)
      }
      merged.push({ modifier, count })
    }
    return merged
  }

  #step({ modifier, count }: { modifier: Modifier; count: number }, base: CallableGate, call: GateCall) {
    switch (modifier.kind) {
      case 'inv':
        return { added: 0, apply: inverse }
      case 'pow':
        return { added: 0, apply: this.#power(modifier, base, call) }
      default: {
        const value = modifier.kind === 'ctrl' ? 1 : 0
        const apply = (gate: Gate): Gate => {
          if (gate.hasBarrier) throw fault('a gate with a barrier inside cannot be controlled', modifier)
          return controlled(gate, count, value)
        }
        return { added: count, apply }
      }
    }
  }

  #power(modifier: Modifier, base: CallableGate, call: GateCall): (gate: Gate) => Gate {
    const exponent = this.#resolver.constantNumber(modifier.argument!)
    if (base.isRenamed && !Number.isInteger(exponent)) {
      const message = `a fractional pow of '${call.name}' is not available here, because the program defines it itself`
      throw fault(message, modifier)
    }
    return (gate) => {
      const found = power(gate, exponent, OPERATIONS_MAX)
      if (found === 'too many operations') throw tooLong(modifier)
      if (found === 'several qubits') {
        const message = `a fractional pow of '${call.name}', which acts on several qubits, is not available here`
        throw fault(`${message}; run it on the server`, modifier)
      }
      return found
    }
  }
}

const phaseGate: CallableGate = {
  params: 1,
  qubits: 0,
  controls: 0,
  isRenamed: false,
  make: (angles) => ({
    qubits: 0,
    parts: [{ name: 'gphase', angles, controls: [], targets: [] }],
    scales: false,
    hasBarrier: false
  })
}

/** Whether a modifier makes the global phase of its gate visible. */
function showsPhase({ kind, argument }: Modifier): boolean {
  if (kind !== 'pow') return kind !== 'inv'
  let exponent: Expression | undefined = argument
  while (exponent?.kind === 'unary') exponent = exponent.operand
  return exponent?.kind !== 'integer'
}

function textOf({ kind, argument }: Modifier): string {
  if (argument === undefined) return kind
  const { kind: form } = argument
  return form === 'integer' || form === 'float' ? `${kind}(${argument.value})` : `${kind}(...)`
}

/** Checks the qubits of one gate. */
export function checkQubits(prepared: PreparedCall, qubits: readonly number[], position: Position): void {
  if (qubits.length !== prepared.qubits) {
    throw fault(`gate '${prepared.name}' takes ${prepared.qubits} qubits (got ${qubits.length})`, position)
  }
  if (new Set(qubits).size < qubits.length) throw fault('duplicate qubit arguments', position)
}
