import { describe, expect, test } from '@jest/globals'
import { beforeRun } from '../../../apps/console/playground/run/before-run.js'
import { gate, measured } from '../support/circuits.js'

const limits = { warn_from_qubits: 17, qubits_max: 20 }
const wide = (qubits: number) => measured(qubits, [gate('h', [], [], 0)])

describe('before a run in the browser', () => {
  test('nothing is said of a small circuit', () => {
    expect(beforeRun(wide(16), 'statevector-js', 1000, limits)).toEqual({ kind: 'free' })
  })

  test('time and memory are named from the width on that the service states', () => {
    const warned = beforeRun(wide(18), 'statevector-js', 1000, limits)
    expect(warned).toEqual({ kind: 'warned', message: expect.stringMatching(/^18 qubits: .* [\d.]+ m?s and \d+ MiB/) })
    expect(beforeRun(wide(18), 'statevector-js', 1000, { ...limits, warn_from_qubits: 19 })).toEqual({ kind: 'free' })
  })

  test('the chosen simulator is named with what it takes itself, or refused before the press', () => {
    const seventeen = beforeRun(wide(17), 'qulacs-wasm', 1000, limits)
    expect(seventeen).toEqual({
      kind: 'warned',
      message: expect.stringMatching(/ and 19 MiB of memory here on qulacs-wasm\.$/)
    })
    const gates = Array.from({ length: 300 }, (_, at) => gate('ry', [0.3], [], at % 14))
    const slow = beforeRun(measured(14, gates), 'quantum-circuit', 1000, limits)
    expect(slow).toEqual({
      kind: 'warned',
      message: expect.stringMatching(/^14 qubits: .* here on quantum-circuit\.$/)
    })
    expect(beforeRun(measured(14, gates), 'statevector-js', 1000, limits)).toEqual({ kind: 'free' })
    expect(beforeRun(wide(17), 'quantum-circuit', 1000, limits)).toEqual({
      kind: 'refused',
      message: expect.stringContaining('quantum-circuit takes up to 16 here')
    })
  })

  test('a wider circuit than the service states is refused', () => {
    expect(beforeRun(wide(21), 'qulacs-wasm', 1000, limits).kind).toBe('refused')
    expect(beforeRun(wide(9), 'statevector-js', 1000, { ...limits, qubits_max: 8 }).kind).toBe('refused')
  })

  test('shots that are not a number keep the estimate: the run refuses them at their field', () => {
    expect(beforeRun(wide(18), 'statevector-js', Number.NaN, limits).kind).toBe('warned')
  })
})
