// What a provider job cost, from what its provider states.
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type CircuitPrice, chargeOf, circuitPrice } from '../../../domain/money/charge.js'

const price: CircuitPrice = { fixed: 650_000n, minimumCost: 700_000n, perSecond: 1_600_000n, secondsMax: 60 }
const seconds = (amount: number, of: CircuitPrice | null = price) =>
  chargeOf({ cost: null, usage: { amount, unit: 'seconds' } }, of)

describe('the seconds that a provider states cost', () => {
  test.each([
    ['the minimum when they are few', 0, 700_000n],
    ['task fee, shots and time', 2, 3_850_000n],
    ['parts of a second', 3.3, 5_930_000n],
    ['the cap exactly', 60, 96_650_000n]
  ])('%s: %p', (_what, amount, cost) => {
    expect(seconds(amount)).toEqual({ cost, usage: { amount, unit: 'seconds' }, note: null })
  })

  test('a micro-dollar more for any part of one, computed from the decimal number that was written', () => {
    const cheap = { fixed: 0n, minimumCost: 0n, perSecond: 10n, secondsMax: 60 }
    const costs = [0.1, 0.1000001, 1.1, 4.35, 1e-9, 5e-324].map((amount) => seconds(amount, cheap).cost)
    expect(costs).toEqual([1n, 2n, 11n, 44n, 1n, 1n])
  })

  test('more than was reserved when more were used, and a note says so', () => {
    expect(seconds(75.25)).toEqual({
      cost: 121_050_000n,
      usage: { amount: 75.25, unit: 'seconds' },
      note: 'used 75.25 seconds, although at most 60 were reserved'
    })
  })

  test('nothing known where the device is not billed by time', () => {
    expect(seconds(5, null)).toEqual({ cost: null, usage: { amount: 5, unit: 'seconds' }, note: null })
  })

  test('nothing known when no machine can have run so long', () => {
    expect(seconds(1e12)).toMatchObject({ cost: null, note: expect.stringContaining('which cannot be right') })
  })

  test('at least the time and never a micro-dollar too much', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.bigInt(0n, 10_000_000n), (millis, perSecond) => {
        const { cost } = seconds(millis / 1000, { fixed: 0n, minimumCost: 0n, perSecond, secondsMax: 1_000 })
        const exact = perSecond * BigInt(millis)
        expect(cost! * 1000n - exact).toBeGreaterThanOrEqual(0n)
        expect(cost! * 1000n - exact).toBeLessThan(1000n)
      })
    )
  })
})

describe('the charge of a provider job', () => {
  test('is the amount in USD where the provider states one, whatever was used', () => {
    const usage = { amount: 5, unit: 'seconds' }
    expect(chargeOf({ cost: 42n, usage }, price)).toEqual({ cost: 42n, usage, note: null })
  })

  test('is unknown for usage in another unit, which is kept', () => {
    const usage = { amount: 12.5, unit: 'HQC' }
    expect(chargeOf({ cost: null, usage }, price)).toEqual({ cost: null, usage, note: null })
  })

  test('is unknown while the provider still computes it, even when some usage is stated', () => {
    const charge = chargeOf({ cost: null, usage: { amount: 0, unit: 'seconds' }, isUsagePending: true }, price)
    expect(charge).toMatchObject({ cost: null, note: expect.stringContaining('has not stated the cost yet') })
    expect(chargeOf({ cost: 7n, isUsagePending: true }, price).cost).toBe(7n)
  })

  test('is what was stated before, without a usage and without a note', () => {
    expect(chargeOf({ cost: null }, price)).toEqual({ cost: null, usage: null, note: null })
    expect(chargeOf({ cost: 5n }, null)).toEqual({ cost: 5n, usage: null, note: null })
  })

  test.each([
    ['no number', { amount: Number.NaN, unit: 'HQC' }],
    ['an endless number', { amount: Number.POSITIVE_INFINITY, unit: 'HQC' }],
    ['a negative number', { amount: -1, unit: 'seconds' }],
    ['a number beyond all bills', { amount: 1e13, unit: 'HQC' }],
    ['a unit that is too long', { amount: 1, unit: 'x'.repeat(33) }],
    ['no unit', { amount: 1, unit: '' }],
    ['a unit with control characters', { amount: 1, unit: 'HQC\u001b[2J' }]
  ])('ignores a usage with %s, and says so', (_what, usage) => {
    expect(chargeOf({ cost: null, usage }, price)).toEqual({
      cost: null,
      usage: null,
      note: 'the provider states a usage that cannot be read'
    })
  })
})

test('the price of a circuit contains its shots, and there is none without a price of time', () => {
  const pricing = { taskFee: 300_000n, perShot: 350n, minimumCost: 700_000n, byTime: null }
  expect(circuitPrice(pricing, 1000)).toBeNull()
  expect(circuitPrice({ ...pricing, byTime: { perSecond: 1_600_000n, secondsMax: 60 } }, 1000)).toEqual(price)
})
