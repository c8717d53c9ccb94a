import { describe, expect, test } from '@jest/globals'
import { selectBars } from '../../../apps/console/charts/histogram/bars.js'
import { wilsonInterval } from '../../../apps/console/charts/histogram/wilson.js'
import type { Counts } from '../../../apps/console/results/counts.js'
import { bellPair, counts, cut } from './histogram-scene.js'

const select = (sets: Counts[], top = 20, sort: 'count' | 'outcome' = 'count') =>
  selectBars(sets, { top, sort, shownAs: (outcome) => outcome })
const shown = (sets: Counts[], top?: number, sort?: 'count' | 'outcome') =>
  select(sets, top, sort).rows.map(({ outcome, bars }) => [outcome, ...bars.map(({ count }) => count)])

describe('one set of counts', () => {
  test('shows the most frequent outcomes, and the others as one bar', () => {
    const { rows, rest } = select([counts({ a: 1, b: 50, c: 30, d: 2, e: 17 })], 3)
    expect(rows.map(({ outcome }) => outcome)).toEqual(['b', 'c', 'e'])
    expect(rest).toEqual({ outcomes: 2, atLeast: false, bars: [{ count: 3n, share: 0.03, interval: null }] })
  })

  test('sorted by outcome shows the same outcomes in another order', () => {
    expect(shown([counts({ a: 1, b: 30, c: 50 })], 2, 'outcome')).toEqual([
      ['b', 30n],
      ['c', 50n]
    ])
  })

  test('has no rest where all are shown', () => {
    expect(select([bellPair]).rest).toBeNull()
  })

  test('that were not kept whole count what was left out in the rest', () => {
    const { rest } = select([cut({ a: 50, b: 10 }, { outcomes: 7, count: 40n })], 1)
    expect(rest).toMatchObject({ outcomes: 8, atLeast: false, bars: [{ count: 50n, share: 0.5 }] })
  })

  test('of 2^63 shots stay exact', () => {
    const { rows, rest } = select([counts({ a: 2n ** 62n + 1n, b: 2n ** 62n - 2n, c: 1n })], 1)
    expect(rows[0]!.bars[0]!.count).toBe(4_611_686_018_427_387_905n)
    expect(rest!.bars[0]!.count).toBe(4_611_686_018_427_387_903n)
  })

  test('without a shot have no shares', () => {
    expect(select([counts({ a: 0 })]).rows[0]!.bars).toEqual([{ count: 0n, share: 0, interval: null }])
    expect(select([counts({})])).toEqual({ rows: [], rest: null })
  })
})

describe('two sets of counts', () => {
  test('are paired by outcome, whatever their orders', () => {
    expect(shown([counts({ '00': 60, '11': 40 }), counts({ '11': 70, '00': 30 })])).toEqual([
      ['11', 40n, 70n],
      ['00', 60n, 30n]
    ])
  })

  test('stay paired where each has other frequent outcomes than those that are shown', () => {
    const [one, other] = [counts({ a: 90, b: 6, c: 4 }), counts({ d: 80, c: 15, b: 5 })]
    const { rows, rest } = select([one, other], 2)
    expect(rows.map(({ outcome, bars }) => [outcome, bars.map(({ count }) => count)])).toEqual([
      ['a', [90n, 0n]],
      ['d', [0n, 80n]]
    ])
    expect(rest).toMatchObject({ outcomes: 2, bars: [{ count: 10n }, { count: 20n }] })
  })

  test('show each outcome with its own counts, for random sets and every cut', () => {
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let round = 0; round < 50; round++) {
      const [one, other] = [0, 1].map(() =>
        Object.fromEntries(Array.from({ length: 1 + random(30) }, () => [random(40).toString(2), 1 + random(1_000)]))
      ) as [Record<string, number>, Record<string, number>]
      const top = 1 + random(12)
      const { rows, rest } = select([counts(one), counts(other)], top)
      for (const { outcome, bars } of rows)
        expect(bars.map(({ count }) => count)).toEqual([one, other].map((set) => BigInt(set[outcome] ?? 0)))
      const union = new Set([...Object.keys(one), ...Object.keys(other)])
      expect(rows.length + (rest?.outcomes ?? 0)).toBe(union.size)
      for (const [set, all] of [one, other].entries()) {
        const sum = [...rows, ...(rest ? [rest] : [])].reduce((left, { bars }) => left + bars[set]!.count!, 0n)
        expect(sum).toBe(BigInt(Object.values(all).reduce((left, count) => left + count, 0)))
      }
    }
  })

  test('of different totals are ranked by their shares', () => {
    const rows = shown([counts({ a: 9, b: 1 }), counts({ b: 100_000, c: 900_000 })])
    expect(rows.map(([outcome]) => outcome)).toEqual(['a', 'c', 'b'])
  })

  test('do not claim a count of 0 for an outcome that was not read', () => {
    const { rows, rest } = select([counts({ a: 5, b: 5 }), cut({ a: 6 }, { outcomes: 3, count: 4n })], 2)
    expect(rows[1]).toMatchObject({ outcome: 'b', bars: [{ count: 5n }, { count: null, interval: null }] })
    expect(rest).toMatchObject({ outcomes: 0, atLeast: true, bars: [{ count: 0n }, { count: 4n }] })
  })

  test('keep their bars where one of them is empty', () => {
    expect(shown([bellPair, counts({})])).toEqual([
      ['00', 503n, 0n],
      ['11', 497n, 0n]
    ])
  })
})

describe("Wilson's interval", () => {
  // As scipy.stats.binomtest(count, shots).proportion_ci(method='wilson') has it.
  test.each([
    [503, 1_000, 0.472058675, 0.533918365],
    [0, 10, 0, 0.2775328],
    [10, 10, 0.7224672, 1],
    [1, 1_000_000, 1.765e-7, 5.6649e-6]
  ])('of %p in %p shots is from %p to %p', (count, shots, low, high) => {
    const interval = wilsonInterval(count, shots)
    expect(interval[0]).toBeCloseTo(low, 7)
    expect(interval[1]).toBeCloseTo(high, 7)
  })
})
