import { describe, expect, test } from '@jest/globals'
import type { Readout } from '../../../domain/backends/provider-counts.js'
import { countsOfResult, isOutputFormat, resultBytesMax } from '../../../services/providers/azure/results.js'

const ionq = 'ionq.quantum-results.v1'
const honeywell = 'honeywell.quantum-results.v1'
const rigetti = 'rigetti.quil-results.v1'
const h2 = 'quantinuum.qpu.h2-1'

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)

const byQubits = (qubits: number, bits = upTo(qubits)) => ({
  text: '{}',
  qubits,
  readout: { kind: 'qubits', bits, registers: [] } satisfies Readout
})

/** @param registers name and size of each. */
const byRegisters = (registers: Record<string, number>, bits?: number[]) => {
  const list = Object.entries(registers).map(([name, size]) => ({ name, size }))
  const all = list.reduce((sum, { size }) => sum + size, 0)
  return {
    text: '',
    qubits: all,
    readout: { kind: 'clbits', bits: bits ?? upTo(all), registers: list } satisfies Readout
  }
}

const ro = (size: number) => byRegisters({ ro: size })

describe("the bits of Quantinuum's shots", () => {
  test.each<[string, ReturnType<typeof byRegisters>, object, Record<string, number>]>([
    ['X on qubit 0 of 3', byRegisters({ c: 3 }), { c: ['001'] }, { '100': 1 }],
    ['X on qubit 0 of 9', byRegisters({ c: 9 }), { c: ['000000001'] }, { '100000000': 1 }],
    ['two registers', byRegisters({ first: 3, second: 2 }), { first: ['001'], second: ['01'] }, { '10010': 1 }],
    [
      'two registers in the other order of the answer',
      byRegisters({ first: 3, second: 2 }),
      { second: ['01'], first: ['011'] },
      { '11010': 1 }
    ],
    ['two crossed registers', byRegisters({ a: 2, b: 2 }, [2, 0, 3, 1]), { a: ['01'], b: ['11'] }, { '1110': 1 }],
    ['a subset of the bits', byRegisters({ c: 3 }, [2, 0]), { c: ['100'] }, { '10': 1 }],
    ['registers of one bit each', byRegisters({ c_0: 1, c_1: 1 }), { c_0: ['1'], c_1: ['0'] }, { '10': 1 }],
    ['a bit that is always 0', byRegisters({ c: 2 }, [0, 2, 1]), { c: ['11'] }, { '101': 1 }],
    ['an access token among them', byRegisters({ c: 1 }), { c: ['1'], access_token: 'x' }, { '1': 1 }],
    ['several shots', byRegisters({ c: 2 }), { c: ['01', '10', '01'] }, { '10': 2, '01': 1 }]
  ])('are canonical for %s', (_what, program, result, counts) => {
    const shots = Object.values(counts).reduce((sum, count) => sum + count, 0)
    expect(countsOfResult(JSON.stringify(result), honeywell, h2, { program, shots })).toEqual({
      counts,
      source: 'provider_measurements',
      probabilities: null
    })
  })

  test('of the syntax checker stay zeros, with a warning', () => {
    const text = JSON.stringify({ c: ['000', '000'] })
    const task = { program: byRegisters({ c: 3 }), shots: 2 }
    expect(countsOfResult(text, honeywell, 'quantinuum.sim.h2-1sc', task)).toMatchObject({
      counts: { '000': 2 },
      warnings: [expect.stringMatching(/^quantinuum\.sim\.h2-1sc checks the program and runs nothing/)]
    })
    expect(countsOfResult(text, honeywell, 'quantinuum.sim.h2-1e', task).warnings).toBeUndefined()
  })

  test('that are fewer than requested are counted, with a warning', () => {
    const task = { program: byRegisters({ c: 1 }), shots: 3 }
    expect(countsOfResult('{"c":["1","1"]}', honeywell, h2, task)).toMatchObject({
      counts: { '1': 2 },
      warnings: ['the provider returned 2 of 3 shots']
    })
  })

  test.each<[string, object | string | null, RegExp]>([
    ['no JSON', '<html>', /not a JSON object/],
    ['nothing', null, /not a JSON object/],
    ['a list', [['01']], /not a JSON object/],
    ['without a register', { a: ['1'] }, /no register b/],
    ['with another register', { a: ['1'], b: ['01'], c: ['1'] }, /a register c, which the program has not/],
    ['of different numbers of shots', { a: ['1', '0'], b: ['01'] }, /different numbers/],
    ['of more shots', { a: Array(11).fill('1'), b: Array(11).fill('01') }, /11 shots, and 10 were requested/],
    ['without shots', { a: [], b: [] }, /no shots/],
    ['of other widths', { a: ['1'], b: ['011'] }, /a shot of b has not 2 bits/],
    ['of lost qubits', { a: ['1'], b: ['-1'] }, /no bit 2/],
    ['of other values', { a: ['2'], b: ['01'] }, /no bit 0/],
    ['with numbers for text', { a: [1], b: ['01'] }, /a shot of a has not 1 bits/],
    ['with text for lists', { a: '1', b: '01' }, /no register a/],
    ['with what every object has', { a: ['1'], b: ['01'], toString: ['1'] }, /a register toString/]
  ])('are refused when they are %s', (_what, result, reason) => {
    const text = typeof result === 'string' ? result : JSON.stringify(result)
    const task = { program: byRegisters({ a: 1, b: 2 }), shots: 10 }
    expect(() => countsOfResult(text, honeywell, h2, task)).toThrow(reason)
  })
})

describe("the cells of Rigetti's shots", () => {
  const qvm = 'rigetti.sim.qvm'

  test.each<[string, ReturnType<typeof byRegisters>, number[][], Record<string, number>]>([
    ['X on qubit 0 of 3', ro(3), [[1, 0, 0]], { '100': 1 }],
    ['X on qubit 0 of 9', ro(9), [[1, 0, 0, 0, 0, 0, 0, 0, 0]], { '100000000': 1 }],
    ['a crossed readout', byRegisters({ ro: 3 }, [2, 0]), [[1, 0, 0]], { '01': 1 }],
    [
      'several shots',
      ro(2),
      [
        [1, 0],
        [0, 1],
        [1, 0]
      ],
      { '10': 2, '01': 1 }
    ]
  ])('are canonical for %s', (_what, program, rows, counts) => {
    const task = { program, shots: rows.length }
    expect(countsOfResult(JSON.stringify({ ro: rows }), rigetti, qvm, task)).toEqual({
      counts,
      source: 'provider_measurements',
      probabilities: null
    })
  })

  test.each<[string, object, RegExp]>([
    ['of another region', { theta: [[1, 0]] }, /no register ro/],
    ['of other widths', { ro: [[1]] }, /a shot of ro has not 2 bits/],
    ['of other values', { ro: [[1, 2]] }, /neither 0 nor 1/],
    ['of text', { ro: [['1', '0']] }, /neither 0 nor 1/],
    ['of truths', { ro: [[true, false]] }, /neither 0 nor 1/],
    ['of more shots', { ro: Array(11).fill([0, 0]) }, /11 shots/],
    ['of texts for rows', { ro: ['10'] }, /has not 2 bits/]
  ])('are refused when they are %s', (_what, result, reason) => {
    expect(() => countsOfResult(JSON.stringify(result), rigetti, qvm, { program: ro(2), shots: 10 })).toThrow(reason)
  })
})

describe("the histogram of IonQ's shots", () => {
  const simulator = 'ionq.simulator'

  test.each<[string, ReturnType<typeof byQubits>, Record<string, number>, Record<string, number>]>([
    ['X on qubit 0 of 3', byQubits(3), { '1': 1 }, { '100': 10 }],
    ['X on qubit 0 of 9', byQubits(9), { '1': 1 }, { '100000000': 10 }],
    ['X on qubit 8 of 9', byQubits(9), { '256': 1 }, { '000000001': 10 }],
    ['two crossed qubits', byQubits(3, [2, 0]), { '1': 1 }, { '01': 10 }],
    ['a bit that nothing measures', byQubits(3, [0, 2, 1]), { '3': 1 }, { '101': 10 }],
    ['outcomes that differ in a qubit that is not read', byQubits(2, [0]), { '0': 0.4, '2': 0.6 }, { '0': 10 }]
  ])('is canonical for %s', (_what, program, histogram, counts) => {
    const text = JSON.stringify({ histogram })
    expect(countsOfResult(text, ionq, simulator, { program, shots: 10 })).toMatchObject({
      counts,
      source: 'probability_derived'
    })
  })

  test('of a quantum computer is its counts, where its shares are whole shots', () => {
    const read = (histogram: object) =>
      countsOfResult(JSON.stringify({ histogram }), ionq, 'ionq.qpu.forte-1', { program: byQubits(1), shots: 10 })
    expect(read({ '0': 0.7, '1': 0.3 })).toEqual({
      counts: { '0': 7, '1': 3 },
      source: 'provider_counts',
      probabilities: { '0': 0.7, '1': 0.3 }
    })
    expect(read({ '0': 0.75, '1': 0.25 }).source).toBe('probability_derived')
  })

  test.each<[string, object, RegExp]>([
    ['missing', { '0': 1 }, /no histogram/],
    ['a list', { histogram: [1] }, /no histogram/],
    ['of outcomes beyond the qubits', { histogram: { '4': 1 } }, /wider than 2 bits/],
    ['of outcomes far beyond', { histogram: { ['9'.repeat(300)]: 1 } }, /not one of the program/],
    ['of other names', { histogram: { '0x1': 1 } }, /not one of the program/],
    ['of negative outcomes', { histogram: { '-1': 1 } }, /not one of the program/],
    ['of text', { histogram: { '0': '1' } }, /not a number/],
    ['of no whole', { histogram: { '0': 0.5 } }, /sum to 0.5/],
    ['of more than a whole', { histogram: { '0': 2 } }, /2 as a probability/],
    ['of negative shares', { histogram: { '0': 1.5, '1': -0.5 } }, /as a probability/]
  ])('is refused when it is %s', (_what, result, reason) => {
    const task = { program: byQubits(2), shots: 10 }
    expect(() => countsOfResult(JSON.stringify(result), ionq, simulator, task)).toThrow(reason)
  })
})

describe('the results of a job', () => {
  test.each([
    [ionq, byRegisters({ c: 1 }), { histogram: { '0': 1 } }, /not read by its qubits/],
    [honeywell, byQubits(1), { c: ['0'] }, /names no registers/],
    [rigetti, byQubits(1), { ro: [[0]] }, /names no registers/],
    [rigetti, byRegisters({ ro: 1, c: 1 }), { ro: [[0]], c: [[0]] }, /several regions/]
  ] as const)('of the form %s are refused for a program of another form', (format, program, result, reason) => {
    expect(() => countsOfResult(JSON.stringify(result), format, h2, { program, shots: 1 })).toThrow(reason)
  })

  test('have a known form', () => {
    expect([ionq, honeywell, rigetti].every(isOutputFormat)).toBe(true)
    for (const format of ['microsoft.quantum-results.v2', 'toString', '', null, 5, {}])
      expect([format, isOutputFormat(format)]).toEqual([format, false])
  })

  test('have a bound on their size that follows from the program and its shots', () => {
    const mib = 1024 * 1024
    expect(resultBytesMax(ionq, { program: byQubits(3), shots: 100_000 })).toBeLessThan(2 * mib)
    expect(resultBytesMax(ionq, { program: byQubits(29), shots: 1 })).toBe(32 * mib)
    expect(resultBytesMax(honeywell, { program: byRegisters({ c: 3 }), shots: 1 })).toBeLessThan(2 * mib)
    // What 10,000 shots of all qubits need, with white space between all parts.
    const program = byRegisters({ c: 56 })
    const result = { c: Array.from({ length: 10_000 }, () => '0'.repeat(56)) }
    expect(resultBytesMax(honeywell, { program, shots: 10_000 })).toBeGreaterThan(
      JSON.stringify(result, null, 2).length
    )
    const cells = { ro: Array.from({ length: 10_000 }, () => Array(30).fill(0)) }
    const size = JSON.stringify(cells, null, 1).length
    expect(resultBytesMax(rigetti, { program: ro(30), shots: 10_000 })).toBeGreaterThan(size)
  })
})
