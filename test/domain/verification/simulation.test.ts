// How often the tests find a difference in simulated pairs of runs: a short form of `npm run statistics`. The numbers
// are drawn from a fixed seed, so the test always passes or always fails.
import { describe, expect, test } from '@jest/globals'
import { ALPHA, BETA } from '../../../domain/verification/judge.js'
import { pairUp } from '../../../domain/verification/statistics/count-pair.js'
import { randomOf } from '../../../domain/verification/statistics/random.js'
import { smallestMargin } from '../../../domain/verification/statistics/shots-needed.js'
import { distanceUpperBound } from '../../../domain/verification/statistics/upper-bound.js'
import { bell, sampler, shifted } from '../../support/capsules/verification-runs.js'
import { binomialBound, changes, nulls, simulate } from '../../support/capsules/verification-simulation.js'

describe('false alarms stay within the binomial bound of alpha', () => {
  const scenes = nulls(
    [4, 1024],
    [
      [1000, 1000],
      [1000, 300]
    ]
  )
  const trials = 60

  test('for all scenes together, and none is far above', () => {
    const random = randomOf('false alarms')
    const rates = scenes.map((scene) => simulate(scene, trials, random))
    const mean = rates.reduce((sum, { found }) => sum + found, 0) / rates.length
    expect(mean).toBeLessThanOrEqual(binomialBound(trials * scenes.length, ALPHA, 0.01))
    for (const { found, cdvv, pearson } of rates)
      for (const rate of [found, cdvv, pearson]) expect(rate).toBeLessThanOrEqual(binomialBound(trials, ALPHA, 0.0005))
  }, 60_000)
})

test.each(
  changes.map((scene) => [`${scene.name}, ${scene.outcomes} outcomes, ${scene.shots[0]} shots`, scene] as const)
)(
  'a change is found: %s',
  (name, scene) => {
    const { found } = simulate(scene, 25, randomOf(name))
    expect(found).toBeGreaterThanOrEqual(scene.power - 0.08)
  },
  60_000
)

test.each([
  ['two outcomes, one and a half deviations apart', [0.5, 0.5], [0.5336, 0.4664], 0.0336],
  ['two outcomes, two and a half deviations apart', [0.5, 0.5], [0.556, 0.444], 0.056],
  ['a rare outcome', [0.95, 0.05], [0.9354, 0.0646], 0.0146],
  ['a Bell state', bell(4, 0.05), bell(4, 0.15), 0.05]
] as const)('the bound holds in 95 %% of runs: %s', (name, p, q, truth) => {
  const random = randomOf(name)
  const [one, other] = [sampler(p, random), sampler(q, random)]
  const trials = 200
  let below = 0
  for (let trial = 0; trial < trials; trial++)
    if (distanceUpperBound(pairUp(one(1000), other(1000)), BETA, random) < truth) below += 1
  expect(below / trials).toBeLessThanOrEqual(binomialBound(trials, BETA, 0.01))
})

test.each([
  ['bell', bell(4, 0.05), 1000],
  ['bell, many rare outcomes', bell(1024, 0.05), 10_000],
  ['uniform, fewer shots than outcomes', shifted(1024, 0), 1000]
] as const)('an equal run is mostly consistent at the margin that its shots can resolve: %s', (name, law, shots) => {
  const random = randomOf(name)
  const next = sampler(law, random)
  const trials = 24
  let within = 0
  for (let trial = 0; trial < trials; trial++) {
    const sealed = next(shots)
    if (distanceUpperBound(pairUp(sealed, next(shots)), BETA, random) <= smallestMargin(sealed, BETA)) within += 1
  }
  expect(within / trials).toBeGreaterThan(0.75)
})
