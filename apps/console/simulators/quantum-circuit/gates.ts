// Our gates as those of the package `quantum-circuit`, without the package itself, which is large.
import type { GateOperation } from '../../circuit/circuit.js'
import { elementary } from '../elementary.js'

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

export interface PlacedGate {
  name: string
  params: Record<string, string>
  wires: number[]
}

/** A gate under its own name where the simulator has it, or else written out. */
export function placedGates(gate: GateOperation): PlacedGate[] {
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
}
