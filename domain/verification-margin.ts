// The margin of a capsule whose seal names none: what a verification is to tolerate, and what its shots can show.
import { runCircuits } from './verification/run-counts.js'
import { smallestMargin } from './verification/shots-needed.js'

/** Total variation distance that is tolerated where the shots could show less. */
const MARGIN_SIMULATOR = 0.05
const MARGIN_HARDWARE = 0.1
/** Share of equal runs that may miss the margin, as in the verification. */
const BETA = 0.05

/** @param results texts of the sealed results; rounded up to four decimals. */
export function defaultMargin(results: readonly { text: string; hardware: boolean }[]): number {
  const floors = results.map(({ hardware }) => (hardware ? MARGIN_HARDWARE : MARGIN_SIMULATOR))
  const resolvable = results.flatMap(({ text, hardware }) =>
    circuitsOf(text, hardware).map((counts) => smallestMargin(counts, BETA))
  )
  return Math.min(1, Math.ceil(Math.max(MARGIN_SIMULATOR, ...floors, ...resolvable) * 10_000) / 10_000)
}

/** A result that is no object has no counts. */
function circuitsOf(text: string, hardware: boolean) {
  if (!text.startsWith('{')) return []
  return [...runCircuits(text, { hardware, local: false, completedAt: null }).values()].map(({ counts }) => counts)
}
