// The sealed counts of each circuit beside those of a re-run, paired and named as the verification does it.
import type { RunCounts } from '../../../../domain/verification/run-counts.js'
import { circuitPairs } from '../../../../domain/verification/statistics/circuit-pairs.js'
import type { HistogramData } from '../../charts/histogram/histogram-layout.js'
import { countsFrom, type OutcomeOrder } from '../../results/counts.js'

/** What the counts were measured with is no part of the picture. */
const facts = { hardware: false, local: false, completedAt: null }

/** @param task its name. @returns by the name that the report gives each circuit; those that one run lacks are left out. */
export function pairedCounts(task: string, sealed: string, rerun: string): Map<string, HistogramData> {
  const pairs = new Map<string, HistogramData>()
  for (const pair of pairsIn(task, sealed, rerun)) {
    if ('uncounted' in pair) continue
    const { name, sealed: one, rerun: other } = pair
    pairs.set(name, {
      order: orderOf(one) === orderOf(other) ? orderOf(one) : 'unstated',
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
function pairsIn(task: string, sealed: string, rerun: string) {
  try {
    return circuitPairs({ name: task, sealed: { text: sealed, facts }, rerun: { text: rerun, facts } })
  } catch {
    return []
  }
}

const orderOf = ({ bitOrder }: RunCounts): OutcomeOrder =>
  bitOrder === 'qubit 0 leftmost' || bitOrder === 'site order' ? bitOrder : 'unstated'
