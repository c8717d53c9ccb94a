// Our gates as those of Qulacs, without its package.
import type { GateOperation } from '../../circuit/circuit.js'
import { type Elementary, elementary } from '../elementary.js'

export const ENGINE = 'qulacs-wasm'
export const ENGINE_VERSION = '0.0.3'

/** Its memory is 16 MiB and does not grow: it runs out of it at 18 qubits. */
export const QULACS_QUBITS_MAX = 17

/** Operations of one request: each of them takes memory of the simulator too. */
export const QULACS_OPERATIONS_MAX = 20_000

export type Step = readonly (string | number)[]

/** A gate, written out. */
export const stepsOf = (gate: GateOperation): Step[] => elementary(gate).flatMap(named)

/** Its rotations turn the other way, and its targets stand before its controls. */
function named(one: Elementary): Step[] {
  if (one.kind === 'x') return [[['x', 'cnot', 'ccnot'][one.controls.length]!, one.qubit, ...one.controls]]
  const turns: [string, number][] = [
    ['rz', one.lambda],
    ['ry', one.theta],
    ['rz', one.phi]
  ]
  return turns.flatMap(([name, angle]) => (angle === 0 ? [] : [[name, one.qubit, -angle]]))
}
