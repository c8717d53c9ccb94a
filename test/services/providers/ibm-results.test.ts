import { describe, expect, test } from '@jest/globals'
import type { Readout } from '../../../domain/backends/provider-counts.js'
import { countsOfResult } from '../../../services/providers/ibm/results.js'

const registersOf = (sizes: Record<string, number>) => Object.entries(sizes).map(([name, size]) => ({ name, size }))
const upTo = (n: number) => Array.from({ length: n }, (_, at) => at)
const readoutOf = (sizes: Record<string, number>, bits?: number[]): Readout => {
  const registers = registersOf(sizes)
  return { kind: 'clbits', bits: bits ?? upTo(registers.reduce((sum, { size }) => sum + size, 0)), registers }
}
const taskOf = (readout: Readout, shots: number) => ({
  program: { text: '', qubits: readout.bits.length, readout },
  shots
})
const register = (samples: unknown, num_bits: unknown) => ({ samples, num_bits })
const result = (data: unknown) => ({ results: [{ data, metadata: {} }], metadata: { version: 2 } })
const countsOf = (data: unknown, readout: Readout, shots: number) =>
  countsOfResult(JSON.stringify(result(data)), taskOf(readout, shots)).counts

describe('the counts of a result', () => {
  test.each<[string, Record<string, unknown>, Record<string, number>, Record<string, number>]>([
    ['X on qubit 0 of 3', { c: register(['0x1', '0x1'], 3) }, { c: 3 }, { '100': 2 }],
    ['X on qubit 0 of 9', { c: register(['0x1'], 9) }, { c: 9 }, { '100000000': 1 }],
    ['X on qubit 8 of 9', { c: register(['0x100'], 9) }, { c: 9 }, { '000000001': 1 }],
    [
      'different shots, in upper case and with zeros too',
      { c: register(['0x0', '0xA', '0xa', '0x0a', '0xf'], 4) },
      { c: 4 },
      { '0000': 1, '0101': 3, '1111': 1 }
    ],
    [
      'two registers, the first declared leftmost',
      { second: register(['0x1', '0x2'], 2), first: register(['0x1', '0x4'], 3) },
      { first: 3, second: 2 },
      { '10010': 1, '00101': 1 }
    ],
    [
      'a register of 156 bits',
      { c: register([`0x8${'0'.repeat(37)}1`], 156) },
      { c: 156 },
      { [`1${'0'.repeat(154)}1`]: 1 }
    ]
  ])('of %s are canonical', (_what, data, sizes, counts) => {
    const shots = Object.values(counts).reduce((sum, count) => sum + count, 0)
    expect(countsOf(data, readoutOf(sizes), shots)).toEqual(counts)
  })

  test('of two crossed registers have the order of the circuit, not that of the program', () => {
    // Canonical bit 0 is bit 0 of `b`, which the program declares last.
    const readout = readoutOf({ a: 2, b: 1 }, [2, 0, 1])
    expect(countsOf({ a: register(['0x1'], 2), b: register(['0x0'], 1) }, readout, 1)).toEqual({ '010': 1 })
    expect(countsOf({ a: register(['0x0'], 2), b: register(['0x1'], 1) }, readout, 1)).toEqual({ '100': 1 })
  })

  test('of bits that are not read are added up', () => {
    expect(countsOf({ c: register(['0x0', '0x2'], 2) }, readoutOf({ c: 2 }, [0]), 2)).toEqual({ '0': 2 })
  })

  test('of a hundred thousand shots of a wide device take a moment', () => {
    const samples = upTo(100_000).map((shot) => `0x${BigInt(shot + 1).toString(16)}${'7'.repeat(34)}`)
    const counts = countsOf({ c: register(samples, 156) }, readoutOf({ c: 156 }), 100_000)
    expect(Object.keys(counts)).toHaveLength(100_000)
  })
})

describe('a result is refused', () => {
  const readout = readoutOf({ c: 2 })
  const good = register(['0x1', '0x2'], 2)

  test.each<[string, unknown, RegExp]>([
    ['that is no object', [], /not an object/],
    ['in the form of Qiskit', { __type__: 'PrimitiveResult', __value__: {} }, /support_qiskit: true/],
    ['without circuits', {}, /one circuit/],
    ['of no circuit', { results: [] }, /one circuit/],
    ['of two circuits', { results: [{ data: { c: good } }, { data: { c: good } }] }, /one circuit/],
    ['without data', { results: [{}] }, /no samples of the register c/],
    ['with data that are no object', { results: [{ data: ['0x1'] }] }, /no samples of the register c/],
    ['without the register', result({}), /no samples of the register c/],
    ['with a register that the program has not', result({ c: good, meas: good }), /a register meas/],
    ['with fewer bits', result({ c: register(['0x1', '0x0'], 1) }), /another number of bits than the program's 2/],
    ['with more bits', result({ c: register(['0x1', '0x0'], 3) }), /another number of bits/],
    ['with bits as text', result({ c: register(['0x1', '0x0'], '2') }), /another number of bits/],
    ['with fewer shots', result({ c: register(['0x1'], 2) }), /1 samples .* 2 were requested/],
    ['with more shots', result({ c: register(['0x1', '0x1', '0x1'], 2) }), /3 samples .* 2 were requested/],
    ['with samples that are no list', result({ c: register({ 0: '0x1', 1: '0x1', length: 2 }, 2) }), /no samples/],
    ['with a sample that is a number', result({ c: register(['0x1', 1], 2) }), /not a hexadecimal number/],
    ['with a sample without 0x', result({ c: register(['0x1', '01'], 2) }), /not a hexadecimal number/],
    ['with a negative sample', result({ c: register(['0x1', '-0x1'], 2) }), /not a hexadecimal number/],
    ['with an empty sample', result({ c: register(['0x1', '0x'], 2) }), /not a hexadecimal number/],
    ['with a sample of blanks', result({ c: register(['0x1', '0x1 0x1'], 2) }), /not a hexadecimal number/],
    ['with a sample that is too wide', result({ c: register(['0x1', '0x4'], 2) }), /wider than 2 bits/],
    ['with an endless sample', result({ c: register(['0x1', `0x${'0'.repeat(100_000)}`], 2) }), /not a hexadecimal/]
  ])('%s', (_what, value, reason) => {
    expect(() => countsOfResult(JSON.stringify(value), taskOf(readout, 2))).toThrow(reason)
  })

  test('that is no JSON', () => {
    expect(() => countsOfResult('<html>', taskOf(readout, 2))).toThrow()
  })

  test.each<[string, Readout]>([
    ['by qubits', { kind: 'qubits', bits: [0] }],
    ['without registers', { kind: 'clbits', bits: [0] }],
    ['of no register', { kind: 'clbits', bits: [0], registers: [] }]
  ])('for a program %s', (_what, unnamed) => {
    expect(() => countsOfResult(JSON.stringify(result({ c: good })), taskOf(unnamed, 2))).toThrow(/does not name/)
  })

  test('when the program reads a bit that it has not', () => {
    expect(() => countsOf({ c: good }, readoutOf({ c: 2 }, [0, 2]), 2)).toThrow(/no bit 2/)
  })
})
