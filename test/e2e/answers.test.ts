// What the whole service returns in both modes with the real simulator: right counts for good circuits, a failed job
// with its reason for bad ones, and the next job runs.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  asymmetricCirq,
  asymmetricQasm2,
  asymmetricQasm3,
  asymmetricQiskit,
  bellQasm3,
  submission
} from '../support/jobs/builders.js'
import { type JobRecord, type Platform, startPlatform } from '../support/stack/platform.js'

let platform: Platform

beforeAll(async () => {
  platform = await startPlatform('answers')
}, 180_000)

afterAll(() => platform.close())

const countsOf = (job: JobRecord): Record<string, number> => {
  expect(job).toMatchObject({ status: 'completed', error: null })
  return job.result!.counts
}

describe('qubit 0 is the leftmost character of every outcome', () => {
  test.each([
    ['OpenQASM 2', 'direct', { inline_code: asymmetricQasm2(), framework: 'openqasm' }],
    ['OpenQASM 3', 'temporal', { inline_code: asymmetricQasm3(), framework: undefined }],
    [
      'an OpenQASM 3 circuit',
      'direct',
      { inline_code: undefined, framework: undefined, circuit: { format: 'qasm3', payload: asymmetricQasm3() } }
    ],
    [
      'an OpenQASM 2 circuit',
      'temporal',
      { inline_code: undefined, framework: undefined, circuit: { format: 'qasm2', payload: asymmetricQasm2() } }
    ],
    ['Qiskit', 'direct', { inline_code: asymmetricQiskit(), framework: 'qiskit' }],
    ['Qiskit, detected by its import', 'temporal', { inline_code: asymmetricQiskit(), framework: undefined }],
    [
      'Cirq with an import of Qiskit',
      'direct',
      { inline_code: `import numpy as np, qiskit\n${asymmetricCirq()}`, framework: undefined }
    ]
  ])('for %s in mode %s', async (_source, execution_mode, source) => {
    const id = await platform.submit(submission({ ...source, execution_mode, params: { shots: 321 } }))
    expect(countsOf(await platform.ended(id))).toEqual({ '100': 321 })
  })
})

test.each(['direct', 'temporal'])(
  'an expectation value has qubit 0 as its first letter, and its method, in mode %s',
  async (execution_mode) => {
    const params = { shots: 400, theta: Math.PI, observables: ['ZII', 'IIZ', 'IIZ - 0.5*ZII'] }
    const inline_code = 'include "stdgates.inc"; input float theta; qubit[3] q; rx(theta) q[0];'
    const job = await platform.ended(await platform.submit(submission({ inline_code, execution_mode, params })))
    expect(countsOf(job)).toEqual({ '100': 400 })
    const { expectation_values: values } = job.result as unknown as { expectation_values: { value: number }[] }
    expect(values).toMatchObject([
      { observable: 'ZII', method: 'exact', standard_error: 0 },
      { observable: 'IIZ', method: 'exact', standard_error: 0 },
      { observable: 'IIZ - 0.5*ZII', method: 'exact', standard_error: 0 }
    ])
    for (const [at, value] of [-1, 1, 1.5].entries()) expect(values[at]!.value).toBeCloseTo(value, 9)
  }
)

test('two registers are joined in the order of their declaration', async () => {
  const code = `OPENQASM 3.0;
include "stdgates.inc";
qubit[3] q;
bit[2] first;
bit[1] second;
x q[0];
x q[2];
first[0] = measure q[0];
first[1] = measure q[1];
second[0] = measure q[2];
`
  const job = await platform.ended(await platform.submit(submission({ inline_code: code })))
  expect(countsOf(job)).toEqual({ '101': 100 })
  expect(job.result!.metadata).toMatchObject({
    registers: [
      { name: 'first', size: 2 },
      { name: 'second', size: 1 }
    ]
  })
})

test.each([1, 99_999, 100_000])('%i shots add up', async (shots) => {
  const id = await platform.submit(submission({ backend: 'aer-statevector', params: { shots } }))
  const counts = countsOf(await platform.ended(id))
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(shots)
  for (const outcome of Object.keys(counts)) expect(['00', '11']).toContain(outcome)
})

test('a seed makes a run repeatable, in either mode', async () => {
  const ids = await Promise.all(
    ['direct', 'temporal'].map((execution_mode) =>
      platform.submit(submission({ execution_mode, params: { shots: 1000, seed: 7 } }))
    )
  )
  const [one, other] = await Promise.all(ids.map((id) => platform.ended(id)))
  expect(countsOf(one!)).toEqual(countsOf(other!))
})

const qiskit = (code: string) => ({ framework: 'qiskit', inline_code: `from qiskit import QuantumCircuit\n${code}\n` })

// Together, so that each also shows that its neighbours are not affected.
test('code that cannot run fails its job with a reason, and the next job runs', async () => {
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ['an endless loop', { ...qiskit('while True: pass'), timeout_seconds: 3 }, /time limit of 3 s/],
    ['an allocation of 10 GB', qiskit('x = bytearray(10 * 1024 ** 3)'), /memory/i],
    ['a print of 1 GB', qiskit("for _ in range(1024): print('x' * 1024 ** 2)"), /output/i],
    ['10^9 qubits in OpenQASM 3', { inline_code: 'OPENQASM 3.0;\nqubit[1000000000] q;\n' }, /qubits/],
    ['10^9 qubits in OpenQASM 2', { inline_code: 'OPENQASM 2.0;\nqreg q[1000000000];\n' }, /qubits/],
    [
      '10^9 qubits in Qiskit',
      { ...qiskit('circuit = QuantumCircuit(10 ** 9)'), timeout_seconds: 5 },
      /limit|1000000000/
    ],
    ['code without a circuit', qiskit('x = 1'), /No circuit found/],
    ['a syntax error', qiskit('circuit = QuantumCircuit('), /line 2/],
    ['an exit', qiskit('import os; os._exit(3)'), /crashed/],
    ['invalid OpenQASM', { inline_code: 'OPENQASM 3.0;\nnonsense here;\n' }, /line 2/]
  ]
  const jobs = await Promise.all(
    cases.map(async ([what, source]) => ({
      what,
      ...(await platform.ended(await platform.submit(submission(source)), 100_000))
    }))
  )
  for (const [at, [what, , reason]] of cases.entries()) {
    expect(jobs[at]).toMatchObject({ what, status: 'failed', result: null })
    expect(jobs[at]!.error!.message).toMatch(reason)
    expect(['execution_error', 'unsupported_operation']).toContain(jobs[at]!.error!.code)
  }
  expect(countsOf(await platform.ended(await platform.submit(submission({ inline_code: bellQasm3() }))))).toBeDefined()
}, 120_000)

test('a text that only mentions a framework is accepted, and its job says that no language was found', async () => {
  const prose = { inline_code: 'Please run my Bell pair on qiskit', framework: undefined }
  const job = await platform.ended(await platform.submit(submission(prose)))
  expect(job).toMatchObject({ status: 'failed', error: { code: 'language_not_detected' } })
  expect(job.error!.message).toContain('supported frameworks: qiskit, cirq, pennylane, openqasm, marqov')
})

test("a user's own error is not retried in the durable mode", async () => {
  const id = await platform.submit(submission({ ...qiskit('raise ValueError("mine")'), execution_mode: 'temporal' }))
  expect(await platform.ended(id)).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'execution_error' } })
})
