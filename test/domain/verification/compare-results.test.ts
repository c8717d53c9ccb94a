// Comparisons of any two jobs: what may differ between them, what rules a comparison out, and what follows from a verdict.
import { describe, expect, test } from '@jest/globals'
import { type ComparedJob, compareResults, uncompared } from '../../../domain/verification/compare-results.js'
import type { Counts } from '../../../domain/verification/statistics/count-pair.js'
import { pairedOutcomes } from '../../../domain/verification/statistics/paired-outcomes.js'
import { randomOf } from '../../../domain/verification/statistics/random.js'
import { bell, resultOf, sampler } from '../../support/capsules/verification-runs.js'

const fair = { '00': 5000, '11': 5000 }
const nearly = { '00': 5060, '11': 4940 }
const unfair = { '00': 6000, '11': 4000 }

const jobOf = (id: string, text: string, changes: Partial<ComparedJob> & { hardware?: boolean } = {}): ComparedJob => {
  const { hardware = false, ...more } = changes
  const facts = { hardware, local: !hardware, completedAt: '2026-03-01T00:00:00.000Z' }
  return { id, point: null, backend: hardware ? 'forte' : 'local', result: { text, facts }, ...more }
}
const compare = (a: string | ComparedJob, b: string | ComparedJob, margin: number | null = null) =>
  compareResults(typeof a === 'string' ? jobOf('a', a) : a, typeof b === 'string' ? jobOf('b', b) : b, {
    margin,
    seedText: 'test'
  })
const machine = (id: string, counts: Counts, metadata: Record<string, unknown> = {}, changes = {}) =>
  jobOf(id, resultOf(counts, { count_source: 'provider_counts', engine: null, ...metadata }), {
    hardware: true,
    ...changes
  })
/** The stored result of a `main` that returned this. */
const returned = (value: object, metadata: Record<string, unknown> = {}) =>
  JSON.stringify({
    shots: 10,
    backend: 'local',
    ...value,
    metadata: { bit_order: 'qubit 0 leftmost', count_source: null, registers: null, circuit_sha256: null, ...metadata }
  })

describe('two jobs of one distribution are consistent', () => {
  test('with the error rate, the distance and its bound, and the service vouching for the counts', () => {
    const { report, statement, a, circuits } = compare(resultOf(fair), resultOf(nearly))
    expect(report).toMatchObject({ verdict: 'consistent', alpha: 0.01, beta: 0.05, margin: 0.05 })
    expect(report.tvd).toBeCloseTo(0.006, 12)
    expect(report.tvd_upper!).toBeLessThanOrEqual(0.05)
    expect(report.compare).toMatchObject({ epsilon: 0.02, says: 'INCONCLUSIVE' })
    expect(statement).toMatch(/^The two distributions are at most 0\.0\d+ apart, within the margin 0\.05, with 95 %/)
    expect(statement).toMatch(/The service vouches for the counts of both jobs\.$/)
    expect(a).toEqual({
      count_source: 'simulator_sampled',
      seed: null,
      engine: 'statevector',
      engine_version: '0.17.2',
      calibration_id: null
    })
    expect(circuits).toHaveLength(1)
    expect(circuits[0]!.counts).toEqual([
      { outcome: '00', a: 5000, b: 5060 },
      { outcome: '11', a: 5000, b: 4940 }
    ])
  })

  test('from different circuits, with a note', () => {
    const { report, circuits } = compare(resultOf(fair), resultOf(nearly, { circuit_sha256: 'b'.repeat(64) }))
    expect(report.verdict).toBe('consistent')
    expect(circuits[0]!.notes).toEqual([expect.stringContaining('the circuits differ')])
  })

  test('from registers with other names and the same sizes, with a note that names both', () => {
    const { report, circuits } = compare(resultOf(fair), resultOf(nearly, { registers: [{ name: 'meas', size: 2 }] }))
    expect(report.verdict).toBe('consistent')
    expect(circuits[0]!.notes).toEqual([expect.stringContaining('c[2] in job a, meas[2] in job b')])
  })

  test('from a program and from the service, with what that rests on', () => {
    const reported = resultOf(nearly, { count_source: 'program_reported' })
    const { report, statement, circuits } = compare(resultOf(fair), reported)
    expect(report.verdict).toBe('consistent')
    expect(circuits[0]!.notes).toEqual([expect.stringContaining('the service cannot vouch for them')])
    expect(statement).toMatch(/rests on what the program of job b reported, for which the service cannot vouch\.$/)
  })

  test('wherever each program put its only counts', () => {
    const { report, statement } = compare(returned({ value: { of: fair } }), returned({ counts: nearly }))
    expect(report.verdict).toBe('consistent')
    expect(statement).toContain('the program of job a and of job b')
  })

  test('on a simulator and on a quantum computer, with the margin of a quantum computer', () => {
    const { report } = compare(resultOf(fair), machine('b', nearly))
    expect(report).toMatchObject({ verdict: 'consistent', margin: 0.1 })
  })
})

describe('two jobs of different distributions are', () => {
  test('different on simulators, with the size of the difference', () => {
    const { report, statement } = compare(resultOf(fair), resultOf(unfair), 0.2)
    expect(report).toMatchObject({ verdict: 'different', method: 'pearson+cdvv' })
    expect(report.reason).toContain('which is below the margin 0.2')
    expect(statement).toContain('Two jobs of one distribution are found different in 1 % of comparisons.')
    expect(compare(resultOf(fair), resultOf(unfair)).report.reason).toContain('at or above the margin 0.05')
  })

  test('drifted on one quantum computer with one circuit, below the margin', () => {
    const [a, b] = [machine('a', fair, { calibration_id: 'old' }), machine('b', unfair, { calibration_id: 'new' })]
    const { report, circuits } = compare(a, b, 0.2)
    expect(report.verdict).toBe('drifted')
    expect(report.reason).toContain('(old in a, new in b)')
    expect(circuits[0]!.hardware).toMatchObject({ sealed_calibration_id: 'old', rerun_calibration_id: 'new' })
  })

  test.each<[string, ComparedJob]>([
    ['on a simulator and a quantum computer', jobOf('b', resultOf(unfair))],
    ['on two quantum computers', machine('b', unfair, {}, { backend: 'aria' })],
    ['of two circuits', machine('b', unfair, { circuit_sha256: 'b'.repeat(64) })]
  ])('different, not drifted, %s', (_, b) => {
    expect(compare(machine('a', fair), b, 0.2).report.verdict).toBe('different')
  })
})

describe('two jobs are not testable', () => {
  test('with too few shots, and the shots are stated that each job would need', () => {
    const few = { '00': 50, '11': 50 }
    const { report, statement } = compare(resultOf(few), resultOf(few))
    expect(report).toMatchObject({ verdict: 'not_testable', margin: 0.05 })
    expect(report.reason).toMatch(/need about [\d,]+ shots in each job$/)
    expect(statement).toMatch(/^Nothing follows/)
    const half = Math.ceil(report.needed_shots! / 2)
    const enough = resultOf({ '00': half, '11': half })
    expect(compare(enough, enough).report.verdict).toBe('consistent')
  })

  test('where even the most shots of a job cannot resolve the margin', () => {
    for (const margin of [0.0001, 1e-300]) {
      const { report } = compare(resultOf(fair), resultOf(fair), margin)
      expect(report).not.toHaveProperty('needed_shots')
      expect(report.reason).toMatch(/each job would need .* shots.*, and a job has at most 100,000$/)
    }
  })

  test.each<[string, string, string]>([
    [
      'the registers differ, so their bits mean other things: c[2] in job a, c[1], d[1] in job b',
      resultOf(fair),
      resultOf(fair, { registers: ['c', 'd'].map((name) => ({ name, size: 1 })) })
    ],
    [
      'the registers differ, so their bits mean other things: d[1], c[1] in job a, c[1], d[1] in job b',
      resultOf(fair, { registers: ['d', 'c'].map((name) => ({ name, size: 1 })) }),
      resultOf(fair, { registers: ['c', 'd'].map((name) => ({ name, size: 1 })) })
    ],
    ['the bit orders differ', resultOf(fair), resultOf(fair, { bit_order: 'qubit 0 rightmost' })],
    ['the outcomes have different widths: 1 and 2 characters', returned({ a: fair }), returned({ a: { '0': 9 } })],
    [
      'the counts of job b were computed from probabilities, not sampled',
      resultOf(fair),
      resultOf(fair, { count_source: 'probability_derived' })
    ],
    ['job a has counts here, job b has none', resultOf(fair), returned({ energy: -1 })],
    ['job b has counts here, job a has none', returned({ one: fair }), returned({ one: fair, two: fair })],
    [
      'the results have no counts, so that their being the same cannot be judged: nothing fixed the randomness of job a',
      returned({ energy: 1 }),
      returned({ energy: 1 })
    ],
    ['the results have no counts', returned({ probabilities: { '0': 1 } }), returned({ counts: { '0': 2 ** 53 } })]
  ])('when %s', (reason, a, b) => {
    const { report } = compare(a, b)
    expect(report).toMatchObject({ verdict: 'not_testable', method: 'none', tvd_upper: null })
    expect(report.reason).toContain(reason)
  })
})

describe('equal counts are exact', () => {
  test('with one seed and the same versions, which is no agreement of independent samples', () => {
    const { report, statement } = compare(resultOf(fair, { seed: 7 }), resultOf(fair, { seed: 7 }))
    expect(report).toMatchObject({ verdict: 'exact', method: 'equality', tvd: 0 })
    expect(statement).toContain('not the agreement of two independent samples')
  })

  test('of one job, whatever its result is, which says nothing', () => {
    for (const text of [resultOf(fair), returned({ energy: 1 }), resultOf(fair, { count_source: 'other' })]) {
      const job = jobOf('a', text, { hardware: true })
      const { report, statement } = compare(job, job)
      expect(report).toMatchObject({ verdict: 'exact', method: 'equality' })
      expect(statement).toBe('a and b are the same result: that it equals itself says nothing about another run.')
    }
  })

  test('but not without a seed or with another one, and one seed with other counts is noted', () => {
    expect(compare(resultOf(fair), resultOf(fair)).report.verdict).toBe('consistent')
    expect(compare(resultOf(fair, { seed: 7 }), resultOf(fair, { seed: 8 })).report.verdict).toBe('consistent')
    const { circuits } = compare(resultOf(fair, { seed: 7 }), resultOf(nearly, { seed: 7 }))
    expect(circuits[0]!.notes).toEqual([expect.stringContaining('both runs have the seed 7')])
  })
})

test('a comparison is the same, to the last digit, each time it is made', () => {
  const made = () => JSON.stringify(compare(resultOf(fair), resultOf(nearly)))
  expect(made()).toBe(made())
})

describe('several circuits', () => {
  const many = (count: number, counts: (k: number) => Counts) =>
    returned({ result: Array.from({ length: count }, (_, k) => counts(k)) })

  test('are compared by their place, at one error rate for all', () => {
    const { report, circuits } = compare(
      returned({ first: fair, second: { '0': 9000, '1': 1000 } }),
      returned({ first: nearly, second: { '0': 1000, '1': 9000 } })
    )
    expect(circuits.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['result /first', 'consistent'],
      ['result /second', 'different']
    ])
    expect(report.reason).toMatch(/^result \/second \(1 different, 1 consistent\)/)
  })

  test('are shown up to a hundred, among them those that decide', () => {
    const equal = { '0': 400, '1': 400 }
    const a = many(150, () => equal)
    const b = many(150, (k) => (k === 140 ? { '0': 790, '1': 10 } : equal))
    const { report, circuits, circuits_left_out } = compare(a, b)
    expect(report.verdict).toBe('different')
    expect([circuits.length, circuits_left_out]).toEqual([100, 50])
    expect(circuits.filter(({ verdict }) => verdict === 'different').map(({ name }) => name)).toEqual([
      'result /result/140'
    ])
  })
})

describe('paired counts', () => {
  const max = { outcomes: 3, characters: 1000 }

  test('are cut to the most frequent outcomes, with what is left out', () => {
    const a = { '000': 5, '001': 9, '010': 1, '011': 2 }
    const b = { '001': 1, '011': 1, '100': 7, '101': 3, '110': 0 }
    expect(pairedOutcomes(a, b, max)).toEqual({
      counts: [
        { outcome: '001', a: 9, b: 1 },
        { outcome: '100', a: 0, b: 7 },
        { outcome: '000', a: 5, b: 0 }
      ],
      left_out: { outcomes: 3, a: 3, b: 4 }
    })
  })

  test('add up to the shots of both jobs, for 100,000 outcomes too', () => {
    const next = sampler(bell(131_072, 0.9), randomOf('paired'))
    const [a, b] = [next(100_000), next(100_000)]
    const { counts, left_out } = pairedOutcomes(a, b, { outcomes: 1000, characters: 64 * 1024 })
    expect(counts).toHaveLength(1000)
    expect(
      counts
        .slice(0, 2)
        .map(({ outcome }) => outcome)
        .sort()
    ).toEqual(['0'.repeat(17), '1'.repeat(17)])
    const sum = (side: 'a' | 'b') => counts.reduce((total, row) => total + row[side], left_out[side])
    expect([sum('a'), sum('b')]).toEqual([100_000, 100_000])
    expect(counts.length + left_out.outcomes).toBe(new Set([...Object.keys(a), ...Object.keys(b)]).size)
  })

  test('of outcomes with very many bits are left out rather than sent', () => {
    const long = { ['0'.repeat(2000)]: 5 }
    expect(pairedOutcomes(long, long, max)).toEqual({ counts: [], left_out: { outcomes: 1, a: 5, b: 5 } })
  })
})

test('a comparison that was stopped says why', () => {
  const { report, circuits, statement } = uncompared('comparing took longer than 20 s and was stopped', 0.05)
  expect(report).toMatchObject({ verdict: 'not_testable', reason: 'comparing took longer than 20 s and was stopped' })
  expect([circuits.length, statement]).toEqual([1, expect.stringMatching(/^Nothing follows/)])
})
