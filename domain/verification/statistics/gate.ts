// Whether the counts of two runs can be compared by a test at all.

import { isDeepEqual } from '../deep-equal.js'
import { haveLikeRegisters, registersText } from '../registers.js'
import { type Relation, sealAndRerun } from '../relation.js'
import { BROWSER_SAMPLED, PROGRAM_REPORTED, type RunCounts, type RunReading } from '../run-counts.js'
import type { Counts } from './count-pair.js'

/** No run can have measured more: the product of the most circuits and the most shots of a submission. */
const COUNTED_MAX = 100_000_000
const sampled = new Set([
  'simulator_sampled',
  'provider_counts',
  'provider_measurements',
  PROGRAM_REPORTED,
  BROWSER_SAMPLED
])

/** Why they cannot be compared; `null` when they can. */
export function gate(sealed: RunCounts, rerun: RunCounts, relation = sealAndRerun): string | null {
  const { one, other } = relation
  return untestableAlone(one, sealed) ?? untestableAlone(other, rerun) ?? together(sealed, rerun, relation)
}

/** Why the counts of one run cannot be compared with any other's; `null` when they can. */
export function untestableAlone(which: string, run: RunCounts): string | null {
  if (run.countSource === 'probability_derived')
    return `the counts of ${which} were computed from probabilities, not sampled; they do not vary as samples do`
  if (run.countSource !== null && !sampled.has(run.countSource))
    return `the counts of ${which} come from '${run.countSource}', which is not known to be sampling`
  if (run.countSource === null && !run.local)
    return `the counts of ${which} were put together by the program from what a provider answered; whether they were sampled is not known`
  const sum = sumOf(run.counts)
  if (sum === null) return `the counts of ${which} are not whole numbers from 0`
  if (run.shots === null) return `${which} does not say how many shots were observed`
  if (sum !== run.shots) return `the counts of ${which} sum to ${sum}, but it observed ${run.shots} shots`
  if (sum === 0) return `${which} has no shots`
  if (sum > COUNTED_MAX) return `the counts of ${which} sum to ${sum}, more than any run can have measured`
  return null
}

/** Why a result without counts cannot be compared with any other; `null` when seeds fix it, so that it should repeat. */
export function unfixedAlone(which: string, { seeds, facts }: RunReading): string | null {
  if (seeds !== null) return null
  return facts.local
    ? `nothing fixed the randomness of ${which}; a seed in the parameters would fix it`
    : `${which} is of a provider’s backend, whose randomness no seed fixes`
}

function together(sealed: RunCounts, rerun: RunCounts, { one, other, repeats }: Relation): string | null {
  if (repeats && !haveLikeSources(sealed, rerun))
    return 'the counts of one run are the program’s own, those of the other the service’s'
  if (sealed.bitOrder !== rerun.bitOrder)
    return `the bit orders differ: '${sealed.bitOrder}' in ${one}, '${rerun.bitOrder}' in ${other}`
  if (repeats && !isDeepEqual(sealed.registers, rerun.registers))
    return 'the runs have other registers, so their bits mean other things'
  if (repeats && sealed.circuitSha256 !== rerun.circuitSha256)
    return `the runs are of different circuits: ${sealed.circuitSha256 ?? 'one without a digest'} and ${rerun.circuitSha256 ?? 'one without a digest'}`
  if (!haveLikeRegisters(sealed.registers, rerun.registers))
    return `the registers differ, so their bits mean other things: ${registersText(sealed.registers)} in ${one}, ${registersText(rerun.registers)} in ${other}`
  const widths = new Set<number>()
  for (const { counts } of [sealed, rerun]) for (const outcome in counts) widths.add(outcome.length)
  if (widths.size > 1)
    return `the outcomes have different widths: ${[...widths].sort((a, b) => a - b).join(' and ')} characters`
  return null
}

/**
 * A program's counts are compared with a program's. Earlier releases called counts that a program reported
 * `simulator_sampled`, so these two are alike.
 */
function haveLikeSources(sealed: RunCounts, rerun: RunCounts): boolean {
  if ((sealed.countSource === null) !== (rerun.countSource === null)) return false
  if (sealed.madeBy === rerun.madeBy) return true
  return [sealed, rerun].every(
    ({ countSource }) => countSource === PROGRAM_REPORTED || countSource === 'simulator_sampled'
  )
}

function sumOf(counts: Counts): number | null {
  let sum = 0
  for (const outcome in counts) {
    const count = counts[outcome]!
    if (!Number.isSafeInteger(count) || count < 0) return null
    sum += count
  }
  return Number.isSafeInteger(sum) ? sum : null
}
