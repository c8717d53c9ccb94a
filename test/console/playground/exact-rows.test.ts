import { expect, test } from '@jest/globals'
import { amplitudeRows, probabilityRows } from '../../../apps/console/playground/outcome/exact-rows.js'

test('amplitudes are named by their qubits, qubit 0 leftmost, without those that are 0', () => {
  const half = Math.SQRT1_2
  const amplitudes = [
    [0, 0],
    [half, 0],
    [1e-17, -half],
    [0, 0]
  ] as const
  expect(amplitudeRows(amplitudes, 2)).toEqual([
    ['|01⟩', '0.707107', '0.5'],
    ['|10⟩', '−0.707107i', '0.5']
  ])
  expect(amplitudeRows([[0.6, -0.8]], 0)).toEqual([['|⟩', '0.6 − 0.8i', '1']])
})

test('probabilities stand with the largest first, and equal ones in the order of their outcomes', () => {
  expect(probabilityRows({ '11': 0.25, '01': 0.5, '00': 0.25 })).toEqual([
    ['01', '0.5'],
    ['00', '0.25'],
    ['11', '0.25']
  ])
})
