// Expectation values and mitigation of circuits at a provider: each circuit that they need is reserved at submission, sent
// once and paid once. The emulator's ledger shows what was paid.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { longTest } from '../../support/lane.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('provider-observables')
}, 240_000)

beforeEach(() => platform.ionq.reset())

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const DAY_MS = 86_400_000
/** Qubit 0 is 1, qubit 1 is +, and qubit 2 is 0. */
const asymmetric = {
  format: 'qasm3',
  payload: 'OPENQASM 3.0; include "stdgates.inc"; qubit[3] q; bit[3] c; x q[0]; h q[1]; c = measure q;'
}
const observables = ['ZII + IIZ', 'IXI - 0.5*ZXZ', 'ZYI']

/** Each circuit has 100 shots and costs 1.30 USD. */
const run = (params: Record<string, unknown>, body: Record<string, unknown> = {}) =>
  platform.submitPaid({ circuit: asymmetric, params: { shots: 100, ...params }, ...body })

test.each([
  ['OpenQASM', {}],
  [
    'Qiskit',
    {
      circuit: undefined,
      inline_code: `
from qiskit import QuantumCircuit
circuit = QuantumCircuit(3)
circuit.x(0)
circuit.h(1)
circuit.measure_all()
`
    }
  ]
])(
  'a circuit in %s has its values measured group by group, each circuit reserved and paid once',
  async (_name, body) => {
    const id = await run({ observables }, body)
    const job = await platform.ended(id)
    expect(job).toMatchObject({ status: 'completed', estimated_cost_usd: 3.9, actual_cost_usd: 3.9 })
    expect(Object.keys(job.result!.counts).sort()).toEqual(['100', '110'])
    expect(job.result!.expectation_values).toMatchObject([
      { observable: 'ZII + IIZ', value: 0, standard_error: 0, method: 'sampled' },
      { observable: 'IXI - 0.5*ZXZ', value: 1.5, standard_error: 0, method: 'sampled' },
      { observable: 'ZYI', method: 'sampled' }
    ])
    expect(job.result!.metadata).toMatchObject({
      observables: { groups: 2, shots_per_group: 100 },
      shots_observed: 100
    })
    expect(platform.ionq.tasks()).toHaveLength(3)
  },
  240_000
)

test('values of Z alone come from the counts of the circuit itself, and what was reserved for more is released', async () => {
  const id = await run({ observables: ['ZII', 'ZIZ - 2*IIZ'] })
  expect(await platform.ended(id)).toMatchObject({
    status: 'completed',
    estimated_cost_usd: 2.6,
    actual_cost_usd: 1.3,
    result: { expectation_values: [{ value: -1 }, { value: -3 }] }
  })
  expect(platform.ionq.tasks()).toHaveLength(1)
}, 240_000)

test('readout is mitigated by two calibration circuits', async () => {
  const id = await run({ mitigation: { readout: true } })
  const job = await platform.ended(id)
  expect(job).toMatchObject({ status: 'completed', estimated_cost_usd: 3.9, actual_cost_usd: 3.9 })
  expect(Object.keys(job.result!.quasi_probabilities as object).sort()).toEqual(['100', '110'])
  expect(job.result!.mitigation).toMatchObject({ circuits: 3, calibration_shots: 200, readout: { overhead: 1 } })
}, 240_000)

longTest(
  'a worker killed between two circuits: the values come, and each circuit is paid once',
  async () => {
    platform.ionq.timing({ queueMs: DAY_MS, runMs: 0 })
    const id = await run({ observables })
    await platform.paidTasks(1)
    platform.ionq.advance(2 * DAY_MS)
    await platform.paidTasks(2)
    await platform.kill('worker')
    await platform.start.worker()
    platform.ionq.advance(2 * DAY_MS)
    await platform.paidTasks(3)
    platform.ionq.advance(2 * DAY_MS)
    expect(await platform.ended(id, 120_000)).toMatchObject({ status: 'completed', actual_cost_usd: 3.9 })
    expect(platform.ionq.tasks()).toHaveLength(3)
  },
  240_000
)

test('a circuit that the provider refuses fails the job with its reason; what ran before is paid', async () => {
  platform.ionq.fault({ match: { method: 'POST', path: '/jobs' }, kind: 'status', status: 400 })
  const id = await run({ observables })
  const job = await platform.ended(id)
  expect(job).toMatchObject({ status: 'failed', actual_cost_usd: 0 })
  expect(platform.ionq.tasks()).toHaveLength(0)
}, 240_000)
