import { expect, test } from '@jest/globals'
import { observedText, readObservables } from '../../../apps/console/results/observables.js'
import { readPoints } from '../../../apps/console/results/points.js'

const observed = '[{"observable":"ZZ","value":0.12345678901234567890,"standard_error":0.03,"method":"sampled"}]'

test('expectation values keep every digit, and say what their error is', () => {
  const [sampled] = readObservables(`{"expectation_values":${observed}}`)
  expect(observedText(sampled!)).toBe('0.12345678901234567890 ± 0.03')
  expect(observedText({ name: 'Z', value: '1', error: '0', method: 'exact' })).toBe('1 (exact)')
  // All shots agreed, which is not the same as exact.
  expect(observedText({ name: 'Z', value: '1', error: '0', method: 'sampled' })).toBe('1 ± 0')
  expect(observedText({ name: 'Z', value: '1', error: null, method: 'sampled' })).toBe('1 (standard error not known)')
})

test('a result without expectation values has none, and neither has what cannot be read', () => {
  for (const text of ['{}', '[]', '{"expectation_values":{}}', '{"expectation_values":[', 'x'])
    expect(readObservables(text)).toEqual([])
})

test('each point of a sweep has its parameters and its values, or its fault', () => {
  const points = readPoints(
    `{"points":[{"index":0,"params":{"theta":1e-400},"expectation_values":${observed}},
      {"index":1,"params":{"theta":"x"},"error":{"code":"execution_error","message":"not a number"}},
      {"index":2,"params":{},"value":12345678901234567890}]}`
  )
  expect(points.map(({ index, params, value, error }) => [index, params, value, error])).toEqual([
    [0, 'theta = 1e-400', null, null],
    [1, 'theta = "x"', null, 'not a number'],
    [2, '', '12345678901234567890', null]
  ])
  expect(points[0]!.observables).toHaveLength(1)
})
