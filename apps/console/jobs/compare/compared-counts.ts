// The counts of a comparison for a histogram, paired by outcome by the service.
import type { components } from '../../api/schema.js'
import type { HistogramData } from '../../charts/histogram/histogram-layout.js'
import type { Counts } from '../../results/counts.js'

type Circuit = components['schemas']['ComparedCircuit']
type Job = components['schemas']['ComparedJob']

/** `null` where the circuit has no counts that can be drawn beside each other. */
export function comparedCounts(
  circuit: Circuit,
  { a, b }: { a: Job; b: Job },
  names: { a: string; b: string }
): HistogramData | null {
  if (circuit.counts.length === 0) return null
  // Counts that say who vouches for them are the service's, in its order; those of an analog program are letters.
  const isOfBits = circuit.counts.every(({ outcome }) => /^[01 ]*$/.test(outcome))
  const isOfService = a.count_source !== null && b.count_source !== null
  return {
    order: isOfService && isOfBits ? 'qubit 0 leftmost' : 'unstated',
    registers: [],
    sets: (['a', 'b'] as const).map((side) => ({ name: names[side], counts: countsOf(circuit, side) }))
  }
}

function countsOf({ counts, left_out }: Circuit, side: 'a' | 'b'): Counts {
  const outcomes = counts.map((row) => ({ outcome: row.outcome, count: BigInt(row[side]) }))
  const kept = outcomes.reduce((sum, { count }) => sum + count, 0n)
  const leftOut = { outcomes: left_out.outcomes, count: BigInt(left_out[side]) }
  return { outcomes, total: kept + leftOut.count, leftOut }
}
