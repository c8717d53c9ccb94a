// The rules of a verdict, one by one.
import { describe, expect, test } from '@jest/globals'
import { judge } from '../../../domain/verification/judge.js'
import type { RunCounts } from '../../../domain/verification/run-counts.js'
import type { Counts } from '../../../domain/verification/statistics/count-pair.js'
import { randomOf } from '../../../domain/verification/statistics/random.js'
import { bell, runOf, sampler } from '../../support/capsules/verification-runs.js'

const fair = { '00': 5000, '11': 5000 }
const nearly = { '00': 5060, '11': 4940 }
const unfair = { '00': 6000, '11': 4000 }
const settings = { margin: 0.05, seedText: 'test' }
const pairOf = (sealed: RunCounts, rerun: RunCounts, name = 'main') => ({ name, sealed, rerun })
const verdictOf = (sealed: RunCounts, rerun: RunCounts, more = {}) =>
  judge([pairOf(sealed, rerun)], { ...settings, ...more })
const seeded = (counts: Counts, changes: Partial<RunCounts> = {}) =>
  runOf(counts, { seed: 7, deterministic: true, ...changes })
const machine = (counts: Counts, changes: Partial<RunCounts> = {}) =>
  runOf(counts, {
    countSource: 'provider_counts',
    engine: 'ionq',
    engineVersion: null,
    hardware: true,
    local: false,
    ...changes
  })

const reported: Partial<RunCounts> = { countSource: 'program_reported', madeBy: 'program' }

describe('the verdict exact', () => {
  test('is given when a seeded simulator repeats its counts, however few shots there are', () => {
    const found = verdictOf(seeded({ '00': 3, '11': 2 }), seeded({ '11': 2, '00': 3 }))
    expect(found).toMatchObject({ verdict: 'exact', method: 'equality', tvd: 0 })
  })

  test('is not given for equal counts without a seed, with another seed, or with another version', () => {
    expect(verdictOf(runOf(fair), runOf(fair)).verdict).toBe('consistent')
    expect(verdictOf(seeded(fair), seeded(fair, { seed: 8 })).verdict).toBe('consistent')
    const newer = verdictOf(seeded(fair), seeded(fair, { engineVersion: '0.18' }))
    expect(newer.verdict).toBe('consistent')
    expect(newer.checks[0]!.notes.join()).toContain('0.18')
  })

  test('is not given for a seeded run with other counts, which is tested with a note', () => {
    const found = verdictOf(seeded(fair), seeded(nearly))
    expect(found).toMatchObject({ verdict: 'consistent', method: 'pearson+cdvv' })
    expect(found.checks[0]!.notes.join()).toContain('the counts are not')
    // With more shots, other counts are intended.
    expect(verdictOf(seeded(fair), seeded({ '00': 9990, '11': 10_010 })).checks[0]!.notes).toEqual([])
  })
})

describe('counts that are not samples of the same circuit are not tested', () => {
  test.each<[string, RunCounts, RunCounts]>([
    ['computed from probabilities', machine(fair, { countSource: 'probability_derived' }), machine(fair)],
    ['computed from probabilities', machine(fair), machine(fair, { countSource: 'probability_derived' })],
    ['not known to be sampling', machine(fair, { countSource: 'oracle' }), machine(fair)],
    ['from what a provider answered', machine(fair, { countSource: null, madeBy: 'program' }), machine(fair)],
    ['the bit orders differ', runOf(fair), runOf(fair, { bitOrder: 'qubit 0 rightmost' })],
    ['other registers', runOf(fair), runOf(fair, { registers: [{ name: 'd', size: 2 }] })],
    ['different circuits', runOf(fair), runOf(fair, { circuitSha256: 'b'.repeat(64) })],
    ['one without a digest', runOf(fair), runOf(fair, { circuitSha256: null })],
    ['does not say how many', runOf(fair, { shots: null }), runOf(fair)],
    ['sum to 10000, but it observed 9999', runOf(fair), runOf(fair, { shots: 9999 })],
    ['no shots', runOf({}), runOf(fair)],
    ['not whole numbers', runOf({ '0': 0.5, '1': 0.5 }), runOf(fair)],
    ['more than any run', runOf({ '0': 2 ** 52, '1': 2 ** 52 - 1 }), runOf({ '0': 2 ** 52, '1': 2 ** 52 - 1 })],
    ['different widths', runOf(fair), runOf({ '0': 5000, '1': 5000 })],
    ['the program’s own', runOf(fair), runOf(fair, { countSource: null, madeBy: 'program' })],
    ['the program’s own', machine(fair), runOf(fair, reported)]
  ])('%s', (reason, sealed, rerun) => {
    const found = verdictOf(sealed, rerun)
    expect(found).toMatchObject({ verdict: 'not_testable', method: 'none', tvd_upper: null })
    expect(found.reason).toContain(reason)
  })

  test.each<[string, RunCounts, RunCounts]>([
    ['reported', runOf(fair, reported), runOf(nearly, reported)],
    ['reported in a re-run of what an earlier release sealed', runOf(fair), runOf(nearly, reported)]
  ])('counts that a program %s are tested and not called the service’s', (_, sealed, rerun) => {
    const found = verdictOf(sealed, rerun)
    expect(found.verdict).toBe('consistent')
    expect(found.checks[0]!.notes).toEqual([expect.stringContaining('the service cannot vouch for them')])
    const exact = verdictOf(seeded(fair, reported), seeded(fair, reported))
    expect(exact.reason).toBe('the program reported the same counts, with the same seed and the same versions')
  })

  test('counts that a program returned are tested with a note, when a local simulator ran', () => {
    const own = (counts: Counts) => runOf(counts, { countSource: null, madeBy: 'program', circuitSha256: null })
    const found = verdictOf(own(fair), own(nearly))
    expect(found.verdict).toBe('consistent')
    expect(found.checks[0]!.notes.join()).toContain('the program itself')
  })
})

test('a note states the assumed bit order when neither run names one', () => {
  const unsaid = (counts: Counts) => runOf(counts, { bitOrder: null })
  const found = verdictOf(unsaid(fair), unsaid(nearly))
  expect(found.verdict).toBe('consistent')
  expect(found.checks[0]!.notes.join()).toContain('neither run states its bit order')
})

describe('a tested circuit is', () => {
  test('consistent: no difference, and the bound is within the margin', () => {
    const found = verdictOf(runOf(fair), runOf(nearly))
    expect(found.verdict).toBe('consistent')
    expect(found.tvd).toBeCloseTo(0.006, 12)
    expect(found.tvd_upper!).toBeGreaterThan(found.tvd!)
    expect(found.tvd_upper!).toBeLessThan(0.05)
    expect(found.p_values.combined).toBe(Math.min(1, 2 * Math.min(found.p_values.pearson!, found.p_values.cdvv!)))
    expect(found).not.toHaveProperty('needed_shots')
  })

  test('different: whatever a simulator is found to differ by', () => {
    expect(verdictOf(runOf(fair), runOf(unfair), { margin: 0.5 }).verdict).toBe('different')
  })

  test('drifted: a machine that differs by less than the margin; different when by more', () => {
    const small = verdictOf(
      machine(fair),
      machine(unfair, { calibrationId: 'new', completedAt: '2026-03-02T00:00:00Z' }),
      {
        margin: 0.2
      }
    )
    expect(small.verdict).toBe('drifted')
    expect(small.reason).toMatch(
      /no failure of the code; it is not known whether the calibration is the same, 24\.0 hours have passed$/
    )
    expect(small.checks[0]!.hardware).toEqual({
      sealed_calibration_id: null,
      rerun_calibration_id: 'new',
      elapsed_seconds: 86_400
    })
    const [old, now] = [machine(fair, { calibrationId: 'old' }), machine(unfair, { calibrationId: 'new' })]
    const large = verdictOf(old, now, { margin: 0.05 })
    expect(large.verdict).toBe('different')
    expect(large.reason).toMatch(/margin 0\.05; the calibration is another one \(old sealed, new now\)/)
  })

  test('not testable: too few shots for the margin, with the number needed', () => {
    const few = { '00': 100, '11': 100 }
    const found = verdictOf(runOf(fair), runOf(few))
    expect(found.verdict).toBe('not_testable')
    expect(found.needed_shots).toBeGreaterThan(200)
    expect(found.reason).toContain('need about')
    const enough = { '00': found.needed_shots! >> 1, '11': found.needed_shots! >> 1 }
    expect(verdictOf(runOf(fair), runOf(enough)).verdict).toBe('consistent')
  })

  test('not testable at all: the sealed run is too short, or the re-run would be too long', () => {
    const few = { '00': 100, '11': 100 }
    const short = verdictOf(runOf(few), runOf(fair))
    expect(short).toMatchObject({ verdict: 'not_testable' })
    expect(short).not.toHaveProperty('needed_shots')
    expect(short.reason).toContain('no re-run can show it')
    const none = verdictOf(runOf(fair), runOf(fair), { margin: 0 })
    expect(none.reason).toContain('no number of shots')
    const long = verdictOf(runOf(fair), runOf(nearly), { margin: 0.0165 })
    expect(long.reason).toContain('at most 100,000')
  })

  test('not testable with more shots needed than planned, when the counts are further apart', () => {
    const [sealed, rerun] = [runOf({ '00': 50_000, '11': 50_000 }), runOf({ '00': 2060, '11': 1940 })]
    const margin = verdictOf(sealed, rerun).tvd_upper! * 0.99
    const found = verdictOf(sealed, rerun, { margin })
    expect(found.verdict).toBe('not_testable')
    expect(found.needed_shots).toBeGreaterThan(4000)
  })

  test('consistent with unequal shots of one distribution', () => {
    expect(verdictOf(runOf({ '00': 50_000, '11': 50_000 }), runOf({ '00': 1010, '11': 990 })).verdict).toBe(
      'consistent'
    )
  })

  test('never failed for having one shot each', () => {
    expect(verdictOf(runOf({ '00': 1 }), runOf({ '11': 1 })).verdict).toBe('not_testable')
  })
})

describe('several circuits', () => {
  const random = randomOf('several circuits')
  const draw = sampler(bell(4, 0.05), random)

  test('share one error rate: a p that fails a single circuit passes among twenty', () => {
    const odd = pairOf(runOf({ '00': 5000, '11': 5000 }), runOf({ '00': 5220, '11': 4780 }), 'odd')
    const alone = judge([odd], settings)
    expect(alone.verdict).toBe('different')
    const others = Array.from({ length: 19 }, (_, k) => pairOf(runOf(fair), runOf(fair), `equal ${k}`))
    const together = judge([odd, ...others], settings)
    expect(together.verdict).toBe('consistent')
    const adjusted = together.checks[0]!
    expect(adjusted.p_adjusted).toBeCloseTo(20 * adjusted.p_values.combined!, 10)
  })

  test('the capsule has the worst verdict, and the reason names its circuit', () => {
    const found = judge(
      [
        pairOf(seeded(fair), seeded(fair), 'one'),
        pairOf(runOf(fair), runOf(nearly), 'two'),
        pairOf(runOf(fair), runOf(unfair), 'three'),
        pairOf(runOf({ '0': 1 }), runOf({ '0': 1 }), 'four')
      ],
      settings
    )
    expect(found.checks.map(({ verdict }) => verdict)).toEqual(['exact', 'consistent', 'different', 'not_testable'])
    expect(found.verdict).toBe('different')
    expect(found.reason).toContain('three (1 different, 1 not_testable, 1 consistent, 1 exact)')
    expect(found.p_values).toEqual(found.checks[2]!.p_values)
  })

  test('can still be separated by the permutation test alone, however many there are', () => {
    const sparse = (from: number) =>
      Object.fromEntries(Array.from({ length: 200 }, (_, k) => [(from + k).toString(2).padStart(9, '0'), 4]))
    const pairs = Array.from({ length: 30 }, (_, k) => pairOf(runOf(draw(500)), runOf(draw(500)), `equal ${k}`))
    const found = judge([...pairs, pairOf(runOf(sparse(0)), runOf(sparse(256)), 'apart')], settings)
    expect(found.checks.at(-1)).toMatchObject({ verdict: 'different', p_values: { pearson: null } })
  })
})

describe('the report', () => {
  test('is the same, to the last digit, for the same runs', () => {
    const report = () => JSON.stringify(verdictOf(runOf(fair), runOf(nearly)))
    expect(report()).toBe(report())
    const other = judge([pairOf(runOf(fair), runOf(nearly))], { ...settings, seedText: 'other' })
    expect(JSON.stringify(other)).not.toBe(report())
  })

  test('is JSON without loss, and includes the statement of the public compare tool', () => {
    const found = verdictOf(runOf(fair), runOf(nearly))
    expect(JSON.parse(JSON.stringify(found))).toEqual(found)
    expect(found.compare).toMatchObject({ epsilon: 0.02, says: 'INCONCLUSIVE' })
    expect(found.compare.note).toContain('7,490')
    expect(verdictOf(runOf({ '0': 90_000 }), runOf({ '0': 90_000 })).compare.says).toBe('VERIFIED')
  })

  test('without circuits is not testable', () => {
    expect(judge([], settings)).toMatchObject({ verdict: 'not_testable', method: 'none', checks: [] })
  })
})
