// The package `quantum-circuit`, which the public specification names. It is fed gate by gate and never sees a text: of
// a program it leaves out what it does not know, and runs on after errors.
import QuantumCircuit from 'quantum-circuit'
import type { Circuit, GateOperation } from '../../circuit/circuit.js'
import { gatesOf, resultOf, reversed } from '../at-end.js'
import { elementary } from '../elementary.js'
import { checkRun, type OnProgress, type Simulation, SimulationRefused } from '../simulation.js'

export const ENGINE = 'quantum-circuit'
export const ENGINE_VERSION = '0.9.250'

/** A run is quadratic in practice: 16 qubits take minutes, more take hours. */
export const QUANTUM_CIRCUIT_QUBITS_MAX = 16

/** Its names for our gates, by the number of controls, and those of their parameters. */
const names: Record<string, readonly [name: string, ...params: string[]]> = {
  'id 0': ['id'],
  'x 0': ['x'],
  'y 0': ['y'],
  'z 0': ['z'],
  'h 0': ['h'],
  's 0': ['s'],
  'sdg 0': ['sdg'],
  't 0': ['t'],
  'tdg 0': ['tdg'],
  'sx 0': ['srn'],
  'sxdg 0': ['srndg'],
  'rx 0': ['rx', 'theta'],
  'ry 0': ['ry', 'theta'],
  'rz 0': ['rz', 'phi'],
  'p 0': ['u1', 'lambda'],
  'u 0': ['u3', 'theta', 'phi', 'lambda'],
  'x 1': ['cx'],
  'y 1': ['cy'],
  'z 1': ['cz'],
  'h 1': ['ch'],
  'rx 1': ['crx', 'theta'],
  'ry 1': ['cry', 'theta'],
  'rz 1': ['crz', 'phi'],
  'p 1': ['cu1', 'lambda'],
  'u 1': ['cu3', 'theta', 'phi', 'lambda'],
  'swap 0': ['swap'],
  'x 2': ['ccx'],
  'swap 1': ['cswap']
}

export async function simulate(
  circuit: Circuit,
  shots: number,
  seed: number,
  onProgress: OnProgress
): Promise<Simulation> {
  const began = performance.now()
  checkRun(circuit, shots)
  if (circuit.qubits > QUANTUM_CIRCUIT_QUBITS_MAX) {
    throw new SimulationRefused(
      `circuit needs ${circuit.qubits} qubits, quantum-circuit takes up to ${QUANTUM_CIRCUIT_QUBITS_MAX} here: more take ` +
        'hours; use the default simulator'
    )
  }
  const { gates, atEnd } = gatesOf(circuit, ENGINE)
  const engine = new QuantumCircuit(circuit.qubits)
  for (const [column, gate] of placedGates(gates).entries()) add(engine, column, gate)
  onProgress(0)
  engine.run()
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

interface PlacedGate {
  name: string
  params: Record<string, string>
  wires: number[]
}

/** Each gate under its own name where the simulator has it, or else written out. */
function placedGates(gates: readonly GateOperation[]): PlacedGate[] {
  return gates.flatMap((gate): PlacedGate[] => {
    const { name, angles, controls, targets } = gate
    const known = names[`${name} ${controls.length}`]
    if (known !== undefined && controls.every(({ value }) => value === 1)) {
      const [own, ...params] = known
      const values = params.map((param, place): [string, string] => [param, String(angles[place])])
      return [
        { name: own, params: Object.fromEntries(values), wires: [...controls.map(({ qubit }) => qubit), ...targets] }
      ]
    }
    return elementary(gate).map((one): PlacedGate => {
      if (one.kind === 'x') {
        return { name: ['x', 'cx', 'ccx'][one.controls.length]!, params: {}, wires: [...one.controls, one.qubit] }
      }
      const [theta, phi, lambda] = [one.theta, one.phi, one.lambda].map(String) as [string, string, string]
      return { name: 'u3', params: { theta, phi, lambda }, wires: [one.qubit] }
    })
  })
}

/** A column for each gate, so that they keep their order. */
function add(engine: QuantumCircuit, column: number, { name, params, wires }: PlacedGate): void {
  engine.addGate(name, column, wires, { params })
}
