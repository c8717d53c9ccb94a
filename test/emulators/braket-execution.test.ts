// The emulated Braket runs the programs that it accepts: bits in the order of the measured qubits, gates with their published
// matrices, and a reason for every program that it cannot run.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { readOpenQasm } from '../../apps/emulators/braket/openqasm.js'
import { touchedBy, weightsOf } from '../../apps/emulators/simulator/execution.js'
import { type Braket, cepheus, forte, garnet, gateAction, startBraket, sv1 } from './braket-client.js'
import * as dense from './dense.js'

let braket: Braket

beforeAll(async () => {
  braket = await startBraket()
})
beforeEach(() => braket.control.reset())
afterAll(() => braket.close())

const regions: Record<string, string> = { [garnet]: 'eu-north-1', [cepheus]: 'us-west-1' }

async function run(
  source: string,
  deviceArn = sv1,
  changes: Record<string, unknown> = {},
  inputs?: Record<string, number>
) {
  const body = { deviceArn, shots: 20, action: gateAction(`OPENQASM 3.0;\n${source}`, inputs), ...changes }
  return braket.run(body, { region: regions[deviceArn] ?? 'us-east-1' })
}

/** The measured qubits, and the rows without repetitions. */
async function rowsOf(...args: Parameters<typeof run>): Promise<[number[], string[]]> {
  const { record, result } = await run(...args)
  if (!result) throw new Error(record.failureReason)
  const { measurements, measuredQubits } = result as { measurements: number[][]; measuredQubits: number[] }
  expect(measurements).toHaveLength(record.shots)
  return [measuredQubits, [...new Set(measurements.map((row) => row.join('')))].sort()]
}

describe('a result has one column for each measured qubit', () => {
  test.each<[string, string, string, number[], string[]]>([
    ['of X on qubit 0 of three', 'qubit[3] q; bit[3] b; x q[0]; b = measure q;', sv1, [0, 1, 2], ['100']],
    ['of nine qubits', 'qubit[9] q; x q[0]; x q[7]; x q[8];', sv1, [0, 1, 2, 3, 4, 5, 6, 7, 8], ['100000011']],
    ['of a subset', 'qubit[4] q; bit[2] b; x q[3]; b[0] = measure q[1]; b[1] = measure q[3];', forte, [1, 3], ['01']],
    [
      'in the order of the bits',
      'qubit[3] q; bit[3] b; x q[2]; b[1] = measure q[0]; b[0] = measure q[2];',
      sv1,
      [2, 0],
      ['10']
    ],
    ['without bits', 'qubit[3] q; x q[1]; measure q[1]; measure q[0];', sv1, [1, 0], ['10']],
    ['of several registers of qubits', 'qubit[2] a; qubit b; x b; cnot b, a[0];', sv1, [0, 1, 2], ['101']],
    ['of qubits of the machine', 'bit[2] b; x $7; b[0] = measure $3; b[1] = measure $7;', garnet, [3, 7], ['01']],
    ['of all qubits of the machine in use', 'x $20; h $1; h $1;', garnet, [1, 20], ['01']],
    [
      'of a verbatim box',
      'bit[1] b;\n#pragma braket verbatim\nbox{\nprx(pi, 0) $4;\n}\nb[0] = measure $4;',
      garnet,
      [4],
      ['1']
    ],
    [
      'of 108 qubits',
      'qubit[108] q; x q[107];',
      cepheus,
      Array.from({ length: 108 }, (_, qubit) => qubit),
      [`${'0'.repeat(107)}1`]
    ]
  ])('%s', async (_name, source, device, measured, rows) => {
    expect(await rowsOf(source, device)).toEqual([measured, rows])
  })
})

test('inputs, expressions, barriers and gates on registers are read', async () => {
  const source = `input float[64] theta;
    // pi in two halves
    qubit[2] q; bit[2] b;
    rx(theta / 2 + theta/2) q; barrier q;
    /* nothing */ b = measure q;`
  expect(await rowsOf(source, sv1, {}, { theta: Math.PI })).toEqual([[0, 1], ['11']])
})

test('a result has the form of its schema, and the duration of a simulator', async () => {
  const { record, result } = await run('qubit q; h q;')
  expect(result).toMatchObject({
    braketSchemaHeader: { name: 'braket.task_result.gate_model_task_result', version: '1' },
    taskMetadata: { id: record.quantumTaskArn, deviceId: sv1, shots: 20, status: 'COMPLETED' },
    additionalMetadata: { simulatorMetadata: { executionDuration: 60_000 } }
  })
  expect((await run('qubit q; h q;', forte)).result.additionalMetadata.simulatorMetadata).toBeUndefined()
})

test('counts follow the probabilities, and repeat after a reset', async () => {
  const source = 'qubit q; ry(1) q;'
  const first = (await run(source, sv1, { shots: 100_000 })).result.measurements as number[][]
  // sin²(1/2) = 0.2298; five standard deviations are 0.0067.
  expect(first.filter(([bit]) => bit === 1).length / 100_000).toBeCloseTo(Math.sin(0.5) ** 2, 2)
  braket.control.reset()
  expect((await run(source, sv1, { shots: 100_000 })).result.measurements).toEqual(first)
})

test('noise replaces its share of the shots of a machine, and none of a simulator', async () => {
  braket.control.noise(0.4)
  const source = 'qubit[2] q; x q;'
  const { measurements } = (await run(source, forte, { shots: 5000 })).result as { measurements: number[][] }
  const share = (text: string) => measurements.filter((row) => row.join('') === text).length / 5000
  for (const text of ['00', '01', '10']) expect(Math.abs(share(text) - 0.1)).toBeLessThan(0.03)
  expect(await rowsOf(source)).toEqual([[0, 1], ['11']])
})

describe('a task fails with a reason when its program', () => {
  test.each<[string, string, string, string]>([
    ['resets', 'qubit q;\nreset q;', sv1, 'line 3: this emulator does not read "reset q"'],
    ['branches', 'qubit q; bit b; b = measure q;\nif (b == 1) { x q; }', sv1, 'does not read blocks'],
    [
      'has a pragma',
      'qubit q;\n#pragma braket noise bit_flip(0.1) q\nh q;',
      sv1,
      'line 3: this emulator does not know "#pragma'
    ],
    ['includes a file', 'include "stdgates.inc";\nqubit q;', sv1, 'line 2: this emulator does not read'],
    ['has an input without a value', 'input float theta;\nqubit q; rx(theta) q;', sv1, 'the input theta has no number'],
    ['goes on after a measurement', 'qubit q; bit b; b = measure q; x q;', sv1, 'x follows the measurement of qubit 0'],
    [
      'measures into two registers',
      'qubit[2] q; bit a; bit b; a = measure q[0]; b = measure q[1];',
      sv1,
      'more than one register'
    ],
    [
      'measures a qubit twice',
      'qubit q; bit[2] b; b[0] = measure q; b[1] = measure q;',
      sv1,
      'qubit 0 is measured twice'
    ],
    [
      'measures a part where all is needed',
      'qubit[2] q; bit b; b = measure q[0];',
      cepheus,
      'requires the measurement of all'
    ],
    ['names the qubits of a simulator', 'x $0;', sv1, 'not supported by simulators'],
    ['is too large for this emulator', 'qubit[23] q; h q;', sv1, 'simulates at most 22'],
    ['is no OpenQASM', 'this is not a program', sv1, 'line 2']
  ])('%s', async (_name, source, device, words) => {
    const { record, result } = await run(source, device)
    expect([record.status, record.failureReason, result]).toEqual(['FAILED', expect.stringContaining(words), null])
  })
})

describe('the gate', () => {
  const o: dense.C = [0, 0]
  const l: dense.C = [1, 0]
  const { polar, diag, controlled, exponential, scaled } = dense
  const half = Math.SQRT1_2
  const v = dense.added(scaled([0.5, 0.5], dense.I), scaled([0.5, -0.5], dense.X))
  const cos = (angle: number): dense.C => [Math.cos(angle), 0]
  const minusISin = (angle: number, phase: number) => polar(Math.sin(angle), phase - Math.PI / 2)
  const between = (a: dense.C, b: dense.C): dense.Dense => [
    [l, o, o, o],
    [o, a, b, o],
    [o, b, a, o],
    [o, o, o, l]
  ]
  const ms = (phase0: number, phase1: number, angle: number): dense.Dense => [
    [cos(angle / 2), o, o, minusISin(angle / 2, -(phase0 + phase1))],
    [o, cos(angle / 2), minusISin(angle / 2, -(phase0 - phase1)), o],
    [o, minusISin(angle / 2, phase0 - phase1), cos(angle / 2), o],
    [minusISin(angle / 2, phase0 + phase1), o, o, cos(angle / 2)]
  ]

  const cases: [string, dense.Dense][] = [
    ['v', v],
    ['vi', dense.added(scaled([0.5, -0.5], dense.I), scaled([0.5, 0.5], dense.X))],
    ['phaseshift(0.7)', diag(l, polar(1, 0.7))],
    [
      'prx(0.7, 0.4)',
      [
        [cos(0.35), minusISin(0.35, -0.4)],
        [minusISin(0.35, 0.4), cos(0.35)]
      ]
    ],
    [
      'gpi(0.4)',
      [
        [o, polar(1, -0.4)],
        [polar(1, 0.4), o]
      ]
    ],
    [
      'gpi2(0.4)',
      [
        [[half, 0], polar(half, -0.4 - Math.PI / 2)],
        [polar(half, 0.4 - Math.PI / 2), [half, 0]]
      ]
    ],
    ['cnot', controlled(1, dense.X)],
    ['cy', controlled(1, dense.Y)],
    ['cv', controlled(1, v)],
    ['ccnot', controlled(2, dense.X)],
    ['cswap', controlled(1, dense.SWAP)],
    ['cphaseshift(0.7)', diag(l, l, l, polar(1, 0.7))],
    ['cphaseshift00(0.7)', diag(polar(1, 0.7), l, l, l)],
    ['cphaseshift01(0.7)', diag(l, polar(1, 0.7), l, l)],
    ['cphaseshift10(0.7)', diag(l, l, polar(1, 0.7), l)],
    ['xx(0.7)', exponential(0.35, dense.tensor(dense.X, dense.X))],
    ['yy(0.7)', exponential(0.35, dense.tensor(dense.Y, dense.Y))],
    ['zz(0.7)', exponential(0.35, dense.tensor(dense.Z, dense.Z))],
    ['xy(0.7)', between(cos(0.35), [0, Math.sin(0.35)])],
    ['iswap', between(o, [0, 1])],
    ['pswap(0.7)', between(o, polar(1, 0.7))],
    [
      'ecr',
      [
        [o, o, [half, 0], [0, half]],
        [o, o, [0, half], [half, 0]],
        [[half, 0], [0, -half], o, o],
        [[0, -half], [half, 0], o, o]
      ]
    ],
    ['ms(0.3, 0.5, 0.7)', ms(0.3, 0.5, 0.7)]
  ]

  test.each(cases)('%s has the published matrix', (call, gate) => {
    const qubits = 3
    const on = [2, 0, 1].slice(0, Math.log2(gate.length))
    const layer = (seed: number) =>
      [0, 1, 2].map((qubit) => ({ qubit, ry: seed + 0.7 * qubit, rz: 1.3 - 0.4 * qubit * seed }))
    const text = (seed: number) =>
      layer(seed).map(({ qubit, ry, rz }) => `ry(${ry}) q[${qubit}]; rz(${rz}) q[${qubit}];`)
    const placed = (seed: number) =>
      layer(seed).flatMap(({ qubit, ry, rz }) => [
        { gate: exponential(ry / 2, dense.Y), on: [qubit] },
        { gate: exponential(rz / 2, dense.Z), on: [qubit] }
      ])
    const operands = on.map((qubit) => `q[${qubit}]`).join(', ')
    const source = `qubit[3] q; ${text(0.4).join('')} ${call} ${operands}; ${text(1.1).join('')}`
    const names = [call.split('(')[0]!, 'ry', 'rz']
    const { operations } = readOpenQasm(source, { operations: names, natives: [] }, {})
    const found = weightsOf(operations, touchedBy(operations))
    const wanted = dense.probabilities(dense.evolve(qubits, [...placed(0.4), { gate, on }, ...placed(1.1)]), qubits)
    for (const [index, probability] of wanted)
      expect([index, found[index]]).toEqual([index, expect.closeTo(probability, 9)])
  })
})
