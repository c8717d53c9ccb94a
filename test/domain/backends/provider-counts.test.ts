import { describe, expect, test } from '@jest/globals'
import {
  addUp,
  bitOrderOf,
  bitsOfInteger,
  canonicalBits,
  countsOfHistogram,
  countsOfProbabilities,
  countsOfSites,
  leftOutText
} from '../../../domain/backends/provider-counts.js'

describe("a provider's lowest bit, qubit 0, becomes the leftmost", () => {
  test.each([
    ['1', 3, '100'],
    ['4', 3, '001'],
    ['0x1', 9, '100000000'],
    ['256', 9, '000000001'],
    ['0', 2, '00'],
    [String(2n ** 80n), 81, `${'0'.repeat(80)}1`]
  ])('%s of %s qubits is %s', (value, width, bits) => expect(bitsOfInteger(value, width)).toBe(bits))

  test.each([
    ['8', 3],
    ['-1', 3]
  ])('%s does not fit into %s bits', (value, width) => expect(() => bitsOfInteger(value, width)).toThrow())

  test('classical bits are read from the qubits that they measure', () =>
    expect(canonicalBits('10010', { kind: 'qubits', bits: [3, 1, 2, 0, 4] })).toBe('10010'))

  test('a readout of a missing bit is refused', () =>
    expect(() => canonicalBits('10', { kind: 'qubits', bits: [2] })).toThrow(/bit 2/))

  test('results that differ only in unread bits are added up', () =>
    expect([
      ...addUp([
        ['0', 0.25],
        ['1', 0.5],
        ['0', 0.25]
      ])
    ]).toEqual([
      ['0', 0.5],
      ['1', 0.5]
    ]))
})

describe('counts of probabilities', () => {
  const counts = (probabilities: Record<string, number>, shots: number) =>
    Object.fromEntries(countsOfProbabilities(new Map(Object.entries(probabilities)), shots))

  test('are exact when the probabilities are counts divided by shots', () => {
    for (const shots of [1, 3, 7, 100, 1_000, 9_999, 100_000]) {
      const third = Math.floor(shots / 3)
      const expected = { '00': third, '01': shots - third }
      const given = { '00': third / shots, '01': (shots - third) / shots }
      expect(counts(given, shots)).toEqual(Object.fromEntries(Object.entries(expected).filter(([, n]) => n > 0)))
    }
  })

  test('sum to the shots, and each is off by less than one', () => {
    const probabilities = { a: 1 / 3, b: 1 / 3, c: 1 / 3 }
    expect(counts(probabilities, 100)).toEqual({ a: 34, b: 33, c: 33 })
    expect(counts({ a: 0.999, b: 0.001 }, 10)).toEqual({ a: 10 })
  })

  test.each([
    ['that do not sum to one', { a: 0.5, b: 0.3 }],
    ['that are negative', { a: 1.2, b: -0.2 }],
    ['that are not numbers', { a: Number.NaN }],
    ['of nothing', {}]
  ])('%s are refused', (_what, probabilities) => expect(() => counts(probabilities, 10)).toThrow())
})

describe('a histogram of a quantum computer', () => {
  const counted = (histogram: Record<string, number>, shots: number) => {
    const counts = countsOfHistogram(new Map(Object.entries(histogram)), shots)
    return counts && Object.fromEntries(counts)
  }

  test.each<[string, Record<string, number>, number, Record<string, number>]>([
    ['thirds of 300 shots', { '0': 1 / 3, '1': 2 / 3 }, 300, { '0': 100, '1': 200 }],
    ['six decimals', { '00': 0.333333, '11': 0.666667 }, 300, { '00': 100, '11': 200 }],
    ['an outcome without a shot', { '1': 1, '0': 0 }, 10, { '1': 10 }],
    ['a million shots', { '0': 0.123456, '1': 0.876544 }, 1_000_000, { '0': 123_456, '1': 876_544 }]
  ])('gives the counts behind it: %s', (_name, histogram, shots, counts) => {
    expect(counted(histogram, shots)).toEqual(counts)
  })

  test.each<[string, Record<string, number>, number]>([
    ['a fraction of a shot', { '0': 0.505, '1': 0.495 }, 100],
    ['the result of error mitigation', { '00': 0.4983, '01': 0.0017, '11': 0.5 }, 1_000],
    ['fewer shots than were asked for', { '0': 0.5, '1': 0.25 }, 100],
    ['a negative value', { '0': 1.1, '1': -0.1 }, 10],
    ['no number', { '0': Number.NaN }, 10]
  ])('is not counted when it is %s', (_name, histogram, shots) => {
    expect(counted(histogram, shots)).toBeNull()
  })
})

describe('shots of an analog program become a letter for each site, in the order of the sites', () => {
  const sites = { kind: 'sites' as const, bits: [0, 1, 2, 3] }
  const shot = (before: number[] | null, after: number[] | null, status = 'Success') => ({ status, before, after })
  const countsOf = (...shots: ReturnType<typeof shot>[]) => Object.fromEntries(countsOfSites(shots, sites).counts)

  test('e without an atom before, g with one still there, r with one that is gone', () => {
    expect(countsOf(shot([0, 0, 1, 1], [0, 1, 1, 0]))).toEqual({ eegr: 1 })
    expect(countsOf(shot([1, 1, 1, 1], [0, 1, 1, 1]))).toEqual({ rggg: 1 })
  })

  test('equal shots are added up, and only successful ones count', () => {
    const seen = shot([1, 1, 1, 0], [0, 1, 0, 0])
    const shots = [
      seen,
      seen,
      { ...seen, status: 'Partial Success' },
      shot(null, null, 'Failure'),
      shot([1], [1], 'New')
    ]
    const { counts, leftOut } = countsOfSites(shots, sites)
    expect([Object.fromEntries(counts), leftOut]).toEqual([{ rgre: 2 }, 3])
  })

  test.each([
    ['no sequence', null, [1, 1, 1, 1]],
    ['too few sites', [1, 1, 1], [1, 1, 1]],
    ['too many sites', [1, 1, 1, 1], [1, 1, 1, 1, 1]],
    ['another value', [1, 1, 1, 1], [1, 1, 1, 2]]
  ])('a successful shot with %s is refused', (_what, before, after) =>
    expect(() => countsOf(shot(before, after))).toThrow(/^the provider's result/)
  )

  test('what was left out is told', () => {
    expect(leftOutText(0, 100)).toBeNull()
    expect(leftOutText(3, 100)).toBe('3 of 100 shots did not succeed at the provider; they are left out of the counts')
  })

  test('the result states their order', () => {
    expect([bitOrderOf(sites), bitOrderOf({ kind: 'qubits', bits: [0] })]).toEqual(['site order', 'qubit 0 leftmost'])
    expect(() => canonicalBits('eg', { kind: 'sites', bits: [0] })).toThrow()
  })
})
