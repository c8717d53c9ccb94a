// The margin of a seal, and the warnings about shots that are too few for it (the figures are those of the
// specification's reference on count statistics).
import { describe, expect, test } from '@jest/globals'
import { sealedMargin } from '../../../domain/verification/margin.js'
import { resultOf } from '../../support/capsules/verification-runs.js'

const bellOf = (shots: number) =>
  resultOf({ '00': shots * 0.4875, '01': shots * 0.0125, '10': shots * 0.0125, '11': shots * 0.4875 })
const sealedOf = (text: string, hardware = false) => [{ task: 'main', text, hardware }]

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
    [
      { task: 'two', text: many, hardware: false },
      { task: 'none', text: '{"value":1}', hardware: false },
      { task: 'text', text: '"a text"', hardware: false },
      { task: 'large', text: bellOf(40_000), hardware: false }
    ],
    0.05
  )
  expect(warnings).toEqual([expect.stringMatching(/^task "two": 100 sealed shots/)])
})
