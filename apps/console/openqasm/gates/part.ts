// A gate as the simulators know it: a list of operations of the closed set, on the gate's own qubits 0, 1, ...
import type { Control, GateName } from '../../circuit/circuit.js'

export interface Part {
  name: GateName
  angles: readonly number[]
  controls: readonly Control[]
  targets: readonly number[]
}

export interface Gate {
  qubits: number
  parts: readonly Part[]
  /** Its powers are the same gate with its angle multiplied, also beyond a turn. */
  scales: boolean
  /** It contains a barrier, so that it cannot be controlled. */
  hasBarrier: boolean
}

const inverses: Partial<Record<GateName, GateName>> = {
  s: 'sdg',
  sdg: 's',
  t: 'tdg',
  tdg: 't',
  sx: 'sxdg',
  sxdg: 'sx'
}

/** One operation of the closed set; the controls have to be 1. */
export function part(
  name: GateName,
  angles: readonly number[],
  controls: readonly number[],
  ...targets: number[]
): Part {
  return { name, angles, controls: controls.map((qubit) => ({ qubit, value: 1 as const })), targets }
}

/** The parts on other qubits: qubit k becomes `places[k]`. */
export function placed(parts: readonly Part[], places: readonly number[]): Part[] {
  return parts.map(({ name, angles, controls, targets }) => ({
    name,
    angles,
    controls: controls.map(({ qubit, value }) => ({ qubit: places[qubit]!, value })),
    targets: targets.map((qubit) => places[qubit]!)
  }))
}

export function inverse(gate: Gate): Gate {
  return { ...gate, parts: inverted(gate.parts) }
}

/** Undoes the parts. */
export function inverted(parts: readonly Part[]): Part[] {
  return [...parts].reverse().map((one) => {
    if (one.name === 'u') {
      const [theta, phi, lambda] = one.angles as [number, number, number]
      return { ...one, angles: [-theta, -lambda, -phi] }
    }
    return { ...one, name: inverses[one.name] ?? one.name, angles: one.angles.map((angle) => -angle) }
  })
}

/** The gate under `count` further controls, which become its first qubits. */
export function controlled(gate: Gate, count: number, value: 0 | 1): Gate {
  const added = Array.from({ length: count }, (_, qubit): Control => ({ qubit, value }))
  const places = Array.from({ length: gate.qubits }, (_, qubit) => qubit + count)
  const parts = placed(gate.parts, places).map((one) => ({ ...one, controls: [...added, ...one.controls] }))
  const [only] = gate.parts
  // The server scales these under one control, and takes the principal power of every other controlled gate.
  const scales = gate.scales && count === 1 && only?.controls.length === 0 && ['p', 's', 'sdg'].includes(only.name)
  return { ...gate, qubits: gate.qubits + count, parts, scales }
}
