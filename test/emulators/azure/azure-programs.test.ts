// The emulated Azure runs the programs that it accepts: bits in the order of each format, gates with their published matrices,
// and a reason for every program that it cannot run.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { readQasm2 } from '../../../apps/emulators/azure/programs/qasm2.js'
import { readQuil } from '../../../apps/emulators/azure/programs/quil.js'
import { type Operation, touchedBy, weightsOf } from '../../../apps/emulators/simulator/execution.js'
import * as dense from '../dense.js'
import { type Azure, startAzure } from './azure-client.js'

const h2 = 'quantinuum.qpu.h2-1'
const qvm = 'rigetti.sim.qvm'
const ideal = 'ionq.simulator'
let azure: Azure

beforeAll(async () => {
  azure = await startAzure()
})
beforeEach(() => azure.control.reset())
afterAll(() => azure.close())

async function resultOf(target: string, program?: string, shots = 20) {
  const { record, result } = await azure.run({ target, shots, ...(program !== undefined && { program }) })
  if (!result) throw new Error(JSON.stringify(record.errorData ?? record))
  return result
}

const circuit = (qubits: number, ...gates: object[]): string => JSON.stringify({ qubits, circuit: gates })
const x = (target: number) => ({ gate: 'x', target })
const qasm = (text: string): string => `OPENQASM 2.0;\ninclude "qelib1.inc";\n${text}`

/** The different texts or rows of every register, without repetitions. */
const seen = (result: Record<string, unknown[]>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(result).map(([name, shots]) => [
      name,
      [...new Set(shots.map((shot) => [shot].flat().join('')))].sort()
    ])
  )

describe('X on qubit 0 of three', () => {
  test('is the number 1 for IonQ', async () => {
    expect(await resultOf(ideal)).toEqual({ histogram: { 1: 1 } })
    expect(await resultOf('ionq.qpu.forte-1')).toEqual({ histogram: { 1: 1 } })
  })

  test('is the last character for Quantinuum', async () => {
    expect(await resultOf(h2, undefined, 3)).toEqual({ c: ['001', '001', '001'] })
  })

  test('is the first cell for Rigetti', async () => {
    expect(await resultOf(qvm, undefined, 2)).toEqual({
      ro: [
        [1, 0, 0],
        [1, 0, 0]
      ]
    })
  })

  test('is nothing for the syntax checker', async () => {
    expect(await resultOf('quantinuum.sim.h2-1sc', undefined, 2)).toEqual({ c: ['000', '000'] })
  })
})

describe('nine qubits, of which 0 and 7 are set,', () => {
  const all = [...Array(9).keys()]
  test.each<[string, string, unknown]>([
    [ideal, circuit(9, x(0), x(7)), { histogram: { [1 + 128]: 1 } }],
    [h2, qasm('qreg q[9];\ncreg c[9];\nx q[0];\nx q[7];\nmeasure q -> c;'), { c: ['010000001'] }],
    [
      qvm,
      `DECLARE ro BIT[9]\nX 0\nX 7\n${all.map((qubit) => `MEASURE ${qubit} ro[${qubit}]`).join('\n')}`,
      { ro: [[1, 0, 0, 0, 0, 0, 0, 1, 0]] }
    ]
  ])('%s', async (target, program, expected) => {
    expect(await resultOf(target, program, 1)).toEqual(expected)
  })
})

describe('two registers of different width with crossed measurements', () => {
  test('have one text each, every register last bit first', async () => {
    const program = qasm(`qreg q[5];
      creg first[3]; creg second[2];
      x q[0]; x q[3];
      measure q[3] -> first[0]; measure q[1] -> first[1]; measure q[2] -> first[2];
      measure q[0] -> second[0]; measure q[4] -> second[1];`)
    expect(await resultOf(h2, program, 1)).toEqual({ first: ['001'], second: ['01'] })
  })

  test('have one list each, in the order of the cells', async () => {
    const program = `DECLARE first BIT[3]; DECLARE second BIT[2]
      X 0 # the first
      X 3
      MEASURE 3 first[0]; MEASURE 1 first[1]; MEASURE 2 first[2]
      MEASURE 0 second[0]; MEASURE 4 second[1]`
    expect(await resultOf(qvm, program, 1)).toEqual({ first: [[1, 0, 0]], second: [[1, 0]] })
  })
})

test('a bit that nothing is measured into stays zero', async () => {
  const program = qasm('qreg q[2];\ncreg c[3];\ncreg d[1];\nx q;\nmeasure q[1] -> c[2];')
  expect(await resultOf(h2, program, 1)).toEqual({ c: ['100'], d: ['0'] })
  expect(await resultOf(qvm, 'DECLARE ro BIT[2]\nX 1\nMEASURE 1 ro[1]', 1)).toEqual({ ro: [[0, 1]] })
})

describe('OpenQASM 2 that measures before its end', () => {
  const run = async (text: string, shots = 200) => seen(await resultOf(h2, qasm(text), shots))

  test('uses a qubit again', async () => {
    const text = 'qreg q[1];\ncreg c[2];\nh q[0];\nmeasure q[0] -> c[0];\nx q[0];\nmeasure q[0] -> c[1];'
    expect(await run(text)).toEqual({ c: ['01', '10'] })
  })

  test('resets qubits, one or a register', async () => {
    const text = (what: string) => `qreg q[2];\ncreg c[2];\nx q;\nreset ${what};\nmeasure q -> c;`
    expect(await run(text('q[0]'))).toEqual({ c: ['10'] })
    expect(await run(text('q'))).toEqual({ c: ['00'] })
  })

  test('decides by the value of a register, whose bit 0 counts least', async () => {
    const text = `qreg q[3]; creg c[2]; creg d[2];
      x q[0]; measure q[0] -> c[0];
      if (c == 1) x q[1];
      if (c == 2) x q[2];
      measure q[1] -> d[0]; measure q[2] -> d[1];`
    expect(await run(text)).toEqual({ c: ['01'], d: ['01'] })
  })

  test('decides once for all bits of a statement', async () => {
    expect(await run('qreg q[2];\ncreg c[2];\nx q;\nif (c == 0) measure q -> c;')).toEqual({ c: ['11'] })
    expect(await run('qreg q[2];\ncreg c[2];\nx q;\nif (c == 1) measure q -> c;')).toEqual({ c: ['00'] })
  })

  test('teleports a state', async () => {
    const text = `qreg q[3]; creg a[1]; creg b[1]; creg c[1];
      ry(1.2) q[0]; rz(0.4) q[0];
      h q[1]; cx q[1], q[2]; cx q[0], q[1]; h q[0];
      measure q[0] -> a[0]; measure q[1] -> b[0];
      if (b == 1) x q[2];
      if (a == 1) z q[2];
      rz(-0.4) q[2]; ry(-1.2) q[2];
      measure q[2] -> c[0];`
    expect(await run(text)).toEqual({ a: ['0', '1'], b: ['0', '1'], c: ['0'] })
  })

  test('repeats its counts after a reset, and has the noise of the machine', async () => {
    const text = qasm('qreg q[1];\ncreg c[2];\nry(1) q[0];\nmeasure q[0] -> c[0];\nreset q[0];\nmeasure q[0] -> c[1];')
    const first = (await resultOf(h2, text, 5000)).c as string[]
    // sin²(1/2) = 0.2298; five standard deviations are 0.030.
    expect(Math.abs(first.filter((one) => one === '01').length / 5000 - Math.sin(0.5) ** 2)).toBeLessThan(0.03)
    azure.control.reset()
    expect((await resultOf(h2, text, 5000)).c).toEqual(first)
    azure.control.noise(1)
    expect(seen(await resultOf(h2, text, 200))).toEqual({ c: ['00', '01', '10', '11'] })
  })
})

test('entangled bits agree in every shot', async () => {
  const program = qasm(
    'qreg q[2];\ncreg a[1];\ncreg b[1];\nh q[0];\ncx q[0], q[1];\nmeasure q[0] -> a[0];\nmeasure q[1] -> b[0];'
  )
  const { a, b } = await resultOf(h2, program, 200)
  expect(a).toEqual(b)
  expect(seen({ a })).toEqual({ a: ['0', '1'] })
  expect(seen(await resultOf(qvm, 'DECLARE ro BIT[2]\nH 0\nCNOT 0 1\nMEASURE 0 ro[0]\nMEASURE 1 ro[1]', 200))).toEqual({
    ro: ['00', '11']
  })
  const { histogram } = await resultOf(
    ideal,
    circuit(2, { gate: 'h', target: 0 }, { gate: 'cnot', control: 0, target: 1 })
  )
  expect(histogram).toEqual({ 0: expect.closeTo(0.5, 12), 3: expect.closeTo(0.5, 12) })
})

test('counts follow the probabilities, and repeat after a reset', async () => {
  const program = qasm('qreg q[1];\ncreg c[1];\nry(1) q[0];\nmeasure q -> c;')
  const first = (await resultOf(h2, program, 10_000)).c as string[]
  // sin²(1/2) = 0.2298; five standard deviations are 0.021.
  expect(Math.abs(first.filter((text) => text === '1').length / 10_000 - Math.sin(0.5) ** 2)).toBeLessThan(0.021)
  azure.control.reset()
  expect((await resultOf(h2, program, 10_000)).c).toEqual(first)
})

test('noise replaces its share of the shots of a machine, and none of a simulator or the checker', async () => {
  azure.control.noise(0.4)
  const program = qasm('qreg q[2];\ncreg c[2];\nx q;\nmeasure q -> c;')
  const { c } = (await resultOf(h2, program, 5000)) as { c: string[] }
  for (const text of ['00', '01', '10'])
    expect(Math.abs(c.filter((one) => one === text).length / 5000 - 0.1)).toBeLessThan(0.03)
  expect(seen(await resultOf(qvm))).toEqual({ ro: ['100'] })
  expect(seen(await resultOf('quantinuum.sim.h2-1sc'))).toEqual({ c: ['000'] })
  const { histogram } = await resultOf('ionq.qpu.forte-1', circuit(2, x(0), x(1)), 5000)
  expect(Math.abs(histogram[3] - 0.7)).toBeLessThan(0.03)
})

describe('a job fails with a reason when its program', () => {
  const declared = 'qreg q[2];\ncreg c[2];\n'
  test.each<[string, string, string, string, string]>([
    [
      'is wider than the machine',
      h2,
      qasm('qreg q[57];\ncreg c[1];\nmeasure q[56] -> c[0];'),
      'NotEnoughQubits',
      '57 qubits'
    ],
    ['is wider than IonQ', ideal, circuit(30, x(29)), 'NotEnoughQubits', '30 qubits'],
    ['uses a qubit beyond the QVM', qvm, 'DECLARE ro BIT[1]\nX 20\nMEASURE 20 ro[0]', 'NotEnoughQubits', '21 qubits'],
    ['has an unknown gate', h2, qasm(`${declared}iswap q[0], q[1];`), 'CompilationError', 'line 5: unknown gate iswap'],
    [
      'has an unknown gate of IonQ',
      ideal,
      circuit(1, { gate: 'iswap', target: 0 }),
      'UnsupportedGate',
      'circuit[0] (iswap)'
    ],
    ['has an unknown gate of Quil', qvm, 'DECLARE ro BIT[1]\nSX 0', 'CompilationError', 'line 2: unknown gate SX'],
    [
      'has gates without their library',
      h2,
      `OPENQASM 2.0;\n${declared}h q[0];`,
      'CompilationError',
      'line 4: unknown gate h'
    ],
    ['is OpenQASM 3', h2, 'OPENQASM 3.0;\nqubit q;', 'CompilationError', 'must begin with "OPENQASM 2.0;"'],
    [
      'is OpenQASM 3 under another name',
      h2,
      qasm('qubit[2] q;'),
      'CompilationError',
      'line 3: "qubit[2] q" is not OpenQASM 2'
    ],
    [
      'tests a register that is not there',
      h2,
      qasm(`${declared}if (d == 1) x q[0];`),
      'CompilationError',
      'line 5: unknown bit register "d"'
    ],
    [
      'declares under an if',
      h2,
      qasm(`${declared}if (c == 1) creg d[1];`),
      'CompilationError',
      'line 5: "creg d[1]" cannot stand under an if'
    ],
    [
      'decides twice',
      h2,
      qasm(`${declared}if (c == 1) if (c == 1) x q[0];`),
      'CompilationError',
      'line 5: unknown gate if'
    ],
    [
      'takes too long shot by shot',
      h2,
      qasm('qreg q[12];\ncreg c[1];\nh q;\nmeasure q[0] -> c[0];\nreset q;\nmeasure q[0] -> c[0];'),
      'SimulationError',
      'one by one'
    ],
    ['defines gates', h2, qasm('gate g a { x a; }'), 'CompilationError', 'does not read blocks'],
    ['measures nothing', h2, qasm(`${declared}x q[0];`), 'CompilationError', 'measures nothing'],
    [
      'measures into a missing bit',
      qvm,
      'DECLARE ro BIT[1]\nMEASURE 0 ro[1]',
      'CompilationError',
      'line 2: ro has no bit 1'
    ],
    [
      'has parameters in memory',
      qvm,
      'DECLARE theta REAL[1]\nRX(theta[0]) 0',
      'CompilationError',
      'line 1: this emulator does not read'
    ],
    ['has a modifier', qvm, 'DECLARE ro BIT[1]\nDAGGER S 0', 'CompilationError', 'line 2: this emulator does not read'],
    ['resets in the middle', qvm, 'DECLARE ro BIT[1]\nX 0\nRESET 0\nMEASURE 0 ro[0]', 'CompilationError', 'line 3'],
    ['is no JSON', ideal, 'circuit', 'InvalidInputData', 'not valid JSON'],
    [
      'has a field that IonQ does not know',
      ideal,
      circuit(1, { gate: 'x', target: 0, when: 1 }),
      'InvalidInputData',
      'when'
    ],
    [
      'is too large to simulate',
      h2,
      qasm('qreg q[30];\ncreg c[1];\nh q;\nmeasure q[0] -> c[0];'),
      'SimulationError',
      'acts on 30 qubits'
    ],
    [
      'has more bits than a result may have',
      h2,
      qasm('qreg q[1];\ncreg c[10000];\nmeasure q[0] -> c[0];'),
      'SimulationError',
      '10000 bits'
    ]
  ])('%s', async (_what, target, program, code, words) => {
    const { record, result } = await azure.run({ target, program, shots: 10_000 })
    expect([record.status, result, record.errorData]).toEqual([
      'Failed',
      null,
      { code, message: expect.stringContaining(words) }
    ])
  })
})

// U(theta, phi, lambda) up to its phase, from rotations.
const u = (theta: number, phi: number, lambda: number): dense.Dense =>
  dense.multiply(
    dense.exponential(phi / 2, dense.Z),
    dense.multiply(dense.exponential(theta / 2, dense.Y), dense.exponential(lambda / 2, dense.Z))
  )
const phase = (angle: number): dense.Dense => dense.diag([1, 0], dense.polar(1, angle))
/** The same with a real first entry, which a control makes visible. */
const u3 = (theta: number, phi: number, lambda: number): dense.Dense =>
  dense.scaled(dense.polar(1, (phi + lambda) / 2), u(theta, phi, lambda))
const sqrtX = dense.scaled(dense.polar(1, Math.PI / 4), dense.exponential(Math.PI / 4, dense.X))
const iswap = dense.multiply(
  dense.exponential(-Math.PI / 4, dense.tensor(dense.X, dense.X)),
  dense.exponential(-Math.PI / 4, dense.tensor(dense.Y, dense.Y))
)
const { controlled, exponential, tensor, I, X, Y, Z, H, SWAP } = dense

/** A layer without symmetries before and after each gate, so that phases and orders show in the probabilities. */
const angles = [0.4, 1.1, 2.0]
const turns = [0.7, 1.9, 0.6]
const layer = angles.flatMap((angle, qubit) => [
  { gate: exponential(angle / 2, Y), on: [qubit] },
  { gate: exponential(turns[qubit]! / 2, Z), on: [qubit] },
  { gate: exponential(angle / 2, X), on: [qubit] }
])
const written = (line: (name: 'ry' | 'rz' | 'rx', angle: number, qubit: number) => string): string =>
  angles
    .flatMap((angle, qubit) => [line('ry', angle, qubit), line('rz', turns[qubit]!, qubit), line('rx', angle, qubit)])
    .join('\n')

function expectSame(operations: readonly Operation[], gate: dense.Dense, on: readonly number[]): void {
  const wanted = dense.probabilities(dense.evolve(3, [...layer, { gate, on }, ...layer]), 3)
  const weights = weightsOf(operations, touchedBy(operations))
  for (const [outcome, probability] of wanted)
    expect([outcome, weights[outcome]]).toEqual([outcome, expect.closeTo(probability, 9)])
}

describe('OpenQASM 2 has the gates of qelib1.inc:', () => {
  test.each<[string, dense.Dense, number[]]>([
    ['u3(0.3, 0.5, 1.7)', u(0.3, 0.5, 1.7), [1]],
    ['u(0.3, 0.5, 1.7)', u(0.3, 0.5, 1.7), [1]],
    ['U(0.3, 0.5, 1.7)', u(0.3, 0.5, 1.7), [1]],
    ['u2(0.5, 1.7)', u(Math.PI / 2, 0.5, 1.7), [1]],
    ['u1(0.9)', phase(0.9), [2]],
    ['p(0.9)', phase(0.9), [2]],
    ['id', I, [0]],
    ['x', X, [1]],
    ['y', Y, [1]],
    ['z', Z, [1]],
    ['h', H, [1]],
    ['s', phase(Math.PI / 2), [1]],
    ['sdg', phase(-Math.PI / 2), [1]],
    ['t', phase(Math.PI / 4), [1]],
    ['tdg', phase(-Math.PI / 4), [1]],
    ['sx', sqrtX, [1]],
    ['sxdg', exponential(-Math.PI / 4, X), [1]],
    ['rx(0.8)', exponential(0.4, X), [2]],
    ['ry(0.8)', exponential(0.4, Y), [2]],
    ['rz(pi/3)', exponential(Math.PI / 6, Z), [2]],
    ['rxx(0.8)', exponential(0.4, tensor(X, X)), [0, 2]],
    ['rzz(0.8)', exponential(0.4, tensor(Z, Z)), [0, 2]],
    ['cx', controlled(1, X), [2, 0]],
    ['CX', controlled(1, X), [2, 0]],
    ['cy', controlled(1, Y), [2, 0]],
    ['cz', controlled(1, Z), [2, 0]],
    ['ch', controlled(1, H), [2, 0]],
    ['crx(0.8)', controlled(1, exponential(0.4, X)), [2, 1]],
    ['cry(0.8)', controlled(1, exponential(0.4, Y)), [2, 1]],
    ['crz(0.8)', controlled(1, exponential(0.4, Z)), [2, 1]],
    ['cu1(0.8)', controlled(1, phase(0.8)), [2, 1]],
    ['cp(0.8)', controlled(1, phase(0.8)), [2, 1]],
    ['cu3(0.3, 0.5, 1.7)', controlled(1, u3(0.3, 0.5, 1.7)), [2, 1]],
    ['ccx', controlled(2, X), [2, 0, 1]],
    ['swap', SWAP, [0, 2]],
    ['cswap', controlled(1, SWAP), [1, 0, 2]]
  ])('%s', (name, gate, on) => {
    const around = written((rotation, angle, qubit) => `${rotation}(${angle}) q[${qubit}];`)
    const call = `${name} ${on.map((qubit) => `q[${qubit}]`).join(', ')};`
    const { operations } = readQasm2(qasm(`qreg q[3];\ncreg c[3];\n${around}\n${call}\n${around}\nmeasure q -> c;`))
    expectSame(operations, gate, on)
  })
})

describe('Quil has the standard gates:', () => {
  test.each<[string, dense.Dense, number[]]>([
    ['I', I, [1]],
    ['X', X, [1]],
    ['Y', Y, [1]],
    ['Z', Z, [1]],
    ['H', H, [1]],
    ['S', phase(Math.PI / 2), [1]],
    ['T', phase(Math.PI / 4), [1]],
    ['PHASE(0.9)', phase(0.9), [2]],
    ['RX(0.8)', exponential(0.4, X), [2]],
    ['RY(0.8)', exponential(0.4, Y), [2]],
    ['RZ(-pi/3)', exponential(-Math.PI / 6, Z), [2]],
    ['CNOT', controlled(1, X), [2, 0]],
    ['CZ', controlled(1, Z), [2, 0]],
    ['CPHASE(0.8)', controlled(1, phase(0.8)), [2, 1]],
    ['CCNOT', controlled(2, X), [2, 0, 1]],
    ['SWAP', SWAP, [0, 2]],
    ['CSWAP', controlled(1, SWAP), [1, 0, 2]],
    ['ISWAP', iswap, [0, 2]]
  ])('%s', (name, gate, on) => {
    const around = written((rotation, angle, qubit) => `${rotation.toUpperCase()}(${angle}) ${qubit}`)
    const { operations } = readQuil(
      `RESET\nDECLARE ro BIT[3]\n${around}\n${name} ${on.join(' ')}\nFENCE 0 1 2\n${around}\n`
    )
    expectSame(operations, gate, on)
  })
})
