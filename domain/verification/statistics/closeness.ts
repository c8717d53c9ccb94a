// The closeness statistic of Chan, Diakonikolas, Valiant and Valiant ("Optimal algorithms for testing closeness of
// discrete distributions", SODA 2014), in the form for unequal shots. It has no level of its own; a permutation test
// supplies one. It is the stronger of the two tests when shots are spread over many outcomes.
import type { CountPair } from './count-pair.js'

/** The term of one outcome that was seen x and y times. With n = m it is `((x-y)² - x - y) / (x+y)`. */
export function closenessTerm(n: number, m: number): (x: number, y: number) => number {
  const [toY, toX] = [Math.sqrt(m / n), Math.sqrt(n / m)]
  const [ofX, ofY] = [m / n, n / m]
  return (x, y) => ((toY * x - toX * y) ** 2 - ofX * x - ofY * y) / (x + y)
}

export function closeness({ n, m, cells }: CountPair): number {
  const term = closenessTerm(n, m)
  return cells.reduce((sum, { x, y, times }) => sum + times * term(x, y), 0)
}
