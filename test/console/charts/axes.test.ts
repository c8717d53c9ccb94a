import { describe, expect, test } from '@jest/globals'
import { numberAxis } from '../../../apps/console/charts/number-axis.js'
import { linearAxis, logarithmicAxis } from '../../../apps/console/charts/share-axis.js'

const labels = ({ ticks }: { ticks: { label: string }[] }) => ticks.map(({ label }) => label)

describe('an axis of shares', () => {
  test('begins at 0 and ends at a round share', () => {
    const axis = linearAxis(0.534, 400)
    expect(labels(axis)).toEqual(['0 %', '10 %', '20 %', '30 %', '40 %', '50 %', '60 %'])
    expect(axis.place(0.3)).toBeCloseTo(200, 9)
    expect(axis.place(0)).toBe(0)
  })

  test('never goes beyond 100 %', () => {
    expect(labels(linearAxis(0.97, 400)).at(-1)).toBe('100 %')
    expect(linearAxis(1, 400).place(1)).toBe(400)
  })

  test('has room for every mark', () => {
    for (const [most, width] of [
      [1e-9, 300],
      [0.0123, 100],
      [0.5, 50],
      [1, 900]
    ] as const) {
      const { ticks } = linearAxis(most, width)
      expect(ticks.length).toBeLessThanOrEqual(Math.max(3, width / 40))
      expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length)
    }
  })

  test('on a logarithmic axis begins a power of ten below the smallest one', () => {
    const axis = logarithmicAxis(0.001, 0.9, 300)
    expect(axis.place(0.001)).toBeCloseTo(75, 9)
    expect(axis.place(1)).toBe(300)
    expect(axis.place(0)).toBe(0)
    expect(labels(axis)).toEqual(['0.01 %', '0.1 %', '1 %', '10 %', '100 %'])
  })
})

describe('an axis of numbers', () => {
  test('has round marks around its values', () => {
    const axis = numberAxis(-0.93, 0.87, 200, { most: 5, ends: 'round' })
    expect(labels(axis)).toEqual(['-1.0', '-0.5', '0.0', '0.5', '1.0'])
    expect(axis.place(-1)).toBe(0)
    expect(axis.place(1)).toBe(200)
  })

  test('that ends at its values has the round marks between them', () => {
    const axis = numberAxis(0, 2 * Math.PI, 200, { most: 4, ends: 'values' })
    expect(labels(axis)).toEqual(['0', '2', '4', '6'])
    expect(axis.place(2 * Math.PI)).toBe(200)
  })

  test.each([
    [5, 5],
    [0, 0],
    [-3, -3],
    [1e300, 1.1e300],
    [1e16, 1e16 + 2],
    [-1e-12, 1e-12]
  ])('from %p to %p has a finite place for every value', (low, high) => {
    for (const ends of ['round', 'values'] as const) {
      const axis = numberAxis(low, high, 200, { most: 5, ends })
      for (const at of [axis.place(low), axis.place(high), ...axis.ticks.map(({ at }) => at)]) {
        expect(at).toBeGreaterThanOrEqual(0)
        expect(at).toBeLessThanOrEqual(200)
      }
      expect(axis.ticks.length).toBeLessThan(20)
    }
  })
})
