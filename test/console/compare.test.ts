import { describe, expect, test } from '@jest/globals'
import { browserComparison } from '../../apps/console/jobs/compare/browser/browser-comparison.js'
import { readCompare } from '../../apps/console/jobs/compare/compare-search.js'
import { comparedCounts } from '../../apps/console/jobs/compare/compared-counts.js'
import { boundText, neededText, rateText } from '../../apps/console/jobs/compare/verdict-text.js'
import { compareResults } from '../../domain/verification/compare-results.js'

type Circuit = Parameters<typeof comparedCounts>[0]
type Jobs = Parameters<typeof comparedCounts>[1]

const circuit = (outcomes: readonly string[]) =>
  ({
    counts: outcomes.map((outcome, at) => ({ outcome, a: at, b: 10 })),
    left_out: { outcomes: 2, a: 3, b: 0 }
  }) as unknown as Circuit
const jobs = (a: string | null, b: string | null) => ({ a: { count_source: a }, b: { count_source: b } }) as Jobs
const names = { a: 'one', b: 'two' }

test('the bars of two jobs stand beside each other by outcome, and what is left out stays counted', () => {
  const data = comparedCounts(circuit(['00', '11']), jobs('engine', 'engine'), names)!
  expect(data.sets.map(({ name, counts }) => [name, counts.total, counts.leftOut])).toEqual([
    ['one', 4n, { outcomes: 2, count: 3n }],
    ['two', 20n, { outcomes: 2, count: 0n }]
  ])
  expect(data.sets[0]!.counts.outcomes).toEqual([
    { outcome: '00', count: 0n },
    { outcome: '11', count: 1n }
  ])
})

test('the order of bits is named for the counts of circuits alone', () => {
  const order = (outcomes: readonly string[], a: string | null) =>
    comparedCounts(circuit(outcomes), jobs(a, 'engine'), names)!.order
  expect(order(['00'], 'engine')).toBe('qubit 0 leftmost')
  expect(order(['00'], null)).toBe('unstated')
  expect(order(['ge'], 'engine')).toBe('unstated')
  expect(comparedCounts(circuit([]), jobs('engine', 'engine'), names)).toBeNull()
})

test('a verdict is shown with its error rate, its distance and bound, or the shots that it would take', () => {
  expect(rateText({ alpha: 0.01 })).toContain('in 1 % of all comparisons')
  expect(boundText({ tvd: 0.01234, tvd_upper: 0.0456789, beta: 0.05, margin: 0.05 })).toBe(
    'Observed distance of the counts: 0.0123, the true one at most 0.0457 with 95 % confidence. The tolerated distance is 0.05.'
  )
  expect(boundText({ tvd: null, tvd_upper: null, beta: 0.05, margin: 0.1 })).toBe('The tolerated distance is 0.1.')
  expect(neededText({ needed_shots: 12_000 })).toBe('A verdict would take 12,000 shots of each job.')
  expect(neededText({ needed_shots: null })).toBeNull()
})

test('the address holds the two jobs and the margin, and nothing else', () => {
  expect(readCompare({ a: 'x', b: '', margin: 0.1, other: 1 })).toEqual({ a: 'x', margin: 0.1 })
  expect(readCompare({ a: 1, margin: 'wide' })).toEqual({})
})

describe('a run in the browser beside a job', () => {
  const facts = { hardware: false, local: true, completedAt: '2026-01-01T00:00:00.000Z' }
  const resultOf = (counts: Record<string, number>, engine: string, more: object = {}) => {
    const shots = Object.values(counts).reduce((sum, count) => sum + count, 0)
    const registers = [{ name: 'c', size: 2, qubits: [0, 1] }]
    const metadata = {
      bit_order: 'qubit 0 leftmost',
      count_source: 'simulator_sampled',
      engine,
      engine_version: '1',
      seed: 7,
      registers,
      shots_observed: shots,
      ...more
    }
    return JSON.stringify({ counts, metadata })
  }
  const run = (counts: Record<string, number>) => ({ where: 'here', result: resultOf(counts, 'statevector-js') })
  const job = (counts: Record<string, number>, more: object = {}) => ({
    id: '0192f3a4-5b6c-7d8e-9f01-23456789abcd',
    backend: 'local',
    result: resultOf(counts, 'qulacs', more),
    facts
  })

  test('gets the verdict of the service on two jobs with those counts, and the service vouches for none of its own', () => {
    const pairs: [one: Record<string, number>, other: Record<string, number>, verdict: string][] = [
      [{ '00': 5_020, '11': 4_980 }, { '00': 4_990, '11': 5_010 }, 'consistent'],
      [{ '00': 9_000, '11': 1_000 }, { '00': 4_990, '11': 5_010 }, 'different'],
      [{ '00': 6, '11': 4 }, { '00': 5, '11': 5 }, 'not_testable']
    ]
    for (const [one, other, verdict] of pairs) {
      const found = browserComparison(run(one), job(other), null)
      expect(found.verdict).toBe(verdict)
      const twoJobs = compareResults(
        { id: 'a', backend: 'x', point: null, result: { text: resultOf(one, 'statevector-js'), facts } },
        { id: 'b', backend: 'y', point: null, result: { text: resultOf(other, 'qulacs'), facts } },
        { margin: null, seedText: 'other draws' }
      )
      expect([found.verdict, found.tvd, found.margin]).toEqual([
        twoJobs.report.verdict,
        twoJobs.report.tvd,
        twoJobs.report.margin
      ])
      expect(found.a).toMatchObject({ backend: 'this browser', count_source: 'browser_sampled', seed: 7 })
      expect(found.b).toMatchObject({ backend: 'local', count_source: 'simulator_sampled' })
      if (verdict !== 'not_testable')
        expect(found.statement).toContain('has not seen the run in the browser, and cannot vouch for its counts')
    }
  })

  test('of another width, or with counts of a program, is named as such', () => {
    const wide = browserComparison(run({ '00': 10, '11': 10 }), job({ '000': 20 }, { registers: null }), null)
    expect(wide.verdict).toBe('not_testable')
    expect(wide.reason).toMatch(/different widths/)
    const ofProgram = { count_source: 'program_reported' }
    const reported = browserComparison(run({ '00': 9_000 }), job({ '11': 9_000 }, ofProgram), null)
    expect(reported.statement).toContain('what the program of the job reported')
  })

  test('with a result that is not an object is refused', () => {
    expect(() => browserComparison(run({ '00': 1 }), { ...job({ '00': 1 }), result: '[1]' }, null)).toThrow()
  })
})
