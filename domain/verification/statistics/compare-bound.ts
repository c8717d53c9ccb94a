// What the public tool `marqov-capsule compare` reports about two runs (section 6 of its format, version 1): a bound on
// the distance that assumes only independent shots. It never reports that runs differ.
import type { CountPair } from './count-pair.js'
import { totalVariation } from './distance.js'
import { shown } from './shots-needed.js'

export interface CompareSettings {
  alpha: number
  epsilon: number
  minShots: number
}

export const compareDefaults: CompareSettings = { alpha: 0.05, epsilon: 0.02, minShots: 100 }

export interface CompareOutcome {
  stage: 'zero-shots' | 'below-min-shots' | 'bound-computed'
  distance: number | null
  bound: number | null
  says: 'VERIFIED' | 'INCONCLUSIVE'
}

export function compareOutcome(pair: CountPair, settings = compareDefaults): CompareOutcome {
  const fewest = Math.min(pair.n, pair.m)
  if (fewest === 0) return { stage: 'zero-shots', distance: null, bound: null, says: 'INCONCLUSIVE' }
  if (fewest < settings.minShots) return { stage: 'below-min-shots', distance: null, bound: null, says: 'INCONCLUSIVE' }
  const distance = totalVariation(pair)
  const slack = Math.sqrt(0.5 * Math.log(1 / settings.alpha) * (1 / pair.n + 1 / pair.m))
  const bound = Math.min(1, distance + slack)
  return { stage: 'bound-computed', distance, bound, says: bound <= settings.epsilon ? 'VERIFIED' : 'INCONCLUSIVE' }
}

/** With fewer shots in each run, the bound exceeds epsilon even when the counts are equal. */
export const compareShotsMin = ({ alpha, epsilon, minShots } = compareDefaults): number =>
  Math.max(minShots, Math.ceil(Math.log(1 / alpha) / epsilon ** 2))

/** The statement in the report of a verification. */
export interface CompareStatement {
  bound: number | null
  epsilon: number
  says: 'VERIFIED' | 'INCONCLUSIVE'
  note: string
}

export function compareStatement(pair: CountPair): CompareStatement {
  const { bound, says } = compareOutcome(pair)
  return { bound, epsilon: compareDefaults.epsilon, says, note: compareNote }
}

export const compareNote = `what the public tool \`marqov-capsule compare\` says of these counts by its own bound; with fewer than about ${shown(
  Math.ceil(compareShotsMin() / 10) * 10
)} shots in each run it can never say VERIFIED at its default tolerance, however well the runs agree`
