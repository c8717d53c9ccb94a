// How often the tests of a verification find a difference between simulated runs, with and without a true difference.

import { ALPHA, BETA } from '../../../domain/verification/judge.js'
import { type CountPair, pairUp } from '../../../domain/verification/statistics/count-pair.js'
import { pooledPearson } from '../../../domain/verification/statistics/pearson.js'
import type { Random } from '../../../domain/verification/statistics/random.js'
import { permutationTest } from '../../../domain/verification/statistics/relabelling.js'
import { smallestMargin } from '../../../domain/verification/statistics/shots-needed.js'
import { distanceUpperBound } from '../../../domain/verification/statistics/upper-bound.js'
import { bell, porterThomas, sampler, shifted } from './verification-runs.js'

export interface Scene {
  name: string
  outcomes: number
  /** Shots of the sealed run and of the re-run. */
  shots: readonly [number, number]
  /** Weights of the distributions of the sealed run and of the re-run, drawn anew for each trial. */
  laws(random: Random): readonly [number[], number[]]
}

/** Shares of all trials. */
export interface Rates {
  trials: number
  /** Each test alone at alpha. */
  pearson: number
  cdvv: number
  /** Both at alpha / 2, as for a verdict: a difference was found. */
  found: number
  /** No difference was found, and the bound is within the default margin of a seal. */
  consistent: number
}

const same = (law: (random: Random) => number[]) => (random: Random) => {
  const weights = law(random)
  return [weights, weights] as const
}

const lawsOf: Record<string, (outcomes: number) => (random: Random) => number[]> = {
  bell: (outcomes) => () => bell(outcomes, 0.05),
  uniform: (outcomes) => () => shifted(outcomes, 0),
  'Porter-Thomas': (outcomes) => (random) => porterThomas(outcomes, random)
}

/** Runs of one distribution. */
export const nulls = (outcomes: readonly number[], shots: readonly (readonly [number, number])[]): Scene[] =>
  outcomes.flatMap((k) =>
    shots.flatMap((both) =>
      Object.entries(lawsOf).map(([name, law]) => ({ name, outcomes: k, shots: both, laws: same(law(k)) }))
    )
  )

/** Runs that differ, and how often an effective test finds it. */
export const changes: (Scene & { power: number })[] = [
  {
    name: 'bell noise 5 to 15 %',
    outcomes: 4,
    shots: [1000, 1000],
    laws: () => [bell(4, 0.05), bell(4, 0.15)],
    power: 0.99
  },
  {
    name: 'bell noise 5 to 8 %',
    outcomes: 1024,
    shots: [10_000, 10_000],
    laws: () => [bell(1024, 0.05), bell(1024, 0.08)],
    power: 1
  },
  {
    name: 'bell noise 5 to 15 %',
    outcomes: 1024,
    shots: [1000, 1000],
    laws: () => [bell(1024, 0.05), bell(1024, 0.15)],
    power: 1
  },
  {
    name: 'uniform moved by 0.10',
    outcomes: 1024,
    shots: [10_000, 10_000],
    laws: () => [shifted(1024, 0), shifted(1024, 0.1)],
    power: 0.95
  },
  {
    name: 'Porter-Thomas to uniform',
    outcomes: 1024,
    shots: [1000, 1000],
    laws: (random) => [porterThomas(1024, random), shifted(1024, 0)],
    power: 1
  }
]

/** The bound takes most of the time, and a rough rate suffices for it. */
const BOUND_EVERY = 10
/** The draws of the permutation test for a capsule of one circuit. */
const DRAWS = 999

/** @param withBound whether to compute the bound, which takes most of the time. */
export function simulate(scene: Scene, trials: number, random: Random, withBound = false): Rates {
  const times = { pearson: 0, cdvv: 0, found: 0, consistent: 0 }
  const [n, m] = scene.shots
  for (let trial = 0; trial < trials; trial++) {
    const [p, q] = scene.laws(random)
    const sealed = sampler(p, random)(n)
    const pair: CountPair = pairUp(sealed, sampler(q, random)(m))
    const pearson = pooledPearson(pair)?.p ?? 1
    const cdvv = permutationTest(pair, DRAWS, random).p
    const found = 2 * Math.min(pearson, cdvv) <= ALPHA
    if (pearson < ALPHA) times.pearson += 1
    if (cdvv <= ALPHA) times.cdvv += 1
    if (found) times.found += 1
    else if (
      withBound &&
      trial % BOUND_EVERY === 0 &&
      distanceUpperBound(pair, BETA, random) <= Math.max(0.05, smallestMargin(sealed, BETA))
    )
      times.consistent += 1
  }
  const share = (found: number): number => found / trials
  return {
    trials,
    pearson: share(times.pearson),
    cdvv: share(times.cdvv),
    found: share(times.found),
    consistent: times.consistent / Math.ceil(trials / BOUND_EVERY)
  }
}

/** The largest share of `trials` with true probability `p`, except with a probability of about `level`. */
export function binomialBound(trials: number, p: number, level: number): number {
  // As a logarithm: with tens of thousands of trials, the first weights are smaller than any number.
  let logWeight = trials * Math.log1p(-p)
  let [above, k] = [1 - Math.exp(logWeight), 0]
  while (above > level && k < trials) {
    logWeight += Math.log(((trials - k) / (k + 1)) * (p / (1 - p)))
    above -= Math.exp(logWeight)
    k += 1
  }
  return k / trials
}
