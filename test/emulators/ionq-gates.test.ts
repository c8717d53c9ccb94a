// The emulated IonQ computes what IonQ documents: every gate has its published matrix, in every position.
import { describe, expect, test } from '@jest/globals'
import { readCircuit, type WireGate } from '../../apps/emulators/ionq/circuit.js'
import { newDevices } from '../../apps/emulators/ionq/devices.js'
import { readQasm } from '../../apps/emulators/ionq/qasm3.js'
import { assertRunnable, countOutcomes, drawShots, runExactly } from '../../apps/emulators/ionq/run.js'
import { seededRandom } from '../../apps/emulators/simulator/random.js'
import * as dense from './dense.js'

const simulator = newDevices().get('simulator')!
const forte = newDevices().get('qpu.forte-1')!

type Placed = { gate: dense.Dense; on: number[] }

const run = (qubits: number, circuit: WireGate[], gateset: 'qis' | 'native' = 'qis'): Map<number, number> => {
  const { outcomes, probabilities } = runExactly(readCircuit({ qubits, gateset, circuit }, simulator))
  return new Map(outcomes.map((outcome, index) => [outcome, probabilities[index]!]))
}

function expectSame(found: Map<number, number>, wanted: Map<number, number>): void {
  for (const [outcome, probability] of wanted)
    expect([outcome, found.get(outcome) ?? 0]).toEqual([outcome, expect.closeTo(probability, 9)])
}

const rx = (angle: number) => dense.exponential(angle / 2, dense.X)
const ry = (angle: number) => dense.exponential(angle / 2, dense.Y)
const rz = (angle: number) => dense.exponential(angle / 2, dense.Z)

/** A layer that gives every qubit its own state or basis: after two layers, phases are visible in probabilities. */
function layer(qubits: number, random: () => number): { wire: WireGate[]; placed: Placed[] } {
  const wire: WireGate[] = []
  const placed: Placed[] = []
  for (let qubit = 0; qubit < qubits; qubit++) {
    const angles = [random() * 6, random() * 6, random() * 6]
    wire.push({ gate: 'rz', target: qubit, rotation: angles[0]! }, { gate: 'ry', target: qubit, rotation: angles[1]! })
    wire.push({ gate: 'rx', targets: [qubit], rotation: angles[2]! })
    for (const gate of [rz(angles[0]!), ry(angles[1]!), rx(angles[2]!)]) placed.push({ gate, on: [qubit] })
  }
  return { wire, placed }
}

function native(wire: WireGate[]): WireGate[] {
  // rz from the phases of two half turns; rx and ry from the same between quarter turns that move their axis to z.
  return wire.flatMap(({ gate, target, targets, rotation }) => {
    const [qubit] = targets ?? [target!]
    const turns = rotation! / (2 * Math.PI)
    const half = (phase: number): WireGate => ({ gate: 'gpi', target: qubit!, phase })
    const quarter = (phase: number): WireGate => ({ gate: 'gpi2', target: qubit!, phase })
    if (gate === 'rz') return [half(0), half(turns / 2)]
    const axis = gate === 'rx' ? 0.75 : 0
    return [quarter(axis), half(0), half(turns / 2), quarter(axis + 0.5)]
  })
}

const i: dense.C = [0, 1]
const root = (sign: 1 | -1): dense.Dense =>
  dense.scaled(
    [0.5, 0],
    [
      [
        [1, sign],
        [1, -sign]
      ],
      [
        [1, -sign],
        [1, sign]
      ]
    ]
  )
const one: Record<string, dense.Dense> = {
  x: dense.X,
  not: dense.X,
  y: dense.Y,
  z: dense.Z,
  h: dense.H,
  s: dense.diag([1, 0], i),
  si: dense.diag([1, 0], [0, -1]),
  t: dense.diag([1, 0], dense.polar(1, Math.PI / 4)),
  ti: dense.diag([1, 0], dense.polar(1, -Math.PI / 4)),
  v: root(1),
  vi: root(-1)
}

describe('the gateset qis', () => {
  const cases: [string, WireGate, Placed[]][] = [
    ...Object.entries(one).map(([gate, matrix]): [string, WireGate, Placed[]] => [
      gate,
      { gate, target: 1 },
      [{ gate: matrix, on: [1] }]
    ]),
    ...Object.entries(one).map(([gate, matrix]): [string, WireGate, Placed[]] => [
      `${gate} with two controls`,
      { gate, targets: [1], controls: [3, 0] },
      [{ gate: dense.controlled(2, matrix), on: [3, 0, 1] }]
    ]),
    ['cnot', { gate: 'cnot', control: 2, target: 0 }, [{ gate: dense.controlled(1, dense.X), on: [2, 0] }]],
    ['rx', { gate: 'rx', target: 2, rotation: 1.1 }, [{ gate: rx(1.1), on: [2] }]],
    ['ry', { gate: 'ry', target: 2, rotation: -0.4 }, [{ gate: ry(-0.4), on: [2] }]],
    ['rz', { gate: 'rz', target: 2, rotation: 2.3 }, [{ gate: rz(2.3), on: [2] }]],
    [
      'rz with a control',
      { gate: 'rz', target: 2, control: 0, rotation: 2.3 },
      [{ gate: dense.controlled(1, rz(2.3)), on: [0, 2] }]
    ],
    [
      'ry with a control',
      { gate: 'ry', target: 0, controls: [3], rotation: 0.9 },
      [{ gate: dense.controlled(1, ry(0.9)), on: [3, 0] }]
    ],
    ['swap', { gate: 'swap', targets: [3, 1] }, [{ gate: dense.SWAP, on: [3, 1] }]],
    [
      'swap with a control',
      { gate: 'swap', targets: [3, 1], controls: [0] },
      [{ gate: dense.controlled(1, dense.SWAP), on: [0, 3, 1] }]
    ],
    ...(['X', 'Y', 'Z'] as const).flatMap((letter): [string, WireGate, Placed[]][] => {
      const gate = letter.toLowerCase().repeat(2)
      const matrix = dense.exponential(0.35, dense.tensor(dense.paulis[letter], dense.paulis[letter]))
      return [
        [gate, { gate, targets: [0, 2], rotation: 0.7 }, [{ gate: matrix, on: [0, 2] }]],
        [
          `${gate} with a control`,
          { gate, targets: [0, 2], control: 3, rotation: 0.7 },
          [{ gate: dense.controlled(1, matrix), on: [3, 0, 2] }]
        ]
      ]
    }),
    [
      'one gate on several targets',
      { gate: 'v', targets: [0, 2, 3] },
      [0, 2, 3].map((qubit) => ({ gate: one.v!, on: [qubit] }))
    ],
    [
      'pauliexp, term after term',
      { gate: 'pauliexp', targets: [2, 0], terms: ['XY', 'IZ', 'YY'], coefficients: [0.5, -0.3, 0.8], time: 1.5 },
      [
        { gate: dense.exponential(0.75, dense.tensor(dense.X, dense.Y)), on: [2, 0] },
        { gate: dense.exponential(-0.45, dense.tensor(dense.I, dense.Z)), on: [2, 0] },
        { gate: dense.exponential(1.2, dense.tensor(dense.Y, dense.Y)), on: [2, 0] }
      ]
    ]
  ]

  test.each(cases)('%s has the documented matrix', (_name, wire, placed) => {
    const random = seededRandom(5)
    const [before, after] = [layer(4, random), layer(4, random)]
    const found = run(4, [...before.wire, wire, ...after.wire])
    expectSame(found, dense.probabilities(dense.evolve(4, [...before.placed, ...placed, ...after.placed]), 4))
  })
})

describe('the gateset native', () => {
  // The matrices that IonQ publishes; phases and angles in turns.
  const gpi = (phase: number): dense.Dense => [
    [[0, 0], dense.polar(1, -2 * Math.PI * phase)],
    [dense.polar(1, 2 * Math.PI * phase), [0, 0]]
  ]
  const gpi2 = (phase: number): dense.Dense => {
    const corner = (sign: 1 | -1) => dense.times([0, -1], dense.polar(Math.SQRT1_2, sign * 2 * Math.PI * phase))
    return [
      [[Math.SQRT1_2, 0], corner(-1)],
      [corner(1), [Math.SQRT1_2, 0]]
    ]
  }
  const ms = (phase0: number, phase1: number, angle: number): dense.Dense => {
    const [cos, sin] = [Math.cos(Math.PI * angle), Math.sin(Math.PI * angle)]
    const corner = (turns: number) => dense.times([0, -1], dense.polar(sin, 2 * Math.PI * turns))
    const c: dense.C = [cos, 0]
    const o: dense.C = [0, 0]
    return [
      [c, o, o, corner(-(phase0 + phase1))],
      [o, c, corner(-(phase0 - phase1)), o],
      [o, corner(phase0 - phase1), c, o],
      [corner(phase0 + phase1), o, o, c]
    ]
  }
  const turn = (turns: number) => dense.polar(1, Math.PI * turns)

  const cases: [string, WireGate, Placed][] = [
    ['gpi', { gate: 'gpi', target: 1, phase: 0.13 }, { gate: gpi(0.13), on: [1] }],
    ['gpi2', { gate: 'gpi2', target: 2, phase: 0.31 }, { gate: gpi2(0.31), on: [2] }],
    ['ms', { gate: 'ms', targets: [2, 0], phases: [0.1, 0.27] }, { gate: ms(0.1, 0.27, 0.25), on: [2, 0] }],
    [
      'ms by an angle',
      { gate: 'ms', targets: [0, 1], phases: [0.1, 0.27], angle: 0.11 },
      { gate: ms(0.1, 0.27, 0.11), on: [0, 1] }
    ],
    [
      'zz',
      { gate: 'zz', targets: [0, 2], angle: 0.2 },
      { gate: dense.diag(turn(-0.2), turn(0.2), turn(0.2), turn(-0.2)), on: [0, 2] }
    ],
    ['nop', { gate: 'nop', targets: [0, 1], time: 10 }, { gate: dense.I, on: [0] }]
  ]

  test.each(cases)('%s has the documented matrix', (_name, wire, placed) => {
    const random = seededRandom(9)
    const [before, after] = [layer(3, random), layer(3, random)]
    const found = run(3, [...native(before.wire), wire, ...native(after.wire)], 'native')
    expectSame(found, dense.probabilities(dense.evolve(3, [...before.placed, placed, ...after.placed]), 3))
  })
})

test('qubit k is bit k of an outcome of any width', () => {
  expect([...run(3, [{ gate: 'x', target: 0 }]).keys()]).toEqual([1])
  expect([...run(9, [{ gate: 'x', target: 8 }]).keys()]).toEqual([256])
  const wide = readCircuit({ qubits: 36, gateset: 'qis', circuit: [{ gate: 'x', targets: [0, 35] }] }, forte)
  expect(runExactly(wide)).toMatchObject({ outcomes: [2 ** 35 + 1], probabilities: [1] })
})

describe('OpenQASM 3', () => {
  const probabilitiesOf = (source: string): Map<number, number> => {
    const { outcomes, probabilities } = runExactly(readQasm(source, simulator))
    return new Map(outcomes.map((outcome, index) => [outcome, probabilities[index]!]))
  }

  test('supports several registers, expressions, and gates on whole registers', () => {
    const source = `OPENQASM 3.0;
      include "stdgates.inc"; // the usual
      qubit[2] a; qubit b; bit[3] c;
      /* a is 0 and 1,
         b is 2 */
      ry(2*pi/3 - pi/3) a[1]; cx a[1], b;
      x a[0];
      barrier a;
      c[0] = measure a[0]; c[1] = measure a[1]; measure b -> c[2];`
    const found = probabilitiesOf(source)
    expect([...found.keys()]).toEqual([1, 7])
    expect(found.get(7)).toBeCloseTo(0.25, 9)
    const all = 'OPENQASM 3; include "stdgates.inc"; qubit[3] q; bit[3] c; h q; U(pi, 0, pi) q; c = measure q;'
    expect(probabilitiesOf(all).size).toBe(8)
  })

  test('has the same gates as the JSON format', () => {
    const random = seededRandom(3)
    const { wire } = layer(3, random)
    const line = ({ gate, target, targets, rotation }: WireGate) => `${gate}(${rotation}) q[${target ?? targets![0]}];`
    const pairs: [string, WireGate[]][] = [
      // Up to a global phase.
      [
        'cp(0.4) q[0], q[2];',
        [
          { gate: 'rz', target: 2, control: 0, rotation: 0.4 },
          { gate: 'rz', target: 0, rotation: 0.2 }
        ]
      ],
      [
        'U(0.3, 0.5, 1.7) q[1];',
        [
          { gate: 'rz', target: 1, rotation: 1.7 },
          { gate: 'ry', target: 1, rotation: 0.3 },
          { gate: 'rz', target: 1, rotation: 0.5 }
        ]
      ],
      ['sdg q[1];', [{ gate: 'si', target: 1 }]],
      ['sx q[2];', [{ gate: 'v', target: 2 }]],
      ['ccx q[2], q[0], q[1];', [{ gate: 'x', target: 1, controls: [2, 0] }]],
      ['crz(0.7) q[1], q[0];', [{ gate: 'rz', target: 0, control: 1, rotation: 0.7 }]],
      ['cswap q[0], q[1], q[2];', [{ gate: 'swap', targets: [1, 2], control: 0 }]],
      ['ch q[0], q[1];', [{ gate: 'h', target: 1, control: 0 }]]
    ]
    for (const [text, gates] of pairs) {
      const body = [...wire.map(line), text, ...wire.map(line)].join('\n')
      expectSame(probabilitiesOf(`OPENQASM 3;\nqubit[3] q;\n${body}`), run(3, [...wire, ...gates, ...wire]))
    }
  })

  test.each([
    ['qubit[2] q;\nfoo q[0];', 'line 2: unknown gate foo'],
    ['qubit[2] q;\n\nx $0;', 'line 3: unknown qubit register "$0"'],
    ['qubit[2] q; bit[2] c;\nc[0] = measure q[1];', 'qubit 1 is measured into bit 0'],
    ['qubit[2] q; bit[2] c; c = measure q;\nx q[0];', 'line 2: x follows the measurement of qubit 0'],
    ['qubit q;\nif (true) { x q; }', 'line 2: this emulator does not read blocks'],
    ['qubit q;\nrx(theta) q;', 'line 2: "theta" is not a constant expression'],
    ['qubit q;\nctrl @ x q, q;', 'line 2: this emulator does not read'],
    ['qubit q;\nx q', 'line 2: "x q" does not end with ;'],
    ['qubit[2] q;\ncx q[0], q[0];', 'line 2: cx is given a qubit twice'],
    ['bit c;', 'no qubits']
  ])('%j is refused by its line', (source, message) => {
    expect(() => readQasm(source, simulator)).toThrow(message)
  })
})

test('counts follow the probabilities, and the same seed draws the same counts', () => {
  const exact = runExactly(
    readCircuit({ gateset: 'qis', circuit: [{ gate: 'ry', target: 2, rotation: 1 }] }, simulator)
  )
  const counts = countOutcomes(drawShots(exact, 100_000, { seed: 7, noise: 0 }))
  expect([...counts.keys()]).toEqual([0, 4])
  // sin²(1/2) = 0.2298; five standard deviations are 0.0067.
  expect(counts.get(4)! / 100_000).toBeCloseTo(Math.sin(0.5) ** 2, 2)
  expect(drawShots(exact, 50, { seed: 7, noise: 0 })).toEqual(drawShots(exact, 50, { seed: 7, noise: 0 }))
  expect(drawShots(exact, 50, { seed: 7, noise: 0 })).not.toEqual(drawShots(exact, 50, { seed: 8, noise: 0 }))
})

test('noise replaces its share of the shots by any outcome, and spares the others', () => {
  const exact = runExactly(readCircuit({ gateset: 'qis', circuit: [{ gate: 'x', targets: [0, 1] }] }, simulator))
  const noisy = countOutcomes(drawShots(exact, 40_000, { seed: 7, noise: 0.4 }))
  expect([...noisy.keys()]).toEqual([0, 1, 2, 3])
  // A quarter of the replaced shots returns each outcome.
  for (const outcome of [0, 1, 2]) expect(noisy.get(outcome)! / 40_000).toBeCloseTo(0.1, 2)
})

describe('a circuit that a device cannot run', () => {
  const fault = (circuit: WireGate[], gateset: 'qis' | 'native' = 'qis', qubits?: number) => {
    try {
      assertRunnable(readCircuit({ gateset, circuit, ...(qubits && { qubits }) }, forte))
      return null
    } catch (error) {
      const { code, message } = error as { code: string; message: string }
      return `${code}: ${message}`
    }
  }

  test.each([
    [[{ gate: 'x', target: 0 }], 37, 'NotEnoughQubits: The circuit needs 37 qubits, qpu.forte-1 has 36.'],
    [[{ gate: 'x', target: 36 }], undefined, 'NotEnoughQubits: The circuit needs 37 qubits, qpu.forte-1 has 36.'],
    [[{ gate: 'iswap', targets: [0, 1] }], 2, 'UnsupportedGate: circuit[0] (iswap): the gateset qis has no such gate.'],
    [[{ gate: 'x', target: 2 }], 2, 'InvalidInput: circuit[0] (x): unknown qubit 2 in a circuit of 2.'],
    [[{ gate: 'x', target: -1 }], 2, 'InvalidInput: circuit[0] (x): unknown qubit -1 in a circuit of 2.'],
    [[{ gate: 'x' }], 2, 'InvalidInput: circuit[0] (x): it has no target.'],
    [[{ gate: 'rx', target: 0 }], 2, 'InvalidInput: circuit[0] (rx): it needs rotation.'],
    [[{ gate: 'z', target: 0, rotation: 1 }], 2, 'InvalidInput: circuit[0] (z): it takes no rotation.'],
    [[{ gate: 'cnot', target: 0 }], 2, 'InvalidInput: circuit[0] (cnot): it has no control.'],
    [
      [{ gate: 'cnot', target: 0, control: 0 }],
      2,
      'InvalidInput: circuit[0] (cnot): qubit 0 is both target and control.'
    ],
    [[{ gate: 'swap', targets: [0] }], 2, 'InvalidInput: circuit[0] (swap): it takes 2 targets, not 1.'],
    [[{ gate: 'swap', targets: [1, 1] }], 2, 'InvalidInput: circuit[0] (swap): targets names a qubit twice.'],
    [
      [{ gate: 'x', target: 0, controls: [1, 2, 3, 4, 5, 6, 7, 8] }],
      9,
      'TooManyControls: circuit[0] (x): 8 controls are more than the 7 of a gate.'
    ],
    [
      [{ gate: 'h', targets: Array.from({ length: 23 }, (_, target) => target) }],
      23,
      'SimulationError: The circuit acts on 23 qubits; this emulator simulates at most 22.'
    ]
  ])('%j on %s qubits fails: %s', (circuit, qubits, message) => {
    expect(fault(circuit as WireGate[], 'qis', qubits)).toBe(message)
  })

  test("with a native gate of another device is refused with the gate's name", () => {
    expect(fault([{ gate: 'ms', targets: [0, 1], phases: [0, 0] }], 'native')).toBe(
      'UnsupportedGate: circuit[0] (ms): qpu.forte-1 has no such native gate (it has gpi, gpi2, zz, nop).'
    )
    expect(fault([{ gate: 'zz', targets: [0, 1], angle: 0.25 }], 'native')).toBeNull()
  })
})
