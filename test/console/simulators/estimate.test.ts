// What a run is said to take before it starts. That the seconds are right is measured: `npm run bench -- console-simulators`.
import { describe, expect, test } from '@jest/globals'
import type { Circuit } from '../../../apps/console/circuit/circuit.js'
import { estimateRun } from '../../../apps/console/simulators/estimate.js'
import { workOf } from '../../../apps/console/simulators/quantum-circuit/estimate.js'
import { simulate as quantumCircuit } from '../../../apps/console/simulators/quantum-circuit/simulate.js'
import { type SimulatorName, simulatorNames } from '../../../apps/console/simulators/simulation.js'
import { denseCircuit } from '../../../bench/support/dense-circuit.js'
import { type Gate, gate, measured } from '../support/circuits.js'
import { circuitOf } from '../support/meaning.js'

const widest: Record<SimulatorName, number> = { 'statevector-js': 20, 'quantum-circuit': 16, 'qulacs-wasm': 17 }
const dense = (qubits: number, depth = 2): Circuit => circuitOf(denseCircuit(qubits, depth))

describe.each(simulatorNames)('the estimate of %s', (name) => {
  test('grows with the width and with the gates', () => {
    const seconds = Array.from({ length: widest[name] - 1 }, (_, at) => estimateRun(name, dense(at + 2), 1000).seconds)
    expect(seconds).toEqual([...seconds].sort((a, b) => a - b))
    const longer = [1, 4, 16, 64].map((depth) => estimateRun(name, dense(10, depth), 1000).seconds)
    expect(longer).toEqual([...longer].sort((a, b) => a - b))
    expect(new Set(longer).size).toBe(longer.length)
  })

  test('holds the state and its sums at least', () => {
    const qubits = widest[name]
    expect(estimateRun(name, dense(qubits), 1000).bytes).toBeGreaterThanOrEqual(24 * 2 ** qubits)
  })
})

test('the default simulator is said to be the fastest, and quantum-circuit to take hundreds of times as long', () => {
  const [own, slow, compiled] = simulatorNames.map((name) => estimateRun(name, dense(16, 10), 1000).seconds)
  expect(compiled).toBeGreaterThan(2 * own!)
  expect(slow).toBeGreaterThan(100 * own!)
})

test('the amplitudes that quantum-circuit is said to hold are those of its states, at most', async () => {
  const chain = [gate('h', [], [], 0), ...Array.from({ length: 9 }, (_, at) => gate('x', [], [at], at + 1))]
  const programs: [gates: Gate[], amplitudes: number][] = [
    [chain, 2],
    [[...chain, gate('rz', [0.4], [], 3), gate('z', [], [2], 5)], 2],
    [[...chain, gate('ry', [0.4], [], 3)], 4],
    [[0, 1, 2, 0].map((qubit) => gate('ry', [0.4], [], qubit)), 16]
  ]
  for (const [gates, amplitudes] of programs) {
    const circuit = measured(10, gates)
    expect(
      workOf(
        10,
        gates.map((one) => ({ kind: 'gate', ...one, call: 0 }))
      ).amplitudes
    ).toBe(amplitudes)
    const { probabilities } = await quantumCircuit(circuit, 1, 1, () => {})
    expect(Object.keys(probabilities!).length).toBeLessThanOrEqual(amplitudes)
  }
})

test('what a simulator cannot do is refused by the estimate, in the words of the run', () => {
  const refusals: [SimulatorName, Circuit, RegExp][] = [
    ['quantum-circuit', measured(17, []), /quantum-circuit takes up to 16/],
    ['qulacs-wasm', measured(18, []), /has memory for 17/],
    ['quantum-circuit', circuitOf('OPENQASM 3.0; qubit q; reset q;'), /^line 1: quantum-circuit runs gates alone/],
    ['quantum-circuit', dense(16, 200), /more than 10 minutes/],
    ['qulacs-wasm', dense(2, 7_000), /more than 20000 gates/]
  ]
  for (const [name, circuit, words] of refusals) expect(() => estimateRun(name, circuit, 1000)).toThrow(words)
})

test('a program of 200,000 gates under eight controls is refused before they are written out', () => {
  const gates = Array.from({ length: 200_000 }, (_, at) => gate('ry', [at], [0, 1, 2, 3, 4, 5, 6, 7], 8))
  const circuit = measured(9, gates)
  expect(() => estimateRun('quantum-circuit', circuit, 1)).toThrow(/more than 10 minutes/)
  expect(() => estimateRun('qulacs-wasm', circuit, 1)).toThrow(/more than 20000 gates/)
})
