/**
 * Holm's adjusted p-values, in the order of the input. Rejecting those that are at most alpha rejects a true hypothesis
 * with probability at most alpha, for any number of hypotheses and any dependence between them.
 */
export function holmAdjusted(ps: readonly number[]): number[] {
  const order = ps.map((_, place) => place).sort((a, b) => ps[a]! - ps[b]!)
  const adjusted = new Array<number>(ps.length)
  let least = 0
  order.forEach((place, rank) => {
    least = Math.max(least, Math.min(1, (ps.length - rank) * ps[place]!))
    adjusted[place] = least
  })
  return adjusted
}
