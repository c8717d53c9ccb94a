import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Circuit } from '../../../apps/console/circuit/circuit.js'
import { readCircuit } from '../../../apps/console/openqasm/read-circuit.js'
import { estimate } from '../../../apps/console/simulators/own/estimate.js'
import { applyKernel } from '../../../apps/console/simulators/own/kernels.js'
import { planOf } from '../../../apps/console/simulators/own/plan.js'
import { simulate } from '../../../apps/console/simulators/own/simulate.js'
import type { Simulation } from '../../../apps/console/simulators/simulation.js'
import { everything } from '../../support/lane.js'
import { type Gate, measured, randomCircuit } from '../support/circuits.js'
import { circuitOf } from '../support/meaning.js'

const HEAD = 'OPENQASM 3.0; include "stdgates.inc";'
const run = (program: string, shots = 1000, seed = 1): Promise<Simulation> =>
  simulate(circuitOf(HEAD + program), shots, seed, () => {})
const total = ({ counts }: Simulation): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

describe('a run', () => {
  test('shows qubit 0 leftmost, and the state by the index whose highest bit is qubit 0', async () => {
    const { counts, probabilities, amplitudes } = await run('qubit[3] q; x q[0]; ry(pi / 3) q[2];')
    expect(Object.keys(counts).sort()).toEqual(['100', '101'])
    expect(probabilities!['101']).toBeCloseTo(0.25, 12)
    expect(amplitudes![4]![0]).toBeCloseTo(Math.cos(Math.PI / 6), 12)
    expect(amplitudes![5]![0]).toBeCloseTo(0.5, 12)
  })

  test('is repeated exactly by its seed', async () => {
    const program = 'qubit[2] q; bit[2] c; h q[0]; c[0] = measure q[0]; if (c[0]) ry(1) q[1]; c[1] = measure q[1];'
    const [first, again, other] = [await run(program, 500, 3), await run(program, 500, 3), await run(program, 500, 4)]
    expect(first.counts).toEqual(again.counts)
    expect(first.counts).not.toEqual(other.counts)
  })

  test('draws counts that the exact probabilities allow', async () => {
    const shots = 100_000
    const { counts, probabilities } = await run('qubit[4] q; for int i in [0:3] { ry(0.4 + 0.5 * i) q[i]; }', shots)
    for (const [key, chance] of Object.entries(probabilities!)) {
      const deviation = Math.sqrt(shots * chance * (1 - chance))
      expect(Math.abs((counts[key] ?? 0) - shots * chance)).toBeLessThan(6 * deviation + 1)
    }
  })

  test('divides its shots among the ways that measurements go, and loses none', async () => {
    const found = await run('qubit q; bit[6] c; for int i in [0:5] { h q; c[i] = measure q; }', 64_000)
    expect(total(found)).toBe(64_000)
    expect(Object.keys(found.counts)).toHaveLength(64)
    for (const count of Object.values(found.counts)) expect(Math.abs(count - 1000)).toBeLessThan(6 * Math.sqrt(1000))
  })

  test('follows only ways that a shot takes where there are too many, and then says no probabilities', async () => {
    const found = await run('qubit q; bit[60] c; for int i in [0:59] { h q; c[i] = measure q; }', 100)
    expect(total(found)).toBe(100)
    expect(found.probabilities).toBeUndefined()
  })

  test('leaves out the state of a circuit that measures before its end', async () => {
    expect((await run('qubit q; bit c; h q; c = measure q; h q;')).amplitudes).toBeUndefined()
  })

  test('reports its progress from 0 to 1, never backwards', async () => {
    const seen: number[] = []
    const program = 'qubit[3] q; bit[3] c; h q; c[0] = measure q[0]; h q; reset q[1]; h q; c = measure q;'
    await simulate(circuitOf(HEAD + program), 100, 1, (share) => seen.push(share))
    expect(seen.length).toBeGreaterThan(5)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    expect(seen.at(-1)).toBeCloseTo(1, 12)
  })

  test('has facts and metadata in the shape of the server', async () => {
    const { circuit_info, metadata } = await run(
      'qubit[3] q; bit[2] c; bit d; h q[0]; cx q[0], q[1]; barrier q; c[0] = measure q[0]; if (c[0]) x q[2]; d = measure q[2];'
    )
    expect(circuit_info).toEqual({
      num_qubits: 3,
      num_clbits: 3,
      depth: 5,
      size: 5,
      gate_counts: { h: 1, cx: 1, barrier: 1, measure: 2, if_else: 1 },
      two_qubit_gates: 1,
      num_measurements: 2,
      has_mid_circuit_measurement: true,
      diagram: expect.any(String)
    })
    expect(metadata).toMatchObject({
      bit_order: 'qubit 0 leftmost',
      seed: 1,
      engine: 'statevector-js',
      shots_requested: 1000,
      shots_observed: 1000,
      registers: [
        { name: 'c', size: 2 },
        { name: 'd', size: 1, qubits: [2] }
      ]
    })
  })
})

describe('what is not started', () => {
  test('a circuit of 21 qubits, and shots beyond the limits', async () => {
    await expect(run('qubit[21] q; h q;')).rejects.toThrow(
      'circuit needs 21 qubits, the browser has 20; run it on the server'
    )
    for (const shots of [0, 1.5, 100_001])
      await expect(run('qubit q;', shots)).rejects.toThrow(/shots: must be between/)
  })

  test('a run that would take too long, or too much memory, with the estimate', () => {
    const circuit = (program: string) => circuitOf(HEAD + program)
    const measured = (times: number) =>
      circuit(`qubit[20] q; bit[${times}] c; for int i in [0:${times - 1}] { h q; c[i] = measure q[0]; }`)
    expect(() => estimate(measured(40), 1000)).toThrow(/would take up to \d+ minutes/)
    expect(() => estimate(measured(40), 1)).toThrow(/would need up to \d+ MiB/)
    const { seconds, bytes, branches } = estimate(circuit('qubit[17] q; h q;'), 1000)
    expect(branches).toBe(1)
    expect(seconds).toBeLessThan(1)
    expect(bytes).toBeLessThan(2 ** 22)
  })
})

test('20 qubits take the memory of their state and its sums, and no more', async () => {
  const layers = Array.from({ length: 4 }, () => 'ry(0.3) q; for int i in [0:18] { cx q[i], q[i + 1]; }').join(' ')
  const { circuit } = readCircuit(`${HEAD} qubit[20] q; ${layers}`) as { circuit: Parameters<typeof estimate>[0] }
  expect(estimate(circuit, 1000).bytes).toBeLessThan(32 * 2 ** 20)
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const found = await simulate(circuit, 1000, 1, () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  })
  expect(total(found)).toBe(1000)
  expect(most).toBeGreaterThan(16 * 2 ** 20 - 1)
  expect(most).toBeLessThan(64 * 2 ** 20)
})

describe('gates that are put together', () => {
  const alone = (one: Gate): Circuit => measured(4, [one])
  /** The amplitudes after each gate as a run of its own would change them: 4 x 4 blocks and exchanges never meet. */
  const stepwise = (gates: readonly Gate[]): [number, number][] => {
    const state = { re: new Float64Array(16), im: new Float64Array(16) }
    state.re[0] = 1
    for (const one of gates)
      for (const step of planOf(alone(one)).steps)
        if (step.kind === 'kernels') for (const kernel of step.kernels) applyKernel(state, kernel)
    return Array.from(state.re, (re, index) => [re, state.im[index]!])
  }

  test('give each amplitude of the gates one by one, its phase as well', async () => {
    await fc.assert(
      fc.asyncProperty(randomCircuit(4, 40), async (circuit) => {
        const gates = circuit.operations.filter((operation) => operation.kind === 'gate')
        const { amplitudes } = await simulate(circuit, 1, 1, () => {})
        const expected = stepwise(gates)
        const distances = amplitudes!.map(([re, im], at) => Math.hypot(re - expected[at]![0], im - expected[at]![1]))
        expect(Math.max(...distances)).toBeLessThan(1e-12)
      }),
      { seed: 12, numRuns: everything ? 2_000 : 200 }
    )
  })

  test('leave no amplitude where exact arithmetic leaves none', async () => {
    const exact =
      'x q[0]; y q[1]; z q[0]; cx q[0], q[1]; cz q[1], q[2]; s q[1]; swap q[0], q[2]; cx q[2], q[1]; x q[2];'
    const { probabilities } = await run(`qubit[3] q; ${exact}`)
    expect(Object.values(probabilities!)).toEqual([1])
    const chain = 'h q[0]; cx q[0], q[1]; s q[1]; cx q[1], q[2]; z q[2]; cz q[0], q[2]; cx q[2], q[1];'
    expect(Object.keys((await run(`qubit[3] q; ${chain}`)).probabilities!)).toHaveLength(2)
  })
})
