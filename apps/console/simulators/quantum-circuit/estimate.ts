// What a run on quantum-circuit takes, by what was measured (docs/console/browser-simulators.md). It multiplies amplitude by
// amplitude, and holds those alone that are not 0.
import type { Circuit, GateOperation } from '../../circuit/circuit.js'
import { gatesOf } from '../at-end.js'
import { SECONDS_MAX, SLOWER_MACHINE } from '../limits.js'
import { checkRun, type RunEstimate, SimulationRefused } from '../simulation.js'
import { ENGINE, type PlacedGate, placedGates, QUANTUM_CIRCUIT_QUBITS_MAX } from './gates.js'

/** Seconds, as measured. */
const GATE = 1e-4
const PARAMETER = 2e-4
const AMPLITUDE_LOOKED_UP = 5e-8
const AMPLITUDE_ADDED = 2.5e-7
const AMPLITUDE_MULTIPLIED = 1e-6

/** Of an amplitude: in the state before a gate and in the one after it, as objects, and as two numbers at the end. */
const AMPLITUDE_BYTES = 2 * 150 + 16 + 8

/** Gates that move amplitudes and change none. */
const moving = new Set(['id', 'x', 'cx', 'ccx', 'swap', 'cswap'])
/** Gates that give each amplitude a factor. */
const diagonal = new Set(['z', 's', 'sdg', 't', 'tdg', 'rz', 'u1', 'cz', 'crz', 'cu1', 'y', 'cy'])

/** An upper bound of time and memory. Throws SimulationRefused for a run that is not started. */
export function estimate(circuit: Circuit, shots: number): RunEstimate {
  checkRun(circuit, shots)
  if (circuit.qubits > QUANTUM_CIRCUIT_QUBITS_MAX) {
    throw new SimulationRefused(
      `circuit needs ${circuit.qubits} qubits, quantum-circuit takes up to ${QUANTUM_CIRCUIT_QUBITS_MAX} here: more take ` +
        'hours; use the default simulator'
    )
  }
  const { seconds, amplitudes } = workOf(circuit.qubits, gatesOf(circuit, ENGINE).gates)
  if (seconds > SECONDS_MAX) {
    throw new SimulationRefused(
      `the run would take more than ${SECONDS_MAX / 60} minutes on quantum-circuit here; use the default simulator`
    )
  }
  return { seconds, bytes: amplitudes * AMPLITUDE_BYTES }
}

/** Seconds, and the most amplitudes that are not 0. Once it is too long, the rest of the gates is left out. */
export function workOf(qubits: number, gates: readonly GateOperation[]): { seconds: number; amplitudes: number } {
  const size = 2 ** qubits
  let [seconds, amplitudes] = [0, 1]
  for (const gate of gates) {
    for (const placed of placedGates(gate)) {
      if (!moving.has(placed.name) && !diagonal.has(placed.name)) amplitudes = Math.min(size, 2 * amplitudes)
      seconds += SLOWER_MACHINE * secondsOf(placed, size, amplitudes)
    }
    if (seconds > SECONDS_MAX) break
  }
  return { seconds, amplitudes }
}

function secondsOf({ name, params, wires }: PlacedGate, size: number, amplitudes: number): number {
  const fixed = GATE + Object.keys(params).length * PARAMETER
  // The elements of its matrix that are not 0, in each row: those of the rows where it acts, and a 1 in the others.
  const acting = moving.has(name) ? 0 : 2 ** (1 - wires.length)
  const multiplied = acting * (diagonal.has(name) ? 1 : 2)
  const added = 1 - acting
  const lookedUp = size * (multiplied + added) * AMPLITUDE_LOOKED_UP
  return fixed + lookedUp + amplitudes * (multiplied * AMPLITUDE_MULTIPLIED + added * AMPLITUDE_ADDED)
}
