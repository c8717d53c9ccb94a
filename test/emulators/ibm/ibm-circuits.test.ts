// The emulated IBM Quantum runs circuits in the instructions of its devices: bit k of a sample is bit k of its register. Every
// other circuit fails its job with a reason.
import { inflateSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { circuit, type Ibm, isa, startIbm } from './ibm-client.js'

let ibm: Ibm

beforeAll(async () => {
  ibm = await startIbm()
})
beforeEach(() => ibm.control.reset())
afterAll(() => ibm.close())

interface Register {
  samples: string[]
  num_bits: number
}

/** By register: the number of bits, and the samples without repetitions. */
async function samplesOf(text: string, changes: Record<string, unknown> = {}) {
  const { record, result } = await ibm.run({ ...circuit(isa(text), 20), ...changes })
  if (!result) throw new Error(record.state.reason)
  expect(result).toEqual({ results: [{ data: expect.any(Object), metadata: {} }], metadata: {} })
  return Object.fromEntries(
    Object.entries(result.results[0].data as Record<string, Register>).map(([name, { samples, num_bits }]) => {
      expect(samples).toHaveLength(20)
      return [name, [num_bits, ...new Set(samples)]]
    })
  )
}

const measured = (bits: number, from = 0) =>
  Array.from({ length: bits }, (_, bit) => `c[${bit}] = measure $${from + bit};`).join('\n')

describe('a sample has the bits of its register', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['of X on qubit 0 of three', `bit[3] c;\nx $0;\n${measured(3)}`, { c: [3, '0x1'] }],
    ['of X on qubit 2 of three', `bit[3] c;\nx $2;\n${measured(3)}`, { c: [3, '0x4'] }],
    ['of nine qubits', `bit[9] c;\nx $0;\nx $7;\nx $8;\n${measured(9)}`, { c: [9, '0x181'] }],
    [
      'of two crossed registers',
      'bit[3] first;\nbit[2] second;\nx $0;\nx $3;\nfirst[0] = measure $3;\nfirst[1] = measure $1;\n' +
        'first[2] = measure $2;\nsecond[0] = measure $4;\nsecond[1] = measure $0;\n',
      { first: [3, '0x1'], second: [2, '0x2'] }
    ],
    [
      'of some qubits far from the first',
      'bit[2] c;\nx $150;\nc[0] = measure $155;\nc[1] = measure $150;',
      { c: [2, '0x2'] }
    ],
    [
      'of a register that is measured in part',
      'bit[4] c;\nbit[1] d;\nx $1;\nc[2] = measure $1;',
      { c: [4, '0x4'], d: [1, '0x0'] }
    ],
    ['of a register in one statement', 'qubit[2] q;\nbit[2] c;\nx q[1];\nc = measure q;', { c: [2, '0x2'] }],
    [
      'of more bits than a number has',
      `bit[70] c;\nx $69;\n${measured(70)}`,
      { c: [70, `0x${(1n << 69n).toString(16)}`] }
    ],
    ['of a bit that is written twice', 'bit[1] c;\nx $0;\nc[0] = measure $0;\nc[0] = measure $1;', { c: [1, '0x0'] }]
  ])('%s', async (_name, text, data) => {
    expect(await samplesOf(text)).toEqual(data)
  })
})

test('all gates of the basis act, with barriers and comments between them', async () => {
  // H = rz(pi/2) sx rz(pi/2); CX between two H on the target.
  const h = (qubit: number) => `rz(pi/2) $${qubit};\nsx $${qubit};\nrz(pi/2) $${qubit};\n`
  const bell = `bit[2] c;\n${h(3)}${h(16)}// CX\ncz $3, $16;\n${h(16)}id $3;\nbarrier $3, $16;\nc[0] = measure $3;\nc[1] = measure $16;\n`
  const { result } = await ibm.run(circuit(isa(bell), 4_000))
  const { samples } = result.results[0].data.c as Register
  expect([...new Set(samples)].sort()).toEqual(['0x0', '0x3'])
  // Five standard deviations are 158.
  expect(Math.abs(samples.filter((sample) => sample === '0x0').length - 2_000)).toBeLessThan(160)
})

test('several circuits of a job have results in their order, and each its shots', async () => {
  const one = (qubit: number) => isa(`bit[2] c;\nx $${qubit};\n${measured(2)}`)
  const { result } = await ibm.run({
    params: { pubs: [[one(0), null, 3], [one(1)]], options: { default_shots: 2 }, support_qiskit: false, version: 2 }
  })
  expect(result.results.map(({ data }: { data: { c: Register } }) => data.c.samples)).toEqual([
    ['0x1', '0x1', '0x1'],
    ['0x2', '0x2']
  ])
})

test('the samples repeat after a reset', async () => {
  const half = circuit(isa('bit[1] c;\nsx $0;\nc[0] = measure $0;'), 500)
  const first = (await ibm.run(half)).result
  ibm.control.reset()
  expect((await ibm.run(half)).result).toEqual(first)
})

test('noise replaces its share of the samples', async () => {
  ibm.control.noise(0.4)
  const { result } = await ibm.run(circuit(isa(`bit[2] c;\nx $0;\nx $1;\n${measured(2)}`), 5_000))
  const { samples } = result.results[0].data.c as Register
  for (const text of ['0x0', '0x1', '0x2'])
    expect(Math.abs(samples.filter((sample) => sample === text).length / 5_000 - 0.1)).toBeLessThan(0.03)
})

test('for Qiskit, a result has packed bits: the last byte of a shot has bits 0 to 7', async () => {
  const text = isa(`bit[9] c;\nx $0;\n${measured(9)}`)
  const { result } = await ibm.run({ params: { pubs: [[text, null, 3]], version: 2 } })
  expect(result.__type__).toBe('PrimitiveResult')
  const { pub_results, metadata } = result.__value__
  const { field_names, fields, shape } = pub_results[0].__value__.data.__value__
  expect([field_names, shape, metadata.version, metadata.execution.execution_spans.__type__]).toEqual([
    ['c'],
    [],
    2,
    'ExecutionSpans'
  ])
  const { array, num_bits } = fields.c.__value__
  const file = inflateSync(Buffer.from(array.__value__, 'base64'))
  const length = file.readUInt16LE(8)
  expect([num_bits, file.subarray(0, 8).toString('latin1'), (10 + length) % 64]).toEqual([9, '\x93NUMPY\x01\x00', 0])
  expect(file.subarray(10, 10 + length).toString('latin1')).toMatch(/'descr': '\|u1'.*'shape': \(3, 2\), } *\n$/)
  expect([...file.subarray(10 + length)]).toEqual([0, 1, 0, 1, 0, 1])
})

describe('a circuit that the device does not have fails its job with 1517', () => {
  test.each([
    [
      'with a gate outside of the basis',
      'bit[1] c;\nh $0;\nc[0] = measure $0;',
      'unknown gate h in the basis of ibm_fez'
    ],
    ['with a pair that is not coupled', 'cz $0, $2;', 'cz on qubits (0, 2) is not supported'],
    ['with a qubit that the device does not have', 'x $156;', 'ibm_fez has no qubit 156'],
    ['that only measures such a qubit', 'bit[1] c;\nc[0] = measure $200;', 'ibm_fez has no qubit 200'],
    ['with more declared qubits than the device has', 'qubit[157] q;\nx q[0];', 'has 157 qubits but ibm_fez has 156'],
    ['with declared qubits that are not coupled', 'qubit[3] q;\ncz q[0], q[2];', 'cz on qubits (0, 2)']
  ])('%s', async (_name, text, words) => {
    const { record, result } = await ibm.run(circuit(isa(text)))
    expect([record.state.status, record.status, record.state.reason_code, result]).toEqual([
      'Failed',
      'Failed',
      1517,
      null
    ])
    expect(record.state.reason).toMatch(/^Circuits do not match the target definition \(non-ISA circuits\)\. -- /)
    expect(record.state.reason).toMatch(/https:\/\/ibm\.biz\/error_codes#1517$/)
    expect(record.state.reason).toContain(words)
  })
})

test('the reason names the first circuit that cannot run', async () => {
  const good = isa('x $0;')
  const { record } = await ibm.run({ params: { pubs: [[good], [isa('y $0;')], [isa('z $0;')]], version: 2 } })
  expect(record.state.reason).toContain('Circuit 1: line 3: unknown gate y')
})

describe('a circuit beyond this emulator fails its job by name', () => {
  test.each([
    ['with a reset', 'reset $0;', 'Circuit 0: line 3: this emulator does not read "reset $0"'],
    ['with a branch', 'bit[1] c;\nc[0] = measure $0;\nif (c[0]) { x $1; }', 'does not read blocks'],
    ['with a delay', 'delay[100ns] $0;', 'does not read "delay[100ns] $0"'],
    ['with a parameter', 'input float theta;\nrz(theta) $0;', 'does not read "input float theta"'],
    [
      'that goes on after a measurement',
      'bit[1] c;\nc[0] = measure $0;\nx $0;',
      'x follows the measurement of qubit 0'
    ],
    [
      'on too many qubits',
      Array.from({ length: 23 }, (_, qubit) => `sx $${qubit};`).join('\n'),
      'Circuit 0: The circuit acts on 23 qubits; this emulator simulates at most 22.'
    ],
    ['that is no OpenQASM', 'this is not a program', 'line 3']
  ])('%s', async (_name, text, words) => {
    const { record, result } = await ibm.run(circuit(isa(text)))
    expect([record.state, result]).toEqual([{ status: 'Failed', reason: expect.stringContaining(words) }, null])
  })
})
