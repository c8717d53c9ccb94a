// The counts of two runs side by side, in the form that every statistic here takes.

/** Shots by outcome: bit strings with qubit or register bit 0 leftmost, or of analog programs a letter for each site. */
export type Counts = Readonly<Record<string, number>>

/** `times` outcomes were seen `x` times in the sealed run and `y` times in the re-run. */
export interface Cell {
  x: number
  y: number
  times: number
}

/**
 * Two runs without the names of their outcomes, on which no statistic depends: outcomes with the same two counts are
 * grouped, in sorted order. A result with 100,000 outcomes becomes a few dozen cells.
 */
export interface CountPair {
  /** Shots of the sealed run. */
  n: number
  /** Shots of the re-run. */
  m: number
  /** How many outcomes were seen in either run. */
  outcomes: number
  cells: Cell[]
}

/** Pairs two runs. An outcome that one run has not seen counts 0 there. Counts must be whole numbers from 0. */
export function pairUp(sealed: Counts, rerun: Counts): CountPair {
  const cells = new Map<number, Map<number, Cell>>()
  let outcomes = 0
  const add = (x: number, y: number): void => {
    if (x + y === 0) return
    outcomes += 1
    const row = cells.get(x)
    const known = row?.get(y)
    if (known) known.times += 1
    else if (row) row.set(y, { x, y, times: 1 })
    else cells.set(x, new Map([[y, { x, y, times: 1 }]]))
  }
  for (const outcome in sealed) add(sealed[outcome]!, countOf(rerun, outcome) ?? 0)
  for (const outcome in rerun) if (countOf(sealed, outcome) === undefined) add(0, rerun[outcome]!)
  const sorted = [...cells.values()].flatMap((row) => [...row.values()]).sort((a, b) => a.x - b.x || a.y - b.y)
  return {
    n: sorted.reduce((sum, { x, times }) => sum + x * times, 0),
    m: sorted.reduce((sum, { y, times }) => sum + y * times, 0),
    outcomes,
    cells: sorted
  }
}

// An outcome can have the name of a property that every object inherits.
function countOf(counts: Counts, outcome: string): number | undefined {
  const count: unknown = counts[outcome]
  return typeof count === 'number' ? count : undefined
}
