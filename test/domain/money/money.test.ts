import { describe, expect, test } from '@jest/globals'
import { estimateCost, isFree } from '../../../domain/money/cost.js'
import { formatUsd, microFromUsd, usdFromMicro } from '../../../domain/money/money.js'

describe('reading an amount', () => {
  test.each([
    [0, 0n],
    [-0, 0n],
    [1, 1_000_000n],
    [0.1, 100_000n],
    [0.00035, 350n],
    [0.000001, 1n],
    [999_999_999.999999, 999_999_999_999_999n],
    [1_000_000_000, 1_000_000_000_000_000n]
  ])('%p USD is %p micro-USD', (usd, micro) => {
    expect(microFromUsd(usd)).toBe(micro)
  })

  test.each([
    ['finer than a micro-dollar', 0.0000001],
    ['finer than a micro-dollar next to a whole dollar', 1.0000001],
    ['with seven decimals', 0.1234567],
    ['0.1 + 0.2, which is not 0.3', 0.1 + 0.2],
    ['negative', -0.01],
    ['above a billion', 1_000_000_000.01],
    ['in exponents', 1e21],
    ['infinite', Number.POSITIVE_INFINITY],
    ['not a number', Number.NaN],
    ['text', '1.00'],
    ['nothing', null],
    ['left out', undefined],
    ['a bigint', 1n]
  ])('an amount that is %s is refused, not rounded', (_what, usd) => {
    expect(microFromUsd(usd)).toBeNull()
  })

  test('20,000 amounts of every size survive writing and reading', () => {
    let state = 7n
    for (let index = 0; index < 20_000; index++) {
      state = (state * 6364136223846793005n + 1442695040888963407n) % (1n << 64n)
      const micro = (state >> 11n) % 10n ** BigInt(1 + (index % 15))
      expect(microFromUsd(usdFromMicro(micro))).toBe(micro)
    }
  })
})

test.each([
  [0n, '$0.00'],
  [12_500_000n, '$12.50'],
  [350n, '$0.000350'],
  [1n, '$0.000001'],
  [1_010_000n, '$1.01'],
  [1_000_000_000_000_000n, '$1000000000.00'],
  [-2_500_000n, '-$2.50'],
  [-1n, '-$0.000001']
])('%p micro-USD reads %p', (micro, text) => {
  expect(formatUsd(micro)).toBe(text)
})

describe('the estimate of a job', () => {
  const qpu = { taskFee: 300_000n, perShot: 350n, minimumCost: 300_000n, byTime: null }
  const timed = { ...qpu, byTime: { perSecond: 1_600_000n, secondsMax: 60 } }

  test.each([
    ['task fee and shots', qpu, 1000, 1, 650_000n],
    ['the minimum when that is more', { ...qpu, minimumCost: 2_000_000n }, 1000, 1, 2_000_000n],
    ['the sum when it equals the minimum', { ...qpu, minimumCost: 650_000n }, 1000, 1, 650_000n],
    ['each circuit separately', { ...qpu, minimumCost: 2_000_000n }, 1000, 3, 6_000_000n],
    ['nothing on a free backend', { ...qpu, taskFee: 0n, perShot: 0n, minimumCost: 0n }, 100_000, 1, 0n],
    ['the cap of the machine’s time, for each circuit', timed, 1000, 2, 193_300_000n],
    ['the minimum when that is more than the time', { ...timed, minimumCost: 96_650_001n }, 1000, 1, 96_650_001n],
    [
      'every micro-dollar at the greatest size',
      { ...qpu, perShot: 999_999_999_999n },
      100_000,
      1000,
      100_000_000_000_200_000_000n
    ]
  ])('counts %s', (_what, pricing, shots, circuits, cost) => {
    expect(estimateCost(pricing, shots, circuits)).toBe(cost)
  })
})

test('a backend is free when none of its prices is above zero, whatever its cap', () => {
  const free = { taskFee: 0n, perShot: 0n, minimumCost: 0n, byTime: null }
  expect(isFree(free)).toBe(true)
  expect(isFree({ ...free, byTime: { perSecond: 0n, secondsMax: 600 } })).toBe(true)
  expect(isFree({ ...free, byTime: { perSecond: 1n, secondsMax: 600 } })).toBe(false)
  expect(isFree({ ...free, minimumCost: 1n })).toBe(false)
})
