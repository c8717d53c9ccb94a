// Gate definitions of OpenQASM 2: the body is read once and written out for each call.
import type { CircuitWriter } from '../circuit-writer.js'
import { type Part, placed } from '../gates/part.js'
import { type Expression, evaluated } from './expressions.js'
import type { KnownGate } from './symbols.js'
import { fault, type Token } from './tokens.js'

export interface BodyCall {
  gate: KnownGate
  name: Token
  angles: readonly Expression[]
  qubits: readonly number[]
}

export function definedGate(
  writer: CircuitWriter,
  params: number,
  qubits: number,
  body: readonly BodyCall[]
): KnownGate {
  const make = (values: readonly number[]) => {
    const parts: Part[] = []
    for (const call of body) {
      const angles = call.angles.map((angle) => evaluated(angle, values))
      const made = partsOf(call.gate, call.name, angles)
      writer.step(call.name, made.length + 1)
      parts.push(...placed(made, call.qubits))
    }
    return { qubits, parts, scales: false, hasBarrier: false }
  }
  return { params, qubits, controls: 0, make }
}

/** The parts of a call. */
export function partsOf(gate: KnownGate, name: Token, angles: readonly number[]): readonly Part[] {
  if (gate.make === null) {
    throw fault(`operation '${name.text}' cannot be simulated: it is opaque, so it has no definition`, name)
  }
  if (name.text === 'u0' && !Number.isInteger(angles[0])) {
    throw fault('the number of single-qubit delay lengths must be an integer', name)
  }
  return gate.make(angles).parts
}
