// The package `quantum-circuit`, which the public specification names. It is fed gate by gate and never sees a text: of
// a program it leaves out what it does not know, and runs on after errors.
import QuantumCircuit from 'quantum-circuit'
import type { Circuit } from '../../circuit/circuit.js'
import { gatesOf, resultOf, reversed } from '../at-end.js'
import type { OnProgress, Simulation } from '../simulation.js'
import { estimate } from './estimate.js'
import { ENGINE, ENGINE_VERSION, type PlacedGate, placedGates } from './gates.js'

export async function simulate(
  circuit: Circuit,
  shots: number,
  seed: number,
  onProgress: OnProgress
): Promise<Simulation> {
  const began = performance.now()
  // Refuses what would take too long.
  estimate(circuit, shots)
  const { gates, atEnd } = gatesOf(circuit, ENGINE)
  const engine = new QuantumCircuit(circuit.qubits)
  const placed = gates.flatMap(placedGates)
  for (const [column, gate] of placed.entries()) add(engine, column, gate)
  onProgress(0)
  engine.run(null, { onColumn: (column) => onProgress((column + 1) / placed.length) })
  onProgress(1)
  const size = 2 ** circuit.qubits
  const state = { re: new Float64Array(size), im: new Float64Array(size) }
  // Its index has qubit 0 as the lowest bit.
  for (const [index, { re, im }] of Object.entries(engine.state)) {
    const place = reversed(Number(index), circuit.qubits)
    state.re[place] = re
    state.im[place] = im
  }
  return resultOf(circuit, state, atEnd, {
    shots,
    seed,
    engine: ENGINE,
    version: ENGINE_VERSION,
    began,
    hasPhase: false
  })
}

/** A column for each gate, so that they keep their order. */
function add(engine: QuantumCircuit, column: number, { name, params, wires }: PlacedGate): void {
  engine.addGate(name, column, wires, { params })
}
