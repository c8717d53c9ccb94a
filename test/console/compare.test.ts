import { expect, test } from '@jest/globals'
import { readCompare } from '../../apps/console/jobs/compare/compare-search.js'
import { comparedCounts } from '../../apps/console/jobs/compare/compared-counts.js'
import { boundText, neededText, rateText } from '../../apps/console/jobs/compare/verdict-text.js'

type Circuit = Parameters<typeof comparedCounts>[0]
type Jobs = Parameters<typeof comparedCounts>[1]

const circuit = (outcomes: readonly string[]) =>
  ({
    counts: outcomes.map((outcome, at) => ({ outcome, a: at, b: 10 })),
    left_out: { outcomes: 2, a: 3, b: 0 }
  }) as unknown as Circuit
const jobs = (a: string | null, b: string | null) => ({ a: { count_source: a }, b: { count_source: b } }) as Jobs
const names = { a: 'one', b: 'two' }

test('the bars of two jobs stand beside each other by outcome, and what is left out stays counted', () => {
  const data = comparedCounts(circuit(['00', '11']), jobs('engine', 'engine'), names)!
  expect(data.sets.map(({ name, counts }) => [name, counts.total, counts.leftOut])).toEqual([
    ['one', 4n, { outcomes: 2, count: 3n }],
    ['two', 20n, { outcomes: 2, count: 0n }]
  ])
  expect(data.sets[0]!.counts.outcomes).toEqual([
    { outcome: '00', count: 0n },
    { outcome: '11', count: 1n }
  ])
})

test('the order of bits is named for the counts of circuits alone', () => {
  const order = (outcomes: readonly string[], a: string | null) =>
    comparedCounts(circuit(outcomes), jobs(a, 'engine'), names)!.order
  expect(order(['00'], 'engine')).toBe('qubit 0 leftmost')
  expect(order(['00'], null)).toBe('unstated')
  expect(order(['ge'], 'engine')).toBe('unstated')
  expect(comparedCounts(circuit([]), jobs('engine', 'engine'), names)).toBeNull()
})

test('a verdict is shown with its error rate, its distance and bound, or the shots that it would take', () => {
  expect(rateText({ alpha: 0.01 })).toContain('in 1 % of all comparisons')
  expect(boundText({ tvd: 0.01234, tvd_upper: 0.0456789, beta: 0.05, margin: 0.05 })).toBe(
    'Observed distance of the counts: 0.0123, the true one at most 0.0457 with 95 % confidence. The tolerated distance is 0.05.'
  )
  expect(boundText({ tvd: null, tvd_upper: null, beta: 0.05, margin: 0.1 })).toBe('The tolerated distance is 0.1.')
  expect(neededText({ needed_shots: 12_000 })).toBe('A verdict would take 12,000 shots of each job.')
  expect(neededText({ needed_shots: null })).toBeNull()
})

test('the address holds the two jobs and the margin, and nothing else', () => {
  expect(readCompare({ a: 'x', b: '', margin: 0.1, other: 1 })).toEqual({ a: 'x', margin: 0.1 })
  expect(readCompare({ a: 1, margin: 'wide' })).toEqual({})
})
