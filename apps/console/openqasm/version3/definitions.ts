// Gate definitions of OpenQASM 3: the body is checked once, and written out for each call.
import type { CircuitWriter } from '../circuit-writer.js'
import type { Gate, Part } from '../gates/part.js'
import { placed } from '../gates/part.js'
import { OPERATIONS_MAX } from '../limits.js'
import type { PreparedCall } from './gate-calls.js'
import type { GateCall, GateDefinition } from './syntax.js'
import { fault } from './tokens.js'
import type { CallableGate } from './values.js'

/** Operations that a definition may stand for on the server: one with parameters is copied at each call. */
const SIZE_MAX = { params: 10_000, plain: 10_000_000 }

/** Values for parameters at which a definition is tried out. */
const TRIED = [0.7390851332, -1.9021605831, 2.502907875, 0.5671432904]

/** Gates whose powers scale on the server if the program defines them as they are. */
const renamed = new Set('rx ry rz p cp z s sdg t tdg cs csdg'.split(' '))

export type BodyItem = { call: PreparedCall; qubits: readonly number[] } | 'barrier'

export class Definitions {
  readonly #writer: CircuitWriter
  /** How many operations each defined gate stands for. */
  readonly #sizes = new Map<string, number>()

  constructor(writer: CircuitWriter) {
    this.#writer = writer
  }

  checkSize({ name, params, body, line, column }: GateDefinition): GateCall[] {
    const calls = body.filter((statement) => statement.kind === 'gate call')
    const size = calls.reduce((sum, call) => sum + (this.#sizes.get(call.name) ?? 1), 0)
    const max = params.length > 0 ? SIZE_MAX.params : SIZE_MAX.plain
    if (size > max) throw fault(`gate '${name}' expands to more than ${max} operations`, { line, column })
    this.#sizes.set(name, size)
    return calls
  }

  gate(definition: GateDefinition, body: readonly BodyItem[]): CallableGate {
    const { name, params, qubits } = definition
    const make = (values: readonly number[]): Gate => {
      const parts: Part[] = []
      let hasBarrier = false
      for (const item of body) {
        if (item === 'barrier') hasBarrier = true
        else {
          const made = item.call.make(values)
          this.#writer.step(definition, made.parts.length + 1)
          if (parts.length + made.parts.length > OPERATIONS_MAX) {
            throw fault(`gate '${name}' expands to more than ${OPERATIONS_MAX} operations`, definition)
          }
          for (const one of placed(made.parts, item.qubits)) parts.push(one)
          hasBarrier ||= made.hasBarrier
        }
      }
      return { qubits: qubits.length, parts, scales: false, hasBarrier }
    }
    make(params.map((_, place) => TRIED[place % TRIED.length]! + place))
    return { params: params.length, qubits: qubits.length, controls: 0, isRenamed: renamed.has(name), make }
  }
}
