// Runs the operations of a circuit. Qubits that no operation touches stay zero and cost nothing.
import { draw, seededRandom } from './random.js'
import { type Matrix, type Pauli, QUBITS_MAX, StateVector } from './state-vector.js'

export type Effect =
  | { matrix: Matrix }
  /** exp(-i angle P) */
  | { paulis: readonly Pauli[]; angle: number }

export type Operation = { targets: readonly number[]; controls: readonly number[] } & Effect

/** Gates times amplitudes: about ten seconds, in which the emulator does not respond. */
const workMax = 2 ** 30

/** Why a circuit is too large for this simulator; null if it is not. */
export function tooLarge(operations: readonly Operation[]): { reason: 'qubits' | 'work'; message: string } | null {
  const { length } = touchedBy(operations)
  if (length > QUBITS_MAX)
    return {
      reason: 'qubits',
      message: `The circuit acts on ${length} qubits; this emulator simulates at most ${QUBITS_MAX}.`
    }
  if (operations.length * 2 ** length > workMax)
    return {
      reason: 'work',
      message: `${operations.length} gates on ${length} qubits are more than this emulator simulates.`
    }
  return null
}

/** The qubits that can be other than zero, ascending. */
export const touchedBy = (operations: readonly Operation[]): number[] =>
  [...new Set(operations.flatMap(({ targets, controls }) => [...targets, ...controls]))].sort((a, b) => a - b)

/** The probability of every index; bit k of an index is the k-th touched qubit. */
export function weightsOf(operations: readonly Operation[], touched: readonly number[]): Float64Array {
  const place = new Map(touched.map((qubit, index) => [qubit, index]))
  const state = new StateVector(touched.length)
  for (const operation of operations) applyTo(state, operation, (qubit) => place.get(qubit)!)
  return state.probabilities()
}

export function applyTo(state: StateVector, operation: Operation, place: (qubit: number) => number): void {
  const targets = operation.targets.map(place)
  const controls = operation.controls.map(place)
  if ('matrix' in operation) state.apply(operation.matrix, targets, controls)
  else state.rotate(operation.paulis, operation.angle, targets, controls)
}

/** Noise draws from numbers of its own, so that the shots that it spares stay as they were. */
const NOISE_SEED = 0x9e3779b9

/**
 * The outcome of every shot. The same seed draws the same outcomes.
 * @param noise how likely a shot returns any outcome instead of its own.
 */
export function drawNoisy<Outcome>(
  weights: ArrayLike<number>,
  shots: number,
  { seed, noise }: { seed: number; noise: number },
  outcomes: { of: (index: number) => Outcome; any: (random: () => number) => Outcome }
): Outcome[] {
  return withNoise(draw(weights, shots, seededRandom(seed)).map(outcomes.of), { seed, noise }, outcomes.any)
}

/** Replaces a share of the outcomes by any outcome. */
export function withNoise<Outcome>(
  drawn: Outcome[],
  { seed, noise }: { seed: number; noise: number },
  any: (random: () => number) => Outcome
): Outcome[] {
  if (noise === 0) return drawn
  const random = seededRandom(seed ^ NOISE_SEED)
  return drawn.map((outcome) => (random() < noise ? any(random) : outcome))
}
