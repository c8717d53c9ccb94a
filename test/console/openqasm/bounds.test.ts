import { describe, expect, test } from '@jest/globals'
import { OPERATIONS_MAX, TEXT_LENGTH_MAX } from '../../../apps/console/openqasm/limits.js'
import { readCircuit } from '../../../apps/console/openqasm/read-circuit.js'
import { circuitOf } from '../support/meaning.js'

const HEAD = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
const QELIB = 'OPENQASM 2.0;\ninclude "qelib1.inc";\n'
/** Of this process alone: other work on the machine does not count. */
const PROCESSOR_SECONDS_MAX = 10

const doubling = (times: number, call: string): string =>
  Array.from({ length: times }, (_, k) => `gate g${k + 1} a { g${k} a; g${k} a; }\n`).join('') + call

const hostile: [name: string, text: string, words: RegExp][] = [
  ['a text that is too long', `${HEAD}qubit q;\n${' '.repeat(TEXT_LENGTH_MAX)}`, /characters, at most/],
  ['parentheses without end', `${HEAD}qubit q;\nrx(${'('.repeat(20_000)}1) q;`, /nested too deeply/],
  ['version 2: parentheses without end', `${QELIB}qreg q[1];\nrx(${'('.repeat(20_000)}1) q;`, /nested too deeply/],
  ['signs without end', `${HEAD}qubit q;\nrx(${'-'.repeat(20_000)}1) q;`, /nested too deeply/],
  ['blocks without end', `${HEAD}qubit q;\nbit c;\n${'if (c) {'.repeat(20_000)}`, /nested too deeply/],
  [
    'gates that double 60 times',
    `${HEAD}gate g0 a { h a; }\n${doubling(60, 'qubit q;\ng60 q;')}`,
    /expands to more than/
  ],
  [
    'version 2: gates that double 60 times',
    `${QELIB}gate g0 a { h a; }\n${doubling(60, 'qreg q[1];\ng60 q[0];')}`,
    /expands to more than/
  ],
  [
    'a loop that is too long',
    `${HEAD}qubit q;\nfor int i in [0:1000000000000] { rx(i) q; }`,
    /the loop is longer than/
  ],
  [
    'loops in loops that do nothing',
    `${HEAD}qubit q;\nfor int i in [0:9999] { for int j in [0:9999] { const int k = i + j; } }`,
    /expands to more than/
  ],
  ['a register without end', `${HEAD}qubit[99999999999999999999] q;`, /at most \d+ are possible/],
  ['version 2: a register without end', `${QELIB}qreg q[99999999999999999999];`, /at most \d+ are read/],
  ['bits without end', `${HEAD}qubit q;\nbit[5000] c;`, /at most 4096 are possible/],
  ['a hardware qubit far away', `${HEAD}x $99999999999999;`, /at most \d+ are read/],
  [
    'a power without end',
    `${HEAD}gate g a, b { h a; cx a, b; }\nqubit[2] q;\npow(1000000000) @ g q[0], q[1];`,
    /expands to/
  ]
]

describe('a program that would take the page with it is refused soon', () => {
  test.each(hostile)('%s', (_, text, words) => {
    const began = process.cpuUsage()
    expect(readCircuit(text)).toEqual({ faults: [expect.objectContaining({ message: expect.stringMatching(words) })] })
    expect(process.cpuUsage(began).user / 1e6).toBeLessThan(PROCESSOR_SECONDS_MAX)
  })
})

test('a circuit of as many operations as are read is read, and one more is not', () => {
  const text = (count: number) => `${HEAD}qubit q;\nfor int i in [1:${count / 4}] { x q; x q; x q; x q; }`
  expect(circuitOf(text(100_000)).operations.length).toBe(100_001)
  const twice = `${text(100_000)}\nfor int i in [1:25000] { x q; x q; x q; x q; }\n`
  expect(circuitOf(twice).operations.length).toBe(OPERATIONS_MAX + 1)
  expect(readCircuit(`${twice}x q;`)).toEqual({
    faults: [
      expect.objectContaining({ message: expect.stringContaining('expands to more than 200000 operations'), line: 6 })
    ]
  })
})

test('what is drawn is what was written, with its place in the text', () => {
  const { calls, operations } = circuitOf(
    `${HEAD}qubit[3] q;\nbit[3] c;\nccx q[0], q[1], q[2];\n  ctrl @ rz(0.5) q[2],\n  q[0];\nh q[1:2];\nif (c[0]) { cx q[2], q[1]; }\nc = measure q;`
  )
  expect(calls.slice(0, 6)).toEqual([
    { name: 'ccx', angles: [], qubits: [0, 1, 2], controls: 2, line: 5, column: 1 },
    { name: 'ctrl @ rz', angles: [0.5], qubits: [2, 0], controls: 1, line: 6, column: 3 },
    { name: 'h', angles: [], qubits: [1], controls: 0, line: 8, column: 1 },
    { name: 'h', angles: [], qubits: [2], controls: 0, line: 8, column: 1 },
    { name: 'if', angles: [], qubits: [1, 2], controls: 0, line: 9, column: 1 },
    { name: 'cx', angles: [], qubits: [2, 1], controls: 1, line: 9, column: 13 }
  ])
  expect(operations[1]).toEqual({
    kind: 'gate',
    name: 'rz',
    angles: [0.5],
    controls: [{ qubit: 2, value: 1 }],
    targets: [0],
    call: 1
  })
})
