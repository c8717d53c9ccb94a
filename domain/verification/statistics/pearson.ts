// Pearson's chi-square test of two samples, with rare outcomes pooled. It is the stronger of the two tests when a few
// outcomes hold most shots.
import { chiSquareTail } from './chi-squared.js'
import type { CountPair } from './count-pair.js'

/** An outcome whose expected count in the smaller run is below this is pooled. */
const EXPECTED_MIN = 5

export interface PearsonTest {
  statistic: number
  degreesOfFreedom: number
  p: number
}

/** `null` when fewer than two bins are left, so that there is nothing to test. The shots of the runs can differ. */
export function pooledPearson({ n, m, cells }: CountPair): PearsonTest | null {
  const share = Math.min(n, m) / (n + m)
  const [toY, toX] = [Math.sqrt(m / n), Math.sqrt(n / m)]
  const term = (x: number, y: number): number => (toY * x - toX * y) ** 2 / (x + y)
  let bins = 0
  let statistic = 0
  const rare = { x: 0, y: 0 }
  for (const { x, y, times } of cells) {
    if ((x + y) * share >= EXPECTED_MIN) {
      bins += times
      statistic += times * term(x, y)
    } else {
      rare.x += times * x
      rare.y += times * y
    }
  }
  if (rare.x + rare.y > 0) {
    bins += 1
    statistic += term(rare.x, rare.y)
  }
  if (bins < 2) return null
  const degreesOfFreedom = bins - 1
  return { statistic, degreesOfFreedom, p: chiSquareTail(statistic, degreesOfFreedom) }
}
