import { expect, test } from '@jest/globals'
import { readSweep, sweepData } from '../../../apps/console/results/sweep.js'

const observed = (value: number, error: number | null) => ({
  observable: 'ZZ',
  value,
  standard_error: error,
  method: 'sampled'
})
const result = JSON.stringify({
  points: [
    { index: 0, params: { shots: 100, theta: 0, label: 'a' }, counts: {}, expectation_values: [observed(1, 0)] },
    { index: 1, params: { shots: 100, theta: 1.5, label: 'b' }, expectation_values: [observed(0.1, 0.03)] },
    { index: 2, params: { shots: 100, theta: 'x' }, error: { code: 'execution_error', message: '...' } },
    { index: 3, params: { shots: 100, theta: 3, noise_model: {} }, value: -0.25 },
    { index: 4, params: { shots: 100, theta: 4 }, expectation_values: [observed(-1, null)] }
  ],
  total_points: 5,
  failed_points: [2],
  metadata: { sweep: true }
})

const read = (text: string) => {
  const reading = readSweep(text)
  if (reading?.kind !== 'read') throw new Error('not read')
  return reading.value
}

test('a sweep is plotted against any parameter that is not the same at every point', () => {
  const sweep = read(result)
  expect(sweep.parameters).toEqual(['theta', 'label'])
  expect(sweep.failed).toBe(1)
  expect(sweepData(sweep, 'theta')).toEqual({
    parameter: 'theta',
    series: [
      {
        name: 'ZZ',
        points: [
          { x: 0, y: 1, error: 0 },
          { x: 1.5, y: 0.1, error: 0.03 },
          { x: 4, y: -1, error: null }
        ]
      },
      { name: 'value', points: [{ x: 3, y: -0.25, error: null }] }
    ]
  })
})

test('without such a parameter it is plotted against the number of the point', () => {
  expect(sweepData(read(result), null).series[0]!.points.map(({ x }) => x)).toEqual([0, 1, 4])
})

test('any other result is none, and a broken one is refused', () => {
  expect(readSweep('{"counts":{}}')).toBeNull()
  expect(readSweep('{"points":5,"metadata":{"sweep":true}}')).toMatchObject({ kind: 'refused' })
  expect(readSweep('{"points":[')).toMatchObject({ kind: 'refused' })
})
