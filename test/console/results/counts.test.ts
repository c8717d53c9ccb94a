import { describe, expect, test } from '@jest/globals'
import { countsFrom, OUTCOMES_KEPT_MAX, readCounts, readResultCounts } from '../../../apps/console/results/counts.js'

const read = (text: string) => {
  const reading = readCounts(text)
  if (reading.kind === 'refused') throw new Error(reading.reason)
  return reading.value
}

/** As the executor writes the result of a circuit. */
const resultOf = (counts: object, metadata: object, more: object = {}) =>
  JSON.stringify({
    counts,
    shots: 1_000,
    backend: 'local',
    metadata: { bit_order: 'qubit 0 leftmost', count_source: 'simulator_sampled', ...metadata },
    warnings: [],
    ...more
  })

describe('counts', () => {
  test('beyond 2^53 keep every digit', () => {
    const { outcomes, total } = read('{"00": 9007199254740993, "11": 9223372036854775808}')
    expect(outcomes).toEqual([
      { outcome: '11', count: 9_223_372_036_854_775_808n },
      { outcome: '00', count: 9_007_199_254_740_993n }
    ])
    expect(total).toBe(9_232_379_236_109_516_801n)
  })

  test('of __proto__, constructor and toString are outcomes like others', () => {
    const { outcomes } = read('{"__proto__": 3, "constructor": 2, "toString": 1}')
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.prototype).not.toHaveProperty('3')
  })

  test('are ordered by frequency, and equal ones by outcome', () => {
    expect(read('{"1":5,"0":5,"2":9}').outcomes.map(({ outcome }) => outcome)).toEqual(['2', '0', '1'])
  })

  test('that are whole floats are taken, as Python writes them', () => {
    expect(read('{"0": 10.0}').outcomes).toEqual([{ outcome: '0', count: 10n }])
  })

  test('of which a name repeats have the last value, as in every JSON parser', () => {
    expect(read('{"0":1,"0":2}')).toEqual({
      outcomes: [{ outcome: '0', count: 2n }],
      total: 2n,
      leftOut: { outcomes: 0, count: 0n }
    })
  })

  test.each([
    ['0.5', 'the count of 01 is 0.5, not a whole number'],
    ['-1', 'the count of 01 is -1, not a whole number'],
    ['1e+16', 'the count of 01 is 1e+16, not a whole number'],
    ['"7"', 'the count of 01 is "7", not a whole number'],
    ['null', 'the count of 01 is null, not a whole number'],
    ['9223372036854775809', 'the count of 01 is larger than 2^63'],
    ['1'.repeat(1_000_000), `the count of 01 is ${'1'.repeat(40)}…, not a whole number`]
  ])('with the value %.20s are refused by name', (value, reason) => {
    expect(readCounts(`{"01":${value}}`)).toEqual({ kind: 'refused', reason })
  })

  test.each(['[]', 'null', '', '7', '"x"', '{"0":1'])('that are %p are refused', (text) => {
    expect(readCounts(text)).toEqual({
      kind: 'refused',
      reason: 'the counts are not an object from outcomes to whole numbers'
    })
  })

  test('above 100,000 outcomes keep the most frequent, and the others are numbered', () => {
    const beyond = 150_001
    const entries = Array.from({ length: OUTCOMES_KEPT_MAX + beyond }, (_, at): [string, number] => [String(at), at])
    const { outcomes, total, leftOut } = read(JSON.stringify(Object.fromEntries(entries)))
    expect(outcomes).toHaveLength(OUTCOMES_KEPT_MAX)
    expect(outcomes[0]).toEqual({ outcome: '250000', count: 250_000n })
    expect(outcomes.at(-1)).toEqual({ outcome: '150001', count: 150_001n })
    expect(leftOut).toEqual({ outcomes: beyond, count: (150_000n * 150_001n) / 2n })
    expect(total).toBe((250_000n * 250_001n) / 2n)
  })

  test('of the simulators need no text', () => {
    expect(
      countsFrom([
        ['0', 1],
        ['1', '9007199254740993']
      ]).outcomes[0]
    ).toEqual({
      outcome: '1',
      count: 9_007_199_254_740_993n
    })
  })
})

describe('the counts of a result', () => {
  const three = { '00000': 5 }
  const registers = [
    { name: 'c', size: 2, qubits: [1, 0] },
    { name: 'd', size: 3 }
  ]

  test('have the registers that the service states', () => {
    expect(readResultCounts(resultOf(three, { registers }))).toEqual({
      kind: 'read',
      value: {
        counts: expect.objectContaining({ total: 5n }),
        order: 'qubit 0 leftmost',
        registers: [
          { name: 'c', size: 2, qubits: [1, 0] },
          { name: 'd', size: 3, qubits: null }
        ],
        note: null
      }
    })
  })

  test('find them in circuit_info where the metadata has none', () => {
    const reading = readResultCounts(resultOf(three, {}, { circuit_info: { registers } }))
    expect(reading).toMatchObject({ value: { registers: [{ name: 'c' }, { name: 'd' }] } })
  })

  test('are not split where the registers do not fit, and say so', () => {
    expect(readResultCounts(resultOf({ '00': 5 }, { registers }))).toMatchObject({
      value: {
        registers: [],
        note: 'The registers of the result have 5 bits, which the outcome 00 has not: outcomes are shown unsplit.'
      }
    })
  })

  test('of a program have no order that the service vouches for', () => {
    expect(readResultCounts(resultOf(three, { count_source: null, registers }))).toMatchObject({
      value: { order: 'unstated', registers: [] }
    })
    expect(readResultCounts('{"counts":{"0":1}}')).toMatchObject({ value: { order: 'unstated' } })
  })

  test('of an analog program are in the order of its sites', () => {
    const reading = readResultCounts(
      resultOf({ grg: 5 }, { bit_order: 'site order', registers: [{ name: 'sites', size: 3 }] })
    )
    expect(reading).toMatchObject({ value: { order: 'site order', registers: [] } })
  })

  test.each([
    ['no array', { registers: 5 }],
    ['a register without a size', { registers: [{ name: 'c' }] }],
    ['a size of 0', { registers: [{ name: 'c', size: 0 }] }],
    ['null in the place of a register', { registers: [null] }]
  ])('with %s as registers are shown unsplit', (_what, metadata) => {
    expect(readResultCounts(resultOf(three, metadata))).toMatchObject({ value: { registers: [], note: null } })
  })

  test('are null where there are none, and refused where they are none', () => {
    expect(readResultCounts('{"result":1}')).toBeNull()
    expect(readResultCounts('7')).toBeNull()
    expect(readResultCounts('{"counts":[1]}')).toMatchObject({ kind: 'refused' })
  })
})
