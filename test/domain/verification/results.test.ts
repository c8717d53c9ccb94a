// Finds the comparable circuits of two stored results, whatever a program returned.
import { describe, expect, test } from '@jest/globals'
import { judge } from '../../../domain/verification/judge.js'
import { readRun, runCounts } from '../../../domain/verification/run-counts.js'
import { circuitPairs } from '../../../domain/verification/statistics/circuit-pairs.js'
import { resultOf } from '../../support/capsules/verification-runs.js'

const facts = { hardware: false, local: true, completedAt: null }
const ours = {
  bit_order: 'qubit 0 leftmost',
  seed: null as number | null,
  engine: 'statevector',
  engine_version: '1',
  framework_version: '2',
  count_source: null,
  shots_requested: 10,
  shots_observed: null,
  registers: null,
  circuit_sha256: null
}
/** The stored result of a `main` that returned this. */
const returned = (value: object, seed: number | null = null, time = 3) =>
  JSON.stringify({
    shots: 10,
    backend: 'local',
    execution_time_ms: time,
    warnings: [],
    ...value,
    metadata: { ...ours, seed }
  })
const placesOf = (text: string) => [...readRun(text, facts).circuits.keys()]
const task = (sealed: string, rerun: string, changes = {}) => ({
  name: 'main',
  sealed: { text: sealed, facts: { ...facts, ...changes } },
  rerun: { text: rerun, facts: { ...facts, ...changes } }
})
const verdictOf = (sealed: string, rerun: string, changes = {}) =>
  judge(circuitPairs(task(sealed, rerun, changes)), { margin: 0.05, seedText: 'x' })

describe('counts in a result are found', () => {
  test('of an analog program, by the states of its sites', () => {
    const atoms = { bit_order: 'site order', count_source: 'provider_measurements', engine: 'AWS Braket' }
    const run = runCounts(resultOf({ egr: 3, rgr: 4 }, atoms), { ...facts, hardware: true, local: false })
    expect(run).toMatchObject({ counts: { egr: 3, rgr: 4 }, shots: 7, bitOrder: 'site order' })
    // The same letters are no bits, and a program's own words are no sites.
    expect(runCounts(resultOf({ egr: 3 }), facts)).toBeNull()
    expect(runCounts(returned({ egg: 3, counts: { egg: 3 } }), facts)).toBeNull()
    expect(runCounts(resultOf({ xyz: 3 }, atoms), facts)).toBeNull()
  })

  test('of two analog programs can be compared, and not those of one with bits', () => {
    const atoms = { bit_order: 'site order', count_source: 'provider_measurements' }
    const hardware = { hardware: true, local: false }
    const sites = (counts: Record<string, number>) => resultOf(counts, atoms)
    expect(verdictOf(sites({ gr: 500, rg: 500 }), sites({ gr: 510, rg: 490 }), hardware).verdict).toBe('consistent')
    expect(verdictOf(sites({ gr: 1000 }), sites({ rg: 1000 }), hardware).verdict).toBe('different')
    expect(verdictOf(sites({ gr: 1000 }), resultOf({ '01': 1000 }), hardware).reason).toContain('the bit orders differ')
  })

  test('of a circuit, with all facts of its result', () => {
    expect(runCounts(resultOf({ '00': 3, '11': 4 }, { seed: 5, calibration_id: 'cal' }), facts)).toEqual({
      counts: { '00': 3, '11': 4 },
      shots: 7,
      madeBy: 'service',
      countSource: 'simulator_sampled',
      bitOrder: 'qubit 0 leftmost',
      registers: [{ name: 'c', size: 2 }],
      circuitSha256: 'a'.repeat(64),
      engine: 'statevector',
      engineVersion: '0.17.2',
      frameworkVersion: '2.5.2',
      seed: 5,
      deterministic: true,
      hardware: false,
      local: true,
      calibrationId: 'cal',
      completedAt: null
    })
  })

  test('of a circuit whose counts the program reported, as the program’s', () => {
    expect(runCounts(resultOf({ '00': 3, '11': 4 }, { count_source: 'program_reported' }), facts)).toMatchObject({
      shots: 7,
      madeBy: 'program',
      countSource: 'program_reported',
      circuitSha256: 'a'.repeat(64)
    })
  })

  test.each<[string, object, string[]]>([
    ['a member counts', { counts: { '0': 4, '1': 6 } }, ['/counts']],
    ['the value itself', { '00': 4, '11': 6 }, ['']],
    ['a list', { result: [{ '0': 10 }, { '1': 10 }] }, ['/result/0', '/result/1']],
    ['by task', { a: { '0': 1 }, 'b/c': { '1': 2 } }, ['/a', '/b~1c']],
    ['registers apart', { counts: { '0 11': 4, '1 00': 6 } }, ['/counts']],
    [
      'outputs of a native submission',
      { protocol_version: 'x', outputs: [{ display: { value: { '01': 3 } } }] },
      ['/outputs/0/display/value']
    ]
  ])('in what a program returned: %s', (_, value, places) => expect(placesOf(returned(value))).toEqual(places))

  test.each<[string, object]>([
    ['numbers', { energy: -1.5, result: [1, 2, 3] }],
    ['fractions', { probabilities_of: { '0': 0.5, '1': 0.5 } }],
    ['negative', { a: { '0': -5, '1': 5 } }],
    ['other keys', { a: { '0': 5, x: 5 } }],
    ['widths that differ', { a: { '0': 5, '11': 5 } }],
    ['nothing', { a: {}, b: { '0': 0 } }],
    ['probabilities of a provider', { probabilities: { '0': 1, '1': 1 } }],
    [
      'probabilities of a part that is certain',
      { first: { probabilities: { '1': 1 } }, list: [{ quasi_dists: { '0': 1 } }] }
    ]
  ])('but not in other values: %s', (_, value) => expect(placesOf(returned(value))).toEqual([]))

  test('a result that is not an object is refused; a deep one or one with many circuits is cut off', () => {
    expect(() => readRun('[]', facts)).toThrow('a result is a JSON object')
    const deep = `{"a":${'{"b":'.repeat(5000)}{"0":1}${'}'.repeat(5000)}}`
    expect(placesOf(deep)).toEqual([])
    expect(placesOf(returned({ result: Array.from({ length: 1500 }, () => ({ '0': 1 })) }))).toHaveLength(1000)
  })

  test('inherited properties are not outcomes', () => {
    const odd = '{"metadata":{},"result":{"__proto__":{"0":5}}}'
    expect(placesOf(odd)).toEqual(['/result/__proto__'])
  })
})

describe('pairs of results', () => {
  test('several circuits are compared one by one, by their place in the result', () => {
    const found = verdictOf(
      returned({ first: { '0': 5000, '1': 5000 }, second: { '0': 9000, '1': 1000 } }),
      returned({ first: { '0': 5050, '1': 4950 }, second: { '0': 1000, '1': 9000 } })
    )
    expect(found.checks.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['main /first', 'consistent'],
      ['main /second', 'different']
    ])
  })

  test('a report can be stored, whatever names a program gave its circuits', () => {
    const odd = returned({ 'a\u0000b': { '0': 1000 }, '\ud800': { '0': 1000 }, ['long'.repeat(1000)]: { '0': 1000 } })
    const { checks, reason } = verdictOf(odd, odd)
    expect(checks.map(({ name }) => name.length)).toEqual([9, 300, 7])
    expect(JSON.stringify({ checks, reason })).not.toMatch(/\\u0000|\\ud8/)
  })

  test('a circuit that is missing in one result is not testable', () => {
    const found = verdictOf(returned({ a: { '0': 1000 }, b: { '0': 1000 } }), returned({ a: { '0': 1000 } }))
    expect(found.verdict).toBe('not_testable')
    expect(found.reason).toContain('the sealed run has counts here, the re-run has none')
  })

  test('without counts a seeded re-run is exact when only times differ', () => {
    expect(verdictOf(returned({ energy: -1 }, 7, 3), returned({ energy: -1 }, 7, 4))).toMatchObject({
      verdict: 'exact',
      method: 'equality'
    })
  })

  test.each<[string, string, string, object, string]>([
    ['another value', returned({ energy: -1 }, 7), returned({ energy: -2 }, 7), {}, 'although the seed is the same'],
    [
      'another version',
      returned({ energy: -1 }, 7),
      returned({ energy: -1 }, 7).replace('"engine_version":"1"', '"engine_version":"1.1"'),
      {},
      'other versions (statevector 1, framework 2 sealed, statevector 1.1, framework 2 now)'
    ],
    [
      'no seed',
      returned({ energy: -1 }),
      returned({ energy: -1 }),
      {},
      'nothing fixed the randomness of the sealed run; a seed in the parameters would fix it'
    ],
    ['another seed', returned({ energy: -1 }, 7), returned({ energy: -1 }, 8), {}, 'they do not have the same seeds'],
    [
      'a provider',
      returned({ energy: -1 }, 7),
      returned({ energy: -1 }, 7),
      { local: false },
      'of a provider’s backend, whose randomness no seed fixes'
    ]
  ])('without counts and with %s they are not testable', (_, sealed, rerun, changes, reason) => {
    const found = verdictOf(sealed, rerun, changes)
    expect(found.verdict).toBe('not_testable')
    expect(found.reason).toContain(reason)
  })

  test("numbers beyond JavaScript's range are compared digit by digit", () => {
    const big = (last: number) =>
      `{"shots":1,"result":90071992547409920000${last},"metadata":{"seed":1,"count_source":null}}`
    expect(verdictOf(big(1), big(1)).verdict).toBe('exact')
    expect(verdictOf(big(1), big(2)).verdict).toBe('not_testable')
  })

  test('the artifact ids of a native submission do not matter, their content does', () => {
    const native = (id: string, sha256: string) =>
      returned(
        { protocol_version: 'r', outputs: [{ artifact: { artifact_id: id, sha256 }, display: { value: 5 } }] },
        7
      )
    expect(verdictOf(native('one', 'x'), native('two', 'x')).verdict).toBe('exact')
    expect(verdictOf(native('one', 'x'), native('two', 'y')).verdict).toBe('not_testable')
  })

  test('counts that a program made from a provider’s results are not tested', () => {
    const found = verdictOf(returned({ counts: { '0': 10 } }), returned({ counts: { '0': 10 } }), { local: false })
    expect(found.reason).toContain('whether they were sampled is not known')
  })
})
