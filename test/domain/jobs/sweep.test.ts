import { describe, expect, test } from '@jest/globals'
import {
  allFailedError,
  failedOutcome,
  nextBatchSize,
  pointOf,
  sweepResult,
  sweepTexts
} from '../../../domain/jobs/sweep.js'
import { readRun } from '../../../domain/verification/run-counts.js'

const facts = { hardware: false, local: true, completedAt: null }
const ran = (counts: Record<string, number>, metadata: object) => ({
  outcome: JSON.stringify({ counts, execution_time_ms: null, metadata }),
  failed: false
})
const failed = (message: string) => ({ outcome: failedOutcome({ code: 'execution_error', message }), failed: true })
const sampled = { count_source: 'simulator_sampled', bit_order: 'qubit 0 leftmost', shots_observed: 5 }

describe('the parameters of a sweep', () => {
  test('are split into those that the points share and their own, as they were written', () => {
    expect(sweepTexts('{"shots": 10, "points": [{"n": 1.0}, {"n":12345678901234567890}], "theta": 1e0}')).toEqual({
      shared: '{"shots":10,"theta":1e0}',
      points: ['{"n": 1.0}', '{"n":12345678901234567890}']
    })
  })
})

describe('the size of the next batch', () => {
  test('halves until one point is left, so that a crash is found in few requests, and grows again', () => {
    const sizes: number[] = []
    for (let size = 1_000; sizes.at(-1) !== 1; size = nextBatchSize(size, 'the process crashed')) sizes.push(size)
    expect(sizes).toEqual([1_000, 500, 250, 125, 63, 32, 16, 8, 4, 2, 1])
    expect([nextBatchSize(1, null), nextBatchSize(600, null)]).toEqual([2, 1_000])
  })

  test('is one after a time limit, since each request that has the slow point waits for the limit', () => {
    expect(nextBatchSize(1_000, 'time limit of 120 s')).toBe(1)
  })
})

describe('the result of a sweep', () => {
  const points = ['{"theta": 1}', '{}', '{ }']
  const outcomes = [
    ran({ '01': 5 }, { ...sampled, engine: 'aer', seed: 1 }),
    failed('too wide'),
    ran({ '10': 5 }, { ...sampled, engine: 'aer', seed: 2 })
  ]
  const text = sweepResult(points, outcomes, 12)

  test('has the points in order with their own parameters, and names those that failed', () => {
    expect(JSON.parse(text)).toEqual({
      points: [
        { index: 0, params: { theta: 1 }, counts: { '01': 5 }, metadata: { ...sampled, engine: 'aer', seed: 1 } },
        { index: 1, error: { code: 'execution_error', message: 'too wide' } },
        { index: 2, counts: { '10': 5 }, metadata: { ...sampled, engine: 'aer', seed: 2 } }
      ],
      total_points: 3,
      failed_points: [1],
      execution_time_ms: 12,
      metadata: { ...sampled, engine: 'aer', sweep: true }
    })
    expect(JSON.parse(pointOf(text, 2))).toMatchObject({ index: 2, counts: { '10': 5 } })
  })

  test('is compared point by point, each with the seed of its own', () => {
    const circuits = [...readRun(text, facts).circuits].map(([place, { counts, seed }]) => ({ place, counts, seed }))
    expect(circuits).toEqual([
      { place: '/points/0', counts: { '01': 5 }, seed: 1 },
      { place: '/points/2', counts: { '10': 5 }, seed: 2 }
    ])
  })

  test('is not imitated by a program that returns the same members', () => {
    const { metadata: _, ...returned } = JSON.parse(text)
    const imitated = JSON.stringify({ ...returned, metadata: { count_source: null, bit_order: null } })
    expect(
      [...readRun(imitated, facts).circuits.values()].map(({ madeBy, countSource }) => [madeBy, countSource])
    ).toEqual([
      ['program', null],
      ['program', null]
    ])
  })
})

test('a sweep of which every point failed has the error of its first point', () => {
  expect(allFailedError(failed('too wide').outcome, 3)).toEqual({
    code: 'execution_error',
    message: 'all 3 points failed; point 0: too wide'
  })
})
