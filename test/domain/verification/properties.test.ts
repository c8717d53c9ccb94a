// Properties of the statistics that hold for all counts.
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { judge } from '../../../domain/verification/judge.js'
import { closeness } from '../../../domain/verification/statistics/closeness.js'
import { type Counts, pairUp } from '../../../domain/verification/statistics/count-pair.js'
import {
  binomialLaw,
  draw,
  drawBinomial,
  logFactorial,
  poissonLaw,
  spread
} from '../../../domain/verification/statistics/discrete-law.js'
import { hellingerFidelity, totalVariation } from '../../../domain/verification/statistics/distance.js'
import { holmAdjusted } from '../../../domain/verification/statistics/holm.js'
import { pooledPearson } from '../../../domain/verification/statistics/pearson.js'
import { randomOf } from '../../../domain/verification/statistics/random.js'
import { permutationTest, relabellings } from '../../../domain/verification/statistics/relabelling.js'
import { rerunShots } from '../../../domain/verification/statistics/shots-needed.js'
import { distanceUpperBound } from '../../../domain/verification/statistics/upper-bound.js'
import { runOf, shotsOf } from '../../support/capsules/verification-runs.js'

const outcome = fc.nat(40).map((value) => value.toString(2).padStart(6, '0'))
const counts: fc.Arbitrary<Counts> = fc
  .dictionary(outcome, fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 900 })), { minKeys: 1 })
  .map((found) => ({ ...found }))
const runs = { numRuns: 25 }

const statistics = (x: Counts, y: Counts) => {
  const pair = pairUp(x, y)
  return {
    tvd: totalVariation(pair),
    fidelity: hellingerFidelity(pair),
    pearson: pooledPearson(pair),
    closeness: closeness(pair),
    permutation: permutationTest(pair, 199, randomOf('property')),
    bound: distanceUpperBound(pair, 0.05, randomOf('property'))
  }
}

test('the names of outcomes do not matter', () => {
  fc.assert(
    fc.property(counts, counts, (x, y) => {
      const renamed = (of: Counts) =>
        Object.fromEntries(
          Object.entries(of)
            .map(([name, count]) => [[...name].reverse().join(''), count])
            .reverse()
        )
      expect(statistics(renamed(x), renamed(y))).toEqual(statistics(x, y))
    }),
    runs
  )
})

test('which run is called sealed does not matter', () => {
  fc.assert(
    fc.property(counts, counts, (x, y) => {
      const [one, other] = [statistics(x, y), statistics(y, x)]
      expect(one.tvd).toBeCloseTo(other.tvd, 10)
      expect(one.fidelity).toBeCloseTo(other.fidelity, 10)
      expect(one.pearson === null).toBe(other.pearson === null)
      if (one.pearson) {
        expect(one.pearson.statistic).toBeCloseTo(other.pearson!.statistic, 6)
        expect(one.pearson.p).toBeCloseTo(other.pearson!.p, 9)
      }
      // Both are estimates from at most 199 draws.
      expect(Math.abs(one.permutation.p - other.permutation.p)).toBeLessThan(0.35)
    }),
    runs
  )
})

test('with equal shots, the general formulas equal the plain ones', () => {
  const even = fc.tuple(fc.array(fc.nat(50), { minLength: 2, maxLength: 20 }), fc.nat(1000)).map(([values, at]) => {
    const rotated = values.map((_, k) => values[(k + at) % values.length]!)
    const named = (of: number[]) => Object.fromEntries(of.map((count, k) => [k.toString(2).padStart(5, '0'), count]))
    return [named(values), named(rotated)] as const
  })
  fc.assert(
    fc.property(even, ([x, y]) => {
      fc.pre(shotsOf(x) > 0)
      const pair = pairUp(x, y)
      const plain = pair.cells.reduce(
        (sum, { x: a, y: b, times }) => sum + (times * ((a - b) ** 2 - a - b)) / (a + b),
        0
      )
      expect(closeness(pair)).toBeCloseTo(plain, 8)
    }),
    runs
  )
})

test('a relabelling keeps the shots of both runs and of every outcome', () => {
  fc.assert(
    fc.property(counts, counts, (x, y) => {
      const pair = pairUp(x, y)
      const next = relabellings(pair, randomOf(JSON.stringify(x)))
      for (let turn = 0; turn < 5; turn++) {
        const { distance } = next()
        expect(distance).toBeGreaterThanOrEqual(-1e-12)
        expect(distance).toBeLessThanOrEqual(1 + 1e-12)
      }
      const { p, draws } = permutationTest(pair, 199, randomOf('p'))
      expect(p).toBeGreaterThanOrEqual(1 / (draws + 1) - 1e-12)
      expect(p).toBeLessThanOrEqual(1)
    }),
    runs
  )
})

test('outcomes with different counts are never grouped, however large the counts are', () => {
  const [x, y] = [99_999_999, 100_000_007]
  const { n, m, outcomes, cells } = pairUp({ '00': x, '01': x, '10': 0 }, { '00': y, '01': y + 1, '10': 2 ** 40 })
  expect({ n, m, outcomes }).toEqual({ n: 2 * x, m: 2 * y + 1 + 2 ** 40, outcomes: 3 })
  expect(cells).toEqual([
    { x: 0, y: 2 ** 40, times: 1 },
    { x, y, times: 1 },
    { x, y: y + 1, times: 1 }
  ])
})

test('the upper bound is between the distance and 1', () => {
  fc.assert(
    fc.property(counts, counts, (x, y) => {
      const { tvd, bound } = statistics(x, y)
      expect(bound).toBeLessThanOrEqual(1)
      expect(bound).toBeGreaterThan(Math.min(tvd, 0.999))
    }),
    runs
  )
})

test('every two runs get a verdict, with finite figures and a reason', () => {
  fc.assert(
    fc.property(counts, counts, fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean(), (x, y, margin, hardware) => {
      const settings = { margin, seedText: 'any' }
      const found = judge([{ name: 'main', sealed: runOf(x, { hardware }), rerun: runOf(y, { hardware }) }], settings)
      expect(JSON.parse(JSON.stringify(found))).toEqual(found)
      expect(found.reason).not.toMatch(/NaN|Infinity|undefined|null/)
      if (!hardware) expect(found.verdict).not.toBe('drifted')
    }),
    { numRuns: 30 }
  )
})

test('Holm rejects at most what each p rejects alone, and at least what Bonferroni rejects', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 30 }), (ps) => {
      const adjusted = holmAdjusted(ps)
      adjusted.forEach((p, place) => {
        expect(p).toBeGreaterThanOrEqual(ps[place]!)
        expect(p).toBeLessThanOrEqual(Math.min(1, ps[place]! * ps.length) + 1e-12)
      })
    })
  )
})

test('the shots requested for a re-run suffice together with the sealed ones', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 1_000_000 }), (sealed, needed) => {
      const found = rerunShots(sealed, needed)
      if (!('shots' in found)) return
      expect(1 / sealed + 1 / found.shots).toBeLessThanOrEqual(2 / needed + 1e-9)
      expect(found.shots).toBeLessThanOrEqual(100_000)
    })
  )
})

test('draws follow their distribution: binomial in both forms, Poisson, and many at once', () => {
  const random = randomOf('laws')
  const draws = 20_000
  const means: [number, number, number][] = []
  const measure = (mean: number, variance: number, next: () => number) => {
    let sum = 0
    let squares = 0
    for (let k = 0; k < draws; k++) {
      const value = next()
      sum += value
      squares += value * value
    }
    means.push([sum / draws - mean, Math.sqrt(variance / draws), squares / draws - (sum / draws) ** 2 - variance])
  }
  for (const [trials, p] of [
    [1, 0.3],
    [7, 0.5],
    [200, 0.02],
    [5000, 0.7],
    [200_000, 0.5]
  ] as const) {
    measure(trials * p, trials * p * (1 - p), () => drawBinomial(trials, p, random))
    const law = binomialLaw(trials, p)
    measure(trials * p, trials * p * (1 - p), () => draw(law, random))
  }
  for (const mean of [0.2, 3, 80, 40_000]) {
    const law = poissonLaw(mean)
    measure(mean, mean, () => draw(law, random))
  }
  const into = new Float64Array(30)
  const law = binomialLaw(3, 0.25)
  for (let turn = 0; turn < 200; turn++) spread(law, 1000, into, 4, random)
  const expected = [27, 27, 9, 1].map((of) => (of / 64) * 200_000)
  for (const [k, mean] of expected.entries()) means.push([into[4 + k]! - mean, Math.sqrt(mean), 0])
  expect(into.reduce((sum, count) => sum + count, 0)).toBe(200_000)
  for (const [off, sd] of means) expect(Math.abs(off)).toBeLessThan(5 * sd)
  for (const [, sd, variance] of means) expect(Math.abs(variance)).toBeLessThan(0.1 * sd * sd * draws + 1e-9)
})

test('the logarithm of a factorial is right on both sides of its table', () => {
  let sum = 0
  for (let k = 1; k <= 3000; k++) {
    sum += Math.log(k)
    expect(Math.abs(logFactorial(k) - sum)).toBeLessThan(1e-9)
  }
})
