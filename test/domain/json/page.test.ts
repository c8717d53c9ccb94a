// What a list says of its length.
import { expect, test } from '@jest/globals'
import { estimateView, pageView, TOTAL_MAX } from '../../../domain/json/page.js'

const page = { limit: 10, offset: 20 }

test('a total is exact up to its limit, and says where it is not', () => {
  expect(pageView(TOTAL_MAX, page)).toEqual({ total: TOTAL_MAX, ...page })
  expect(pageView(TOTAL_MAX + 1, page)).toEqual({ total: TOTAL_MAX, total_capped: true, ...page })
})

test.each([
  [5_734_211, 5_700_000],
  [12_499, 12_000],
  // The statistics are older than the last jobs: more than the limit were counted.
  [3, TOTAL_MAX]
])('an estimate of %i is given as %i', (estimate, given) => {
  expect(estimateView(estimate)).toEqual({ total_estimate: given })
})

test('a list without an estimate says nothing about it', () => {
  expect(estimateView(null)).toEqual({})
})
