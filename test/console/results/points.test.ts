import { expect, test } from '@jest/globals'
import { observedText, readObservables } from '../../../apps/console/results/observables.js'
import { openSweep } from '../../../apps/console/results/sweep-reader.js'

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

const opened = (text: string) => {
  const reading = openSweep(text)
  if (reading?.kind !== 'read') throw new Error('not read')
  return reading.value
}
const ofSweep = (points: string) => `{"points":[${points}],"metadata":{"sweep":true}}`

test('each point of a sweep has its parameters and its values in every digit, or its fault', () => {
  const sweep = opened(
    ofSweep(`{"index":0,"params":{"theta":1e-400},"expectation_values":${observed}},
      {"index":1,"params":{"theta":"x"},"error":{"code":"execution_error","message":"not a number"}},
      {"index":2,"params":{},"value":12345678901234567890}`)
  )
  expect(sweep.rows(0, 3)).toEqual([
    { index: 0, params: 'theta = 1e-400', values: 'ZZ: 0.12345678901234567890 ± 0.03', error: '' },
    { index: 1, params: 'theta = "x"', values: '–', error: 'not a number' },
    { index: 2, params: '', values: '12345678901234567890', error: '' }
  ])
  expect(sweep.overview).toEqual({ points: 3, failed: 1, parameters: ['theta'], hasCounts: false, provenance: [] })
  expect([sweep.counts(0), sweep.counts(7)]).toEqual([null, null])
})

test('a piece of a sweep is small, however many names, observables and characters its points have', () => {
  const values = Array.from({ length: 40 }, (_, at) => ({ observable: `Z${at}`, value: at, standard_error: 0 }))
  const point = (index: number) =>
    JSON.stringify({
      index,
      params: { [`p${index}`]: index, [`q${index}`]: 'x'.repeat(50_000) },
      expectation_values: values
    })
  const sweep = opened(ofSweep(Array.from({ length: 80 }, (_, index) => point(index)).join(',')))
  expect(sweep.overview.parameters.length).toBeLessThanOrEqual(50)
  const plot = sweep.plot(null)
  expect([plot.series.length, plot.leftOut]).toEqual([6, 34])
  expect(JSON.stringify(sweep.rows(0, 80)).length).toBeLessThan(80 * 5_000)
})

test('the counts of a point are those of its number, exactly', () => {
  const sweep = opened(ofSweep('{"index":0,"params":{}},{"index":1,"params":{},"counts":{"00":9007199254740993}}'))
  expect(sweep.overview.hasCounts).toBe(true)
  expect(sweep.counts(1)).toMatchObject({ value: { counts: { total: 9007199254740993n } } })
})

test('a result that is no sweep, or cut off, has no points', () => {
  expect(openSweep('{"counts":{"0":1},"metadata":{}}')).toBeNull()
  expect(openSweep('{"points":[{"index":0')).toMatchObject({ kind: 'refused' })
})
