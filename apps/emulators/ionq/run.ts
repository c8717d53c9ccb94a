// Runs a program and returns IonQ's measurements: outcomes as whole numbers, with qubit k as bit k.
import { drawNoisy, tooLarge, touchedBy, weightsOf } from '../simulator/execution.js'
import type { Program } from './circuit.js'
import { JobFailure } from './failure.js'

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
  const found = tooLarge(operations)
  if (found) throw new JobFailure(found.reason === 'qubits' ? 'SimulationError' : 'SimulationTimeout', found.message)
}

/** The exact distribution of a runnable program. */
export function runExactly({ operations }: Program): Distribution {
  const touched = touchedBy(operations)
  const found: Distribution = { outcomes: [], probabilities: [], touched }
  weightsOf(operations, touched).forEach((probability, index) => {
    if (probability <= negligible) return
    // Not with <<, which is limited to 32 bits.
    found.outcomes.push(touched.reduce((sum, qubit, bit) => ((index >> bit) & 1 ? sum + 2 ** qubit : sum), 0))
    found.probabilities.push(probability)
  })
  return found
}

/**
 * The outcome of every shot; the same seed draws the same outcomes.
 * @param noise how likely a shot returns any outcome of the touched qubits instead of its own.
 */
export const drawShots = (
  { outcomes, probabilities, touched }: Distribution,
  shots: number,
  settings: { seed: number; noise: number }
): number[] =>
  drawNoisy(probabilities, shots, settings, {
    of: (index) => outcomes[index]!,
    any: (random) => touched.reduce((sum, qubit) => (random() < 0.5 ? sum + 2 ** qubit : sum), 0)
  })

/** The counts of the outcomes, in ascending order of outcomes. */
export function countOutcomes(drawn: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const outcome of drawn) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return new Map([...counts].sort(([a], [b]) => a - b))
}
