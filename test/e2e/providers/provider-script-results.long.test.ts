// A script gets the same results for its circuits from a provider as from the local simulator, in every framework and
// with every way to run a circuit; and a retried task requests its circuits again.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { changeBackend } from '../../../db/backends/backends.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('provider-script-results')
}, 240_000)

beforeEach(() => platform.ionq.reset())

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const run = (inline_code: string, body: Record<string, unknown> = {}) =>
  platform.submitPaid({ circuit: undefined, inline_code, ...body })

const twoRegisters = `
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister

circuit = QuantumCircuit(QuantumRegister(5, "q"), ClassicalRegister(3, "late"), ClassicalRegister(2, "early"))
circuit.x([0, 3])
circuit.measure([3, 1, 2], [0, 1, 2])
circuit.measure([0, 4], [3, 4])
`

const programs: [string, string][] = [
  [
    'main that returns its counts',
    `${twoRegisters}\ndef main(shots):\n    return {"counts": device.run(circuit, shots)}\n`
  ],
  ['main that returns a circuit', `${twoRegisters}\ndef main():\n    return circuit\n`],
  ['a run at module level', `${twoRegisters}\ncounts = device.run(circuit, shots)\n`],
  [
    'Cirq, measured in an order of its own',
    'import cirq\n\na, b, c = cirq.LineQubit.range(3)\n\ndef main(shots):\n' +
      '    circuit = cirq.Circuit(cirq.X(b), cirq.X(c), cirq.measure(c, a, key="z"), cirq.measure(b, key="a"))\n' +
      '    return {"counts": device.run(circuit, shots)}\n'
  ],
  [
    'PennyLane, with wires of its own',
    'import pennylane as qml\n\ndev = qml.device("default.qubit", wires=["x", "y", "z"])\n\n@qml.qnode(dev)\ndef node():\n' +
      '    qml.PauliX("y")\n    return qml.counts(wires=["y", "x"])\n\ndef main(shots):\n' +
      '    return {"counts": device.run(node, shots)}\n'
  ],
  [
    'OpenQASM text',
    'import qiskit\n\ntext = """OPENQASM 3.0;\\ninclude "stdgates.inc";\\nqubit[3] q;\\nx q[2];\\n"""\n\ndef main(shots):\n' +
      '    return {"counts": device.run(text, shots)}\n'
  ]
]

test.each(programs)(
  '%s',
  async (_name, code) => {
    const [there, here] = await Promise.all([run(code), run(code, { backend: 'local', execution_mode: 'temporal' })])
    const local = await platform.ended(here)
    expect(local).toMatchObject({ status: 'completed' })
    expect(Object.keys(local.result!.counts)).toHaveLength(1)
    expect(await platform.ended(there)).toMatchObject({
      status: 'completed',
      result: { counts: local.result!.counts },
      actual_cost_usd: 1.3
    })
    expect(platform.ionq.tasks()).toHaveLength(1)
  },
  240_000
)

test('the result of a circuit names the source of its counts, also through a script', async () => {
  const job = await platform.ended(await run(`${twoRegisters}\ndef main():\n    return circuit\n`))
  expect(job.result!.metadata).toMatchObject({
    count_source: 'provider_counts',
    provider_job_id: platform.ionq.tasks()[0]!.id,
    shots_observed: 100,
    registers: [
      { name: 'late', size: 3 },
      { name: 'early', size: 2 }
    ]
  })
}, 240_000)

test('a task whose circuit the provider refuses is retried with another one', async () => {
  platform.ionq.fault({ match: { method: 'POST', path: '/jobs' }, kind: 'status', status: 400 })
  const id = await run(`
import marqov
from qiskit import QuantumCircuit

@marqov.task(retries=1)
def sample():
    circuit = QuantumCircuit(1)
    circuit.x(0)
    return device.run(circuit, 100)

@marqov.workflow
def once():
    return sample()
`)
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', result: { '1': 100 }, actual_cost_usd: 1.3 })
  const attempts = (await platform.attempts(id)) as unknown as { task: string; state: string; cost_usd: number }[]
  expect(attempts.filter(({ task }) => task === 'task_0001')).toMatchObject([
    { state: 'failed', cost_usd: 0 },
    { state: 'completed', cost_usd: 1.3 }
  ])
}, 240_000)

test('the next circuit after a price rise is reserved at the new price', async () => {
  const { db } = platform.connection
  platform.ionq.timing({ queueMs: 86_400_000, runMs: 0 })
  const id = await run(`
from qiskit import QuantumCircuit

def main(shots):
    circuit = QuantumCircuit(1)
    circuit.x(0)
    return {"seen": [device.run(circuit, shots) for _ in range(2)]}
`)
  await platform.paidTasks(1)
  await changeBackend(db, 'ionq-direct-forte-1', {
    pricing: { taskFee: 500_000n, perShot: 10_000n, minimumCost: 500_000n }
  })
  try {
    platform.ionq.advance(2 * 86_400_000)
    await platform.paidTasks(2)
    platform.ionq.advance(2 * 86_400_000)
    expect(await platform.ended(id)).toMatchObject({ status: 'completed', actual_cost_usd: 2.6 })
  } finally {
    await changeBackend(db, 'ionq-direct-forte-1', {
      pricing: { taskFee: 300_000n, perShot: 10_000n, minimumCost: 300_000n }
    })
  }
  expect([
    ...(await db.execute(
      sql`select estimate_micro::text as price from provider_tasks where job_id = ${id} order by attempt`
    ))
  ]).toEqual([{ price: '1300000' }, { price: '1500000' }])
}, 240_000)

test('each circuit of a script is paid once while workers keep being killed', async () => {
  platform.ionq.timing({ queueMs: 700, runMs: 0 })
  const id = await run(`
from qiskit import QuantumCircuit

def main(shots):
    seen = []
    for n in range(3):
        circuit = QuantumCircuit(3)
        circuit.x(n)
        seen.append(device.run(circuit, shots))
    return {"seen": seen}
`)
  for (const tasks of [1, 2, 3]) {
    await platform.paidTasks(tasks)
    await platform.kill('worker')
    await platform.start.worker()
  }
  expect(await platform.ended(id, 120_000)).toMatchObject({
    status: 'completed',
    result: { seen: [{ '100': 100 }, { '010': 100 }, { '001': 100 }] },
    actual_cost_usd: 3.9
  })
  expect(platform.ionq.tasks()).toHaveLength(3)
}, 240_000)
