// The closeness statistic of Chan, Diakonikolas, Valiant and Valiant ("Optimal algorithms for testing closeness of discrete
// distributions", SODA 2014), in the form for unequal shots. Without a level of its own: a permutation test gives it one. The
// stronger of the two tests where shots are spread over many outcomes.
import type { CountPair } from './count-pair.js'

/** What one outcome, seen x and y times, adds. With n = m it is `((x-y)² - x - y) / (x+y)`. */
export function closenessTerm(n: number, m: number): (x: number, y: number) => number {
  const [toY, toX] = [Math.sqrt(m / n), Math.sqrt(n / m)]
  const [ofX, ofY] = [m / n, n / m]
  return (x, y) => ((toY * x - toX * y) ** 2 - ofX * x - ofY * y) / (x + y)
}

export function closeness({ n, m, cells }: CountPair): number {
  const term = closenessTerm(n, m)
  return cells.reduce((sum, { x, y, times }) => sum + times * term(x, y), 0)
}
