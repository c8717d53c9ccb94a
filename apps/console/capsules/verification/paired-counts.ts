// The sealed counts of each circuit beside those of a re-run, read as the verification reads them.
import { type RunCounts, runCircuits } from '../../../../domain/verification/run-counts.js'
import type { HistogramData } from '../../charts/histogram/histogram-layout.js'
import type { OutcomeOrder } from '../../results/counts.js'
import { countsFrom } from '../../results/counts.js'

const unknown = { hardware: false, local: false, completedAt: null }

/** @returns the circuits of both by the name that the report gives them; those of one alone are left out. */
export function pairedCounts(sealed: string, rerun: string): Map<string, HistogramData> {
  const [before, after] = [circuitsIn(sealed), circuitsIn(rerun)]
  const pairs = new Map<string, HistogramData>()
  for (const [name, one] of before) {
    const other = after.get(name)
    if (!other) continue
    const order = orderOf(one) === orderOf(other) ? orderOf(one) : 'unstated'
    pairs.set(name, {
      order,
      registers: [],
      sets: [
        { name: 'sealed', counts: countsFrom(Object.entries(one.counts)) },
        { name: 'this run', counts: countsFrom(Object.entries(other.counts)) }
      ]
    })
  }
  return pairs
}

/** A result that is not an object has no counts. */
function circuitsIn(text: string): Map<string, RunCounts> {
  if (!text.startsWith('{')) return new Map()
  try {
    return runCircuits(text, unknown)
  } catch {
    return new Map()
  }
}

const orderOf = ({ bitOrder }: RunCounts): OutcomeOrder =>
  bitOrder === 'qubit 0 leftmost' || bitOrder === 'site order' ? bitOrder : 'unstated'
