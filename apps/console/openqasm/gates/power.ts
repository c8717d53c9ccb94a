// Powers of gates, as the modifier `pow` takes them.
import type { GateName } from '../../circuit/circuit.js'
import { gateMatrix, type Matrix2, principalPower, product, uAngles } from '../../circuit/matrix2.js'
import { type Gate, inverted, type Part } from './part.js'

/** Gates that are phases, whose powers the server reads as phases of a multiple of their angle. */
const phases: Partial<Record<GateName, number>> = {
  z: Math.PI,
  s: Math.PI / 2,
  sdg: -Math.PI / 2,
  t: Math.PI / 4,
  tdg: -Math.PI / 4
}

/** Why a power cannot be taken. */
export type Refused = 'several qubits' | 'too many operations'

/** The gate to a power; a fractional one is the principal power, except for gates that scale with it. */
export function power(gate: Gate, exponent: number, operationsMax: number): Gate | Refused {
  if (gate.scales) return { ...gate, parts: gate.parts.map((one) => scaled(one, exponent)) }
  const core = coreOf(gate.parts)
  if (core !== null) return { ...gate, parts: unitary(principalPower(core.matrix, exponent), core) }
  if (Number.isInteger(exponent)) {
    const once = exponent < 0 ? inverted(gate.parts) : gate.parts
    const times = Math.abs(exponent)
    if (times * once.length > operationsMax) return 'too many operations'
    return { ...gate, parts: Array.from({ length: times }, () => once).flat() }
  }
  const [only, ...others] = gate.parts
  if (only === undefined) return gate
  if (only.name === 'swap' && others.length === 0) return { ...gate, parts: swapPower(only, exponent) }
  return 'several qubits'
}

function scaled(one: Part, exponent: number): Part {
  const angle = phases[one.name]
  if (angle !== undefined) return { ...one, name: 'p', angles: [angle * exponent] }
  return { ...one, angles: one.angles.map((own) => own * exponent) }
}

interface Core {
  matrix: Matrix2
  controls: Part['controls']
  targets: Part['targets']
}

/** What the parts do to the one qubit that they all act on, under the controls that they all have. */
function coreOf(parts: readonly Part[]): Core | null {
  const [first] = parts
  if (first === undefined) return null
  const key = JSON.stringify(first.controls)
  let targets: readonly number[] = []
  let matrix = gateMatrix('id', [])
  for (const one of parts) {
    if (one.name === 'swap' || JSON.stringify(one.controls) !== key) return null
    if (one.targets.length > 0 && targets.length > 0 && one.targets[0] !== targets[0]) return null
    if (one.targets.length > 0) targets = one.targets
    matrix = product(gateMatrix(one.name, one.angles), matrix)
  }
  return { matrix, controls: first.controls, targets }
}

function unitary(matrix: Matrix2, { controls, targets }: Core): Part[] {
  if (targets.length === 0) {
    return [{ name: 'gphase', angles: [Math.atan2(matrix[1], matrix[0])], controls, targets }]
  }
  const { phase, theta, phi, lambda } = uAngles(matrix)
  const turn: Part = { name: 'u', angles: [theta, phi, lambda], controls, targets }
  return phase === 0 ? [turn] : [turn, { name: 'gphase', angles: [phase], controls, targets: [] }]
}

/** A swap is three controlled x; the power is that of the middle one. */
function swapPower(swap: Part, exponent: number): Part[] {
  const [a, b] = swap.targets as [number, number]
  const around: Part = { name: 'x', angles: [], controls: [{ qubit: a, value: 1 }], targets: [b] }
  const controls = [...swap.controls, { qubit: b, value: 1 as const }]
  const middle = { matrix: gateMatrix('x', []), controls, targets: [a] }
  return [around, ...unitary(principalPower(middle.matrix, exponent), middle), around]
}
