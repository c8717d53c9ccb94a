import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import loadQulacs from 'qulacs-wasm-simulator-client/lib/wasm/module.js'
import type { Circuit, GateName } from '../../../apps/console/circuit/circuit.js'
import { simulate as own } from '../../../apps/console/simulators/own/simulate.js'
import { simulate as quantumCircuit } from '../../../apps/console/simulators/quantum-circuit/simulate.js'
import { simulateWith } from '../../../apps/console/simulators/qulacs/simulate.js'
import { type Simulate, SimulationRefused } from '../../../apps/console/simulators/simulation.js'
import { everything, rowsOfLane } from '../../support/lane.js'
import { gate, gateShapes, measured, mixed, randomCircuit } from '../support/circuits.js'
import { conformance } from '../support/fixtures.js'
import { circuitOf, distance } from '../support/meaning.js'

// Each load adds listeners to the process.
let module: ReturnType<typeof loadQulacs> | null = null
const qulacs = simulateWith(() => {
  module ??= loadQulacs()
  return module
})
const others: [string, Simulate][] = [
  ['quantum-circuit', quantumCircuit],
  ['qulacs-wasm', qulacs]
]

/** The largest difference of a probability between two simulators. */
const SAME = 1e-9

const probabilities = async (simulate: Simulate, circuit: Circuit): Promise<Record<string, number>> =>
  (await simulate(circuit, 1, 1, () => {})).probabilities!

describe.each(others)('%s', (name, simulate) => {
  test.each(Object.keys(gateShapes) as GateName[])(
    'reads %s under no, one, two and three controls as the default simulator',
    async (name) => {
      const [params, targets] = gateShapes[name]
      const angles = [0.7, -1.3, 2.1].slice(0, params)
      for (let controls = 0; controls <= 3; controls++) {
        const places = [3, 0, 2].slice(0, controls)
        const free = [1, 4].slice(0, targets)
        for (const value of [1, 0] as const) {
          const made = gate(name, angles, places, ...free)
          const tested = { ...made, controls: made.controls.map(({ qubit }) => ({ qubit, value })) }
          const circuit = measured(5, [...mixed(5), tested, ...mixed(5)])
          const found = distance(await probabilities(simulate, circuit), await probabilities(own, circuit), SAME)
          expect([controls, value, found]).toEqual([controls, value, null])
        }
      }
    }
  )

  test('agrees with the default simulator on random circuits', async () => {
    await fc.assert(
      fc.asyncProperty(randomCircuit(5, 25), async (circuit) => {
        expect(distance(await probabilities(simulate, circuit), await probabilities(own, circuit), SAME)).toBeNull()
      }),
      { seed: 21, numRuns: everything ? 40 : 8 }
    )
  })

  test('runs the conformance table with its probabilities and registers, or refuses by name', async () => {
    let ran = 0
    const rows = rowsOfLane(conformance, (_, index) => index % 5 === 0)
    for (const row of rows) {
      const circuit = circuitOf(row.openqasm3)
      try {
        const { metadata, probabilities: found } = await simulate(circuit, 1, 1, () => {})
        expect([row.name, distance(found!, row.probabilities, SAME)]).toEqual([row.name, null])
        expect([row.name, metadata.registers]).toEqual([row.name, row.registers])
        ran++
      } catch (error) {
        if (!(error instanceof SimulationRefused)) throw error
        expect(error.message).toMatch(
          new RegExp(`^line \\d+: ${name} runs gates alone here, not (a measurement|reset|if)`)
        )
      }
    }
    expect(ran).toBeGreaterThan(rows.length / 2)
  })

  test('draws its samples by the seed', async () => {
    const circuit = circuitOf('OPENQASM 2.0; include "qelib1.inc"; qreg q[3]; h q;')
    const [first, again, other] = await Promise.all([7, 7, 8].map((seed) => simulate(circuit, 1000, seed, () => {})))
    expect(first!.counts).toEqual(again!.counts)
    expect(first!.counts).not.toEqual(other!.counts)
    expect(Object.values(first!.counts).reduce((sum, count) => sum + count, 0)).toBe(1000)
  })
})

test('qulacs-wasm refuses 18 qubits with the reason, and runs 17', async () => {
  // As in a worker, which runs one circuit: what the tests above have left in its memory would not leave room.
  const fresh = simulateWith(() => loadQulacs())
  const wide = (qubits: number): Circuit => measured(qubits, [gate('h', [], [], 0), gate('x', [], [0], qubits - 1)])
  await expect(fresh(wide(18), 10, 1, () => {})).rejects.toThrow(/18 qubits, qulacs-wasm has memory for 17/)
  const { counts } = await fresh(wide(17), 1000, 1, () => {})
  expect(Object.keys(counts).sort()).toEqual(['0'.repeat(17), `1${'0'.repeat(15)}1`])
})

test('a qulacs-wasm that cannot be loaded is said to be unavailable, with the reason', async () => {
  const broken = simulateWith(() => Promise.reject(new Error('wasm is blocked by the policy')))
  await expect(broken(measured(1, []), 10, 1, () => {})).rejects.toThrow(
    new SimulationRefused('qulacs-wasm cannot be loaded here: wasm is blocked by the policy')
  )
})

test('quantum-circuit refuses what takes hours', async () => {
  await expect(quantumCircuit(measured(17, []), 10, 1, () => {})).rejects.toThrow(/quantum-circuit takes up to 16/)
})
