// The margin of a seal, and the warnings about shots that are too few for it and results without a verdict (the figures are those of the
// specification's reference on count statistics).
import { describe, expect, test } from '@jest/globals'
import { sealedMargin } from '../../../domain/verification/margin.js'
import { readRun } from '../../../domain/verification/run-counts.js'
import { sealOutlook } from '../../../domain/verification/untestable.js'
import { resultOf } from '../../support/capsules/verification-runs.js'

const bellOf = (shots: number) =>
  resultOf({ '00': shots * 0.4875, '01': shots * 0.0125, '10': shots * 0.0125, '11': shots * 0.4875 })
const local = { hardware: false, local: true, completedAt: null }
const machine = { hardware: true, local: false, completedAt: null }
const cloud = { ...machine, hardware: false }
const sealed = (task: string, text: string, facts = local) => ({ task, run: readRun(text, facts) })
const sealedOf = (text: string, hardware = false) => [sealed('main', text, hardware ? machine : local)]

describe('a declared margin', () => {
  test('that the sealed shots can resolve gets no warning', () => {
    expect(sealedMargin(sealedOf(bellOf(4_000)), 0.1)).toEqual({ margin: 0.1, warnings: [] })
  })

  test('that they cannot resolve gets a warning with the shots needed', () => {
    // About 590 shots of each of two runs. With 400 sealed ones, the re-run needs 1 / (2 / 590 - 1 / 400).
    const { margin, warnings } = sealedMargin(sealedOf(bellOf(400)), 0.1)
    expect(margin).toBe(0.1)
    expect(warnings).toEqual([
      expect.stringMatching(
        /^task "main": 400 sealed shots cannot resolve a margin of 0\.1, so that a verification with as many is most likely not_testable; a re-run would need about 1,\d{3} shots$/
      )
    ])
  })

  test('that no re-run could show gets a warning that says so', () => {
    const [warning] = sealedMargin(sealedOf(bellOf(400)), 0.05).warnings
    expect(warning).toMatch(
      /; no re-run can show it: the sealed run has 400 shots, and more than 1,\d{3} would be needed$/
    )
  })

  test('of any size gets a readable warning', () => {
    for (const margin of [Number.MIN_VALUE, 1e-9, 1 - Number.EPSILON, 1])
      for (const { margin: stated, warnings } of [sealedMargin(sealedOf(bellOf(400)), margin)]) {
        expect(stated).toBe(margin)
        expect(warnings.join()).not.toMatch(/NaN|Infinity|\u221e/)
        expect(warnings.length).toBe(margin < 0.1 ? 1 : 0)
      }
  })
})

describe('a default margin', () => {
  test('is the floor when the shots can resolve it', () => {
    expect(sealedMargin(sealedOf(bellOf(40_000)), null)).toEqual({ margin: 0.05, warnings: [] })
    expect(sealedMargin(sealedOf(bellOf(40_000), true), null)).toEqual({ margin: 0.1, warnings: [] })
  })

  test('is the smallest that they can resolve otherwise, with a warning', () => {
    const { margin, warnings } = sealedMargin(sealedOf(bellOf(400)), null)
    expect(margin).toBeGreaterThan(0.1)
    expect(warnings).toEqual([
      expect.stringMatching(
        `^task "main": 400 sealed shots cannot resolve a margin of 0.05, so that ${margin} is tolerated; no re-run`
      )
    ])
  })
})

test('each task of a suite is warned about by its least resolving circuit, and tasks without counts are not', () => {
  const many = JSON.stringify({ a: { '0': 50, '1': 50 }, b: { '0': 50_000, '1': 50_000 } })
  const { warnings } = sealedMargin(
    [sealed('two', many), sealed('none', '{"value":1}'), sealed('large', bellOf(40_000))],
    0.05
  )
  expect(warnings).toEqual([expect.stringMatching(/^task "two": 100 sealed shots/)])
})

describe('a result without counts', () => {
  const energy = (metadata: object, more: object = {}) => JSON.stringify({ energy: -1, ...more, metadata })
  const points = (...seeds: (number | null)[]) =>
    energy({ sweep: true }, { points: seeds.map((seed, index) => ({ index, energy: -1, metadata: { seed } })) })
  const unseeded =
    /^task "main": every verification is not_testable: the result has no counts, and nothing fixed the randomness of the sealed run; a seed in the parameters would fix it$/
  const remote =
    /^task "main": every verification is not_testable: the result has no counts, and the sealed run is of a provider’s backend, whose randomness no seed fixes$/

  test.each([
    ['without a seed', energy({ seed: null }), local, unseeded],
    ['without metadata', '{"energy":-1}', local, unseeded],
    ['of a sweep in which one point has no seed', points(7, null), local, unseeded],
    ['of a quantum computer', energy({ seed: 7 }), machine, remote],
    ['of a provider’s simulator', energy({ seed: 7 }), cloud, remote]
  ])('%s can be verified by no re-run, and a seal says so', (_, text, facts, reason) => {
    const { warnings, untestable } = sealOutlook([sealed('main', text, facts)], null)
    expect(warnings).toEqual([expect.stringMatching(reason)])
    expect(untestable).toBe(warnings[0])
  })

  test.each([
    ['with a seed', energy({ seed: 7 })],
    ['of a sweep whose points have seeds', points(7, 8)]
  ])('%s can be verified', (_, text) => {
    expect(sealOutlook([sealed('main', text)], null)).toEqual({ margin: 0.05, warnings: [], untestable: null })
  })

  test('is the only one that a suite is warned about, and the others can be verified', () => {
    const { warnings, untestable } = sealOutlook(
      [sealed('main', energy({ seed: null })), sealed('counted', bellOf(40_000))],
      null
    )
    expect(warnings).toEqual([expect.stringMatching(unseeded)])
    expect(untestable).toBeNull()
  })
})
