// Runs a program and returns IonQ's measurements: outcomes as whole numbers, with qubit k as bit k.
import { draw, seededRandom } from '../simulator/random.js'
import { QUBITS_MAX, StateVector } from '../simulator/state-vector.js'
import type { Operation, Program } from './circuit.js'
import { JobFailure } from './failure.js'

/** Gates times amplitudes: about ten seconds, in which the emulator does not respond. */
const workMax = 2 ** 30
/** Smaller probabilities are rounding errors. */
const negligible = 1e-12

/** The possible outcomes, in ascending order. */
export interface Distribution {
  outcomes: number[]
  probabilities: number[]
  /** The qubits that can be other than zero. */
  touched: readonly number[]
}

/** @throws JobFailure if the program is too large for this emulator. */
export function assertRunnable({ operations }: Program): void {
  const { length } = touchedBy(operations)
  if (length > QUBITS_MAX)
    throw new JobFailure(
      'SimulationError',
      `The circuit acts on ${length} qubits; this emulator simulates at most ${QUBITS_MAX}.`
    )
  if (operations.length * 2 ** length > workMax)
    throw new JobFailure(
      'SimulationTimeout',
      `${operations.length} gates on ${length} qubits are more than this emulator simulates.`
    )
}

/** The exact distribution of a runnable program. Qubits that no gate touches stay zero and cost nothing. */
export function runExactly({ operations }: Program): Distribution {
  const touched = touchedBy(operations)
  const place = new Map(touched.map((qubit, index) => [qubit, index]))
  const state = new StateVector(touched.length)
  for (const operation of operations) applyTo(state, operation, (qubit) => place.get(qubit)!)
  const found: Distribution = { outcomes: [], probabilities: [], touched }
  state.probabilities().forEach((probability, index) => {
    if (probability <= negligible) return
    // Not with <<, which is limited to 32 bits.
    found.outcomes.push(touched.reduce((sum, qubit, bit) => ((index >> bit) & 1 ? sum + 2 ** qubit : sum), 0))
    found.probabilities.push(probability)
  })
  return found
}

const touchedBy = (operations: readonly Operation[]): number[] =>
  [...new Set(operations.flatMap(({ targets, controls }) => [...targets, ...controls]))].sort((a, b) => a - b)

function applyTo(state: StateVector, operation: Operation, place: (qubit: number) => number): void {
  const targets = operation.targets.map(place)
  const controls = operation.controls.map(place)
  if ('matrix' in operation) state.apply(operation.matrix, targets, controls)
  else state.rotate(operation.paulis, operation.angle, targets, controls)
}

/**
 * The outcome of every shot; the same seed draws the same outcomes.
 * @param noise how likely a shot returns any outcome of the touched qubits instead of its own.
 */
export function drawShots(
  { outcomes, probabilities, touched }: Distribution,
  shots: number,
  { seed, noise }: { seed: number; noise: number }
): number[] {
  const drawn = draw(probabilities, shots, seededRandom(seed)).map((index) => outcomes[index]!)
  if (noise === 0) return drawn
  const random = seededRandom(seed ^ NOISE_SEED)
  const anyOutcome = () => touched.reduce((sum, qubit) => (random() < 0.5 ? sum + 2 ** qubit : sum), 0)
  return drawn.map((outcome) => (random() < noise ? anyOutcome() : outcome))
}

/** Noise draws from numbers of its own, so that the shots that it spares stay as they were. */
const NOISE_SEED = 0x9e3779b9

/** The counts of the outcomes, in ascending order of outcomes. */
export function countOutcomes(drawn: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const outcome of drawn) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return new Map([...counts].sort(([a], [b]) => a - b))
}
