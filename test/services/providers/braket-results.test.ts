import { describe, expect, test } from '@jest/globals'
import type { Readout } from '../../../domain/backends/provider-counts.js'
import { countsOfResult, resultBytesMax } from '../../../services/providers/braket/results.js'

const gates = 'braket.task_result.gate_model_task_result'
const analog = 'braket.task_result.analog_hamiltonian_simulation_task_result'

const programOf = (qubits: number, bits: number[], declared = qubits) => ({
  text: `OPENQASM 3.0;\nbit[${bits.length}] b;\nqubit[${declared}] q;\nx q[0];\n`,
  qubits,
  readout: { kind: 'qubits', bits } satisfies Readout
})

const textOf = (body: object, name = gates) => JSON.stringify({ braketSchemaHeader: { name, version: '1' }, ...body })

describe("the bits of a gate program's shots", () => {
  test.each<[string, ReturnType<typeof programOf>, number[], number[][], Record<string, number>]>([
    ['X on qubit 0 of 3', programOf(3, [0, 1, 2]), [0, 1, 2], [[1, 0, 0]], { '100': 1 }],
    [
      'X on qubit 0 of 9',
      programOf(9, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
      [0, 1, 2, 3, 4, 5, 6, 7, 8],
      [[1, 0, 0, 0, 0, 0, 0, 0, 0]],
      { '100000000': 1 }
    ],
    ['a rotation of the qubits', programOf(3, [2, 0, 1]), [0, 1, 2], [[1, 0, 0]], { '010': 1 }],
    ['columns in another order', programOf(3, [0, 1, 2]), [2, 0, 1], [[0, 1, 0]], { '100': 1 }],
    ['a subset of the qubits', programOf(3, [2, 0]), [2, 0], [[1, 0]], { '10': 1 }],
    ['all qubits of a device that measures no subset', programOf(3, [2]), [0, 1, 2], [[1, 1, 0]], { '0': 1 }],
    ['a bit that nothing measures', programOf(3, [0, 2, 1], 2), [0, 1], [[1, 1]], { '101': 1 }]
  ])('are canonical for %s', (_what, program, measuredQubits, measurements, counts) => {
    const text = textOf({ measurements, measuredQubits, measurementProbabilities: null })
    expect(countsOfResult(text, { program, shots: 1 })).toEqual({
      counts,
      source: 'provider_measurements',
      probabilities: null,
      executionTimeMs: null,
      calibrationId: null
    })
  })
})

describe('the results of a gate program', () => {
  const program = programOf(2, [0, 1])

  test('are probabilities where the device returns nothing else, and rounded to whole shots', () => {
    const text = textOf({ measurementProbabilities: { '10': 0.666, '01': 0.334 }, measuredQubits: [0, 1] })
    expect(countsOfResult(text, { program, shots: 10 })).toMatchObject({
      counts: { '10': 7, '01': 3 },
      source: 'probability_derived',
      probabilities: { '10': 0.666, '01': 0.334 }
    })
  })

  test('of a simulator name its time', () => {
    const text = textOf({
      measurements: [[0, 0]],
      measuredQubits: [0, 1],
      additionalMetadata: { simulatorMetadata: { executionDuration: 12 } }
    })
    expect(countsOfResult(text, { program, shots: 1 }).executionTimeMs).toBe(12)
  })

  test.each<[string, string, RegExp]>([
    ['no JSON', '<html>', /JSON/],
    ['nothing', 'null', /schema/],
    ['those of an analog program', textOf({ measurements: [] }, analog), /schema/],
    ['without measurements', textOf({ measuredQubits: [0, 1] }), /no measurements/],
    ['without the names of the qubits', textOf({ measurements: [[0, 0]] }), /measured qubits/],
    ['of a qubit twice', textOf({ measurements: [[0, 0]], measuredQubits: [0, 0] }), /twice/],
    ['without a qubit that is read', textOf({ measurements: [[0]], measuredQubits: [0] }), /qubit 1 was not measured/],
    ['of physical qubits', textOf({ measurements: [[0, 0]], measuredQubits: [17, 1] }), /qubit 17/],
    ['of other widths', textOf({ measurements: [[0, 0, 0]], measuredQubits: [0, 1] }), /number of bits/],
    ['with other values', textOf({ measurements: [[0, 2]], measuredQubits: [0, 1] }), /neither 0 nor 1/],
    ['with text for bits', textOf({ measurements: ['00'], measuredQubits: [0, 1] }), /number of bits/],
    ['of more shots', textOf({ measurements: Array(11).fill([0, 0]), measuredQubits: [0, 1] }), /11 shots/],
    ['of no whole', textOf({ measurementProbabilities: { '00': 0.5 }, measuredQubits: [0, 1] }), /sum to 0.5/],
    ['of words', textOf({ measurementProbabilities: { '00': 'all' }, measuredQubits: [0, 1] }), /all/]
  ])('are refused when they are %s', (_what, text, reason) => {
    expect(() => countsOfResult(text, { program, shots: 10 })).toThrow(reason)
  })

  test('have a bound on their size that follows from the shots', () => {
    expect(resultBytesMax({ program, shots: 1 })).toBeLessThan(5 * 1024 * 1024)
    expect(resultBytesMax({ program: programOf(34, []), shots: 100_000 })).toBe(32 * 1024 * 1024)
  })
})

describe('the results of an analog program', () => {
  const program = { text: '{}', qubits: 2, readout: { kind: 'sites', bits: [0, 1] } satisfies Readout }
  const shot = (shotStatus: string) => ({
    shotMetadata: { shotStatus },
    shotResult: { preSequence: [1, 1], postSequence: [1, 0] }
  })

  test('count the successful shots by site', () => {
    const text = textOf({ measurements: [shot('Success'), shot('Failure')] }, analog)
    expect(countsOfResult(text, { program, shots: 2 })).toMatchObject({
      counts: { gr: 1 },
      source: 'provider_measurements',
      probabilities: null
    })
  })

  test.each<[string, string, RegExp]>([
    ['those of a gate program', textOf({ measurements: [] }), /schema/],
    ['without a successful shot', textOf({ measurements: [shot('Failure')] }, analog), /none of the 1 shots/],
    ['of more shots', textOf({ measurements: Array(3).fill(shot('Success')) }, analog), /3 shots/]
  ])('are refused when they are %s', (_what, text, reason) => {
    expect(() => countsOfResult(text, { program, shots: 2 })).toThrow(reason)
  })
})
