// Which outcomes a histogram shows, and how much of each. Two sets of counts are paired by outcome over the union of
// both before anything is cut off, so that a bar never stands beside that of another outcome.
import type { Counts } from '../../results/counts.js'
import { wilsonInterval } from './wilson.js'

export interface Bar {
  /** `null` where the outcome is not among those that were read of a very large result. */
  count: bigint | null
  share: number
  /** Of the probability, at 95 %; `null` for the rest, because the counts themselves decided what is in it. */
  interval: readonly [low: number, high: number] | null
}

export interface BarRow {
  outcome: string
  /** One for each set of counts. */
  bars: readonly Bar[]
}

export interface Rest {
  outcomes: number
  /** Whether there can be more outcomes than `outcomes`. */
  atLeast: boolean
  bars: readonly Bar[]
}

export interface BarSelection {
  rows: readonly BarRow[]
  rest: Rest | null
}

export interface BarOptions {
  /** How many outcomes are shown: the most frequent ones, of two sets those of the largest shares together. */
  top: number
  sort: 'count' | 'outcome'
  /** What outcomes are compared by when they are sorted by outcome: the text as it is shown. */
  shownAs: (outcome: string) => string
}

/** @param sets one or two. */
export function selectBars(sets: readonly Counts[], { top, sort, shownAs }: BarOptions): BarSelection {
  const [first, second] = sets
  // The outcomes of a single set are in this order already.
  const union = second ? unionOf(sets) : null
  const shown = union
    ? mostFrequent(union, sets, top)
    : (first?.outcomes.slice(0, top) ?? []).map(({ outcome, count }) => ({ outcome, counts: [count] }))
  const known = union?.size ?? first?.outcomes.length ?? 0
  if (sort === 'outcome') {
    const keys = new Map(shown.map((row) => [row.outcome, shownAs(row.outcome)]))
    shown.sort((one, other) => (keys.get(one.outcome)! < keys.get(other.outcome)! ? -1 : 1))
  }
  const rows = shown.map(({ outcome, counts }) => ({
    outcome,
    bars: counts.map((count, set) => barOf(count, sets[set]!.total))
  }))
  return { rows, rest: restOf(sets, known, shown) }
}

interface Candidate {
  outcome: string
  counts: (bigint | null)[]
}

function unionOf(sets: readonly Counts[]): Map<string, Candidate> {
  const union = new Map<string, Candidate>()
  // An outcome that is missing was never counted, unless its set was too large to be kept whole.
  const missing = sets.map(({ leftOut }) => (leftOut.outcomes > 0 ? null : 0n))
  for (const [set, { outcomes }] of sets.entries()) {
    for (const { outcome, count } of outcomes) {
      const known = union.get(outcome) ?? { outcome, counts: [...missing] }
      known.counts[set] = count
      union.set(outcome, known)
    }
  }
  return union
}

function mostFrequent(union: ReadonlyMap<string, Candidate>, sets: readonly Counts[], top: number): Candidate[] {
  // Of sets with different totals the shares are added; over their common denominator they are whole numbers.
  const others = sets.map((_, set) =>
    sets.reduce((product, { total }, at) => (at === set ? product : product * total), 1n)
  )
  const weightOf = ({ counts }: Candidate) =>
    counts.reduce<bigint>((sum, count, set) => sum + (count ?? 0n) * (others[set] || 1n), 0n)
  const weighted: { candidate: Candidate; weight: bigint }[] = []
  const cut = () => {
    weighted.sort(
      (one, other) =>
        (one.weight === other.weight ? 0 : one.weight > other.weight ? -1 : 1) ||
        (one.candidate.outcome < other.candidate.outcome ? -1 : 1)
    )
    weighted.length = Math.min(weighted.length, top)
  }
  for (const candidate of union.values()) {
    weighted.push({ candidate, weight: weightOf(candidate) })
    if (weighted.length > 2 * top + 1_000) cut()
  }
  cut()
  return weighted.map(({ candidate }) => candidate)
}

function barOf(count: bigint | null, total: bigint): Bar {
  if (count === null || total === 0n) return { count, share: 0, interval: null }
  const [seen, shots] = [Number(count), Number(total)]
  return { count, share: seen / shots, interval: wilsonInterval(seen, shots) }
}

function restOf(sets: readonly Counts[], known: number, shown: readonly Candidate[]): Rest | null {
  const leftOut = Math.max(...sets.map(({ leftOut }) => leftOut.outcomes))
  // Of a single set the outcomes that were not read add up; those of two sets can be the same ones.
  const outcomes = known - shown.length + (sets.length === 1 ? leftOut : 0)
  const atLeast = sets.length > 1 && leftOut > 0
  if (outcomes === 0 && !atLeast) return null
  const bars = sets.map(({ total }, set) => {
    const count = shown.reduce((left, { counts }) => left - (counts[set] ?? 0n), total)
    return { count, share: total === 0n ? 0 : Number(count) / Number(total), interval: null }
  })
  return { outcomes, atLeast, bars }
}
