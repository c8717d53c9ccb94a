import { expect, test } from '@jest/globals'
import { createProviderRates } from '../../../services/providers/rates.js'
import type { CountedLimit, RateLimitStore } from '../../../services/rate-limits/rate-limit-store.js'

const request = {
  provider: 'IBM Quantum',
  team: 'a-team',
  kind: 'submit',
  rate: { max: 5, windowSeconds: 60 }
} as const

/** A store without room, which keeps the limits that it was asked for. */
function fullStore(): { store: RateLimitStore; limits: CountedLimit[] } {
  const limits: CountedLimit[] = []
  const store: RateLimitStore = {
    async take([bucket]) {
      limits.push(bucket!.limit)
      return { ok: false, limit: bucket!.limit, retryAfterSeconds: 7 }
    }
  }
  return { store, limits }
}

// The windows are a quarter of a second longer, since a request can take that long from its count to its provider.
test.each([
  [1, 5],
  [3, 15],
  [0.1, 1]
])('a factor of %p makes five requests a minute %p', async (scale, max) => {
  const { store, limits } = fullStore()
  expect(await createProviderRates(store, scale).take(request)).toBe(7_000)
  expect(limits).toEqual([{ name: 'provider-submit', max, windowSeconds: 60.25 }])
})

test('a factor of 0 counts nothing', async () => {
  const { store, limits } = fullStore()
  expect(await createProviderRates(store, 0).take(request)).toBeNull()
  expect(limits).toEqual([])
})
