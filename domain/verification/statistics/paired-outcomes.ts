// The counts of two runs side by side, for people: the most frequent outcomes, within the limits of a response.
import type { Counts } from './count-pair.js'

export interface PairedOutcome {
  outcome: string
  /** Shots of each run with this outcome. */
  a: number
  b: number
}

export interface PairedOutcomes {
  /** The most frequent first, both runs together. */
  counts: PairedOutcome[]
  /** What is left out: how many outcomes, and the shots of each run with them. */
  left_out: { outcomes: number; a: number; b: number }
}

/** @param max at most so many outcomes, with so many characters together. */
export function pairedOutcomes(a: Counts, b: Counts, max: { outcomes: number; characters: number }): PairedOutcomes {
  const rest = { outcomes: 0, a: 0, b: 0 }
  let width = 1
  let top: PairedOutcome[] = []
  // A result can have half a million outcomes, so only those that may be shown become objects.
  const add = (outcome: string, inA: number, inB: number): void => {
    if (inA + inB === 0) return
    rest.outcomes += 1
    rest.a += inA
    rest.b += inB
    width = Math.max(width, outcome.length)
    top.push({ outcome, a: inA, b: inB })
    if (top.length > 2 * max.outcomes) top = top.sort(byFrequency).slice(0, max.outcomes)
  }
  for (const outcome in a) add(outcome, a[outcome]!, b[outcome] ?? 0)
  for (const outcome in b) if (a[outcome] === undefined) add(outcome, 0, b[outcome]!)
  const counts = top.sort(byFrequency).slice(0, Math.min(max.outcomes, Math.floor(max.characters / width)))
  for (const row of counts) {
    rest.outcomes -= 1
    rest.a -= row.a
    rest.b -= row.b
  }
  return { counts, left_out: rest }
}

const byFrequency = (one: PairedOutcome, other: PairedOutcome): number =>
  other.a + other.b - (one.a + one.b) || (one.outcome < other.outcome ? -1 : 1)
