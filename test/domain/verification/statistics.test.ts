// Compares the statistics with numpy and scipy: stored figures, and others drawn anew in each run.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { chiSquareTail } from '../../../domain/verification/statistics/chi-squared.js'
import { closeness } from '../../../domain/verification/statistics/closeness.js'
import {
  type CompareOutcome,
  compareOutcome,
  compareShotsMin
} from '../../../domain/verification/statistics/compare-bound.js'
import { type Counts, pairUp } from '../../../domain/verification/statistics/count-pair.js'
import { hellingerFidelity, totalVariation } from '../../../domain/verification/statistics/distance.js'
import { holmAdjusted } from '../../../domain/verification/statistics/holm.js'
import { pooledPearson } from '../../../domain/verification/statistics/pearson.js'
import { fnv1a64, randomOf, splitMix64, xoshiro128 } from '../../../domain/verification/statistics/random.js'
import { permutationTest, relabellings } from '../../../domain/verification/statistics/relabelling.js'
import {
  neededShots,
  neededShotsOf,
  rerunShots,
  smallestMargin
} from '../../../domain/verification/statistics/shots-needed.js'
import { distanceUpperBound, resamples } from '../../../domain/verification/statistics/upper-bound.js'
import { longTest } from '../../support/lane.js'

interface Figures {
  tvd: number
  fidelity: number
  pearson: { statistic: number; df: number; p: number } | null
  closeness: number
  permutation_p: number | null
  null_tvd: number
  bootstrap_mean: number | null
  bootstrap: { below_mean: number; sd: number }
  needed_shots: number
}

const folder = join(import.meta.dirname, 'fixtures')
const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
const reference = read('reference.json') as {
  tails: { x: number; df: number; p: number }[]
  pairs: { x: Counts; y: Counts; expected: Figures }[]
  xoshiro128: { state: [number, number, number, number]; words: number[] }
}

const DRAWS = 2000
/** Six standard deviations of a share, and of a mean. */
const off = (p: number, draws: number): number => 6 * Math.sqrt((p * (1 - p) + 1e-4) / draws)

function expectAsReference(x: Counts, y: Counts, expected: Figures): void {
  const pair = pairUp(x, y)
  expect(totalVariation(pair)).toBeCloseTo(expected.tvd, 12)
  expect(hellingerFidelity(pair)).toBeCloseTo(expected.fidelity, 12)
  expect(closeness(pair)).toBeCloseTo(expected.closeness, 8)
  const pearson = pooledPearson(pair)
  if (expected.pearson === null) expect(pearson).toBeNull()
  else {
    expect(pearson!.degreesOfFreedom).toBe(expected.pearson.df)
    expect(pearson!.statistic).toBeCloseTo(expected.pearson.statistic, 7)
    expect(Math.abs(pearson!.p / expected.pearson.p - 1)).toBeLessThan(1e-8)
  }
  expect(neededShotsOf(pair, 0.1, 0.05)).toBe(expected.needed_shots)

  const seen = closeness(pair)
  const next = relabellings(pair, randomOf('relabel'))
  const drawn = Array.from({ length: DRAWS }, next)
  const distance = drawn.reduce((sum, draw) => sum + draw.distance, 0) / DRAWS
  const spread = Math.sqrt(drawn.reduce((sum, draw) => sum + (draw.distance - distance) ** 2, 0) / DRAWS)
  expect(Math.abs(distance - expected.null_tvd)).toBeLessThan((6 * spread) / Math.sqrt(DRAWS) + 1e-12)
  if (expected.permutation_p !== null) {
    const p = drawn.filter((draw) => draw.closeness >= seen - 1e-9).length / DRAWS
    expect(Math.abs(p - expected.permutation_p)).toBeLessThan(off(expected.permutation_p, DRAWS))
  }

  const again = resamples(pair, randomOf('bootstrap'))
  const distances = Float64Array.from({ length: DRAWS }, again).sort()
  const mean = distances.reduce((sum, one) => sum + one, 0) / DRAWS
  const { sd, below_mean } = expected.bootstrap
  if (expected.bootstrap_mean !== null)
    expect(Math.abs(mean - expected.bootstrap_mean)).toBeLessThan((6 * sd) / Math.sqrt(DRAWS) + 1e-12)
  // The error of a lower 5 % quantile is about twice that of a mean.
  expect(Math.abs(mean - distances[Math.floor(0.05 * DRAWS)]! - below_mean)).toBeLessThan(
    (14 * sd) / Math.sqrt(DRAWS) + 1.01 / Math.min(pair.n, pair.m)
  )
}

describe('the chi-square tail', () => {
  test.each([
    [3.841459, 1, 0.05],
    [11.344867, 3, 0.01],
    [10, 2, Math.exp(-5)],
    [1100, 1023, 0.046866]
  ])('above %d with %d degrees of freedom', (x, df, p) => expect(chiSquareTail(x, df)).toBeCloseTo(p, 6))

  longTest("equals scipy's from one degree of freedom to 65,535, down to 1e-290", () => {
    const wrong = reference.tails.filter(({ x, df, p }) => !(Math.abs(chiSquareTail(x, df) / p - 1) < 1e-8))
    expect(wrong.map((tail) => ({ ...tail, ours: chiSquareTail(tail.x, tail.df) }))).toEqual([])
  })
})

describe('the figures of two runs equal those of numpy and scipy for', () => {
  test.each(reference.pairs.map((pair, place) => [place, pair] as const))('kept pair %d', (_, { x, y, expected }) =>
    expectAsReference(x, y, expected)
  )

  test('pairs drawn anew', () => {
    const random = randomOf(String(Date.now()))
    const counts = (outcomes: number, shots: number, power: number): Counts => {
      const found: Record<string, number> = {}
      for (let shot = 0; shot < shots; shot++) {
        const outcome = Math.floor(random.uniform() ** power * outcomes)
        const bits = outcome.toString(2).padStart(8, '0')
        found[bits] = (found[bits] ?? 0) + 1
      }
      return found
    }
    const pairs = Array.from({ length: 6 }, (_, place) => ({
      x: counts([2, 4, 9, 40, 200, 12][place]!, [9, 500, 15, 300, 2000, 1][place]!, 1 + random.uniform()),
      y: counts([2, 4, 9, 40, 200, 12][place]!, [12, 800, 15, 40, 1500, 30][place]!, 1 + random.uniform())
    }))
    const python = join(import.meta.dirname, '../../../.venv/bin/python')
    const input = JSON.stringify(pairs)
    const output = execFileSync(python, [join(folder, 'reference.py')], { input, timeout: 60_000, encoding: 'utf8' })
    const expected = JSON.parse(output) as Figures[]
    pairs.forEach(({ x, y }, place) => {
      try {
        expectAsReference(x, y, expected[place]!)
      } catch (error) {
        throw new Error(`with ${JSON.stringify({ x, y })}`, { cause: error })
      }
    })
  }, 60_000)
})

test('random numbers equal those of the published generator', () => {
  const { word } = xoshiro128(reference.xoshiro128.state)
  const words = Array.from({ length: 1000 }, word)
  expect(words.slice(-3)).toEqual(reference.xoshiro128.words)
  expect(fnv1a64('foobar')).toBe(0x85944171f73967e8n)
  expect(splitMix64(1234567n, 3)).toEqual([6457827717110365317n, 3203168211198807973n, 9817491932198370423n])
})

describe('the statement of the public compare tool', () => {
  const { cases } = read('marqov-statistical-cases.json') as {
    cases: {
      name: string
      ref_counts: Counts
      new_counts: Counts
      settings: { alpha: number; epsilon: number; min_shots: number }
      expected: { verdict: string; stage: string; total_variation_distance?: number; tvd_ucb?: number }
    }[]
  }

  test.each(cases.map((one) => [one.name, one] as const))('is right for its own vector %s', (_, one) => {
    const { alpha, epsilon, min_shots: minShots } = one.settings
    const found: CompareOutcome = compareOutcome(pairUp(one.ref_counts, one.new_counts), { alpha, epsilon, minShots })
    expect(found).toMatchObject({ stage: one.expected.stage, says: one.expected.verdict })
    if (one.expected.tvd_ucb === undefined) expect(found).toMatchObject({ distance: null, bound: null })
    else {
      expect(Math.abs(found.bound! - one.expected.tvd_ucb)).toBeLessThan(1e-9)
      expect(Math.abs(found.distance! - one.expected.total_variation_distance!)).toBeLessThan(1e-9)
    }
  })

  test('is tested with all twelve vectors, and is never VERIFIED below 7,490 shots', () => {
    expect(cases).toHaveLength(12)
    expect(compareShotsMin()).toBe(7490)
    const equal = (shots: number) => compareOutcome(pairUp({ '0': shots }, { '0': shots })).says
    expect([equal(7489), equal(7490)]).toEqual(['INCONCLUSIVE', 'VERIFIED'])
  })
})

describe('shots and margins', () => {
  const bell = { '00': 4750 + 125, '01': 125, '10': 125, '11': 4750 + 125 }
  const uniform = Object.fromEntries(Array.from({ length: 1024 }, (_, k) => [k.toString(2).padStart(10, '0'), 40]))

  test('equal the planning figures of the rule', () => {
    expect(neededShots(bell, 0.1, 0.05)).toBeGreaterThan(570)
    expect(neededShots(bell, 0.1, 0.05)).toBeLessThan(610)
    expect(Math.round(neededShots(uniform, 0.1, 0.05) / 1000)).toBe(39)
  })

  test('the smallest margin is the one that these shots just resolve', () => {
    const margin = smallestMargin(bell, 0.05)
    expect(neededShots(bell, margin * 1.0001, 0.05)).toBeLessThanOrEqual(10_000)
    expect(neededShots(bell, margin * 0.999, 0.05)).toBeGreaterThan(10_000)
    expect(smallestMargin({}, 0.05)).toBe(1)
    expect(smallestMargin({ '0': 1 }, 0.05)).toBe(1)
    expect(smallestMargin({ '0': 100_000 }, 0.05)).toBeCloseTo(Math.sqrt(Math.log(20) / 100_000), 12)
  })

  test('with few shots per outcome, the smallest margin exceeds the distance of equal runs', () => {
    const once = Object.fromEntries(Array.from({ length: 500 }, (_, k) => [k.toString(2).padStart(9, '0'), 1]))
    expect(smallestMargin(once, 0.05)).toBe(1)
    const thrice = Object.fromEntries(Array.from({ length: 500 }, (_, k) => [k.toString(2).padStart(9, '0'), 3]))
    // Two runs of 1,500 shots over 500 equally likely outcomes are 0.325 apart on average.
    expect(smallestMargin(thrice, 0.05)).toBeGreaterThan(0.325 + 0.0447)
    expect(smallestMargin(thrice, 0.05)).toBeLessThan(0.5)
  })

  test('a longer re-run compensates for a short sealed run up to a limit', () => {
    expect(rerunShots(1000, 1000)).toEqual({ shots: 1000 })
    expect(rerunShots(750, 1000)).toEqual({ shots: 1500 })
    expect(rerunShots(500, 1000)).toHaveProperty('impossible', expect.stringContaining('no re-run'))
    expect(rerunShots(502, 1000)).toHaveProperty('impossible', expect.stringContaining('at most 100,000'))
    expect(rerunShots(1000, Number.POSITIVE_INFINITY)).toHaveProperty('impossible')
  })
})

test('Holm steps down: the smallest p is multiplied by all circuits, and no later one is below an earlier', () => {
  expect(holmAdjusted([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06])
  expect(holmAdjusted([0.5, 0.9])).toEqual([1, 1])
  expect(holmAdjusted([])).toEqual([])
})

test('identical counts have p 1 and an upper bound above 0', () => {
  const pair = pairUp({ '00': 500, '11': 500 }, { '00': 500, '11': 500 })
  expect(pooledPearson(pair)!.p).toBe(1)
  expect(permutationTest(pair, 999, randomOf('equal')).p).toBe(1)
  const certain = pairUp({ '0': 1000 }, { '0': 1000 })
  expect(distanceUpperBound(certain, 0.05, randomOf('certain'))).toBeCloseTo(-Math.log(0.05) / 1000, 12)
})
