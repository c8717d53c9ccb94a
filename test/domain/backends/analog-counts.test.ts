import { describe, expect, test } from '@jest/globals'
import { countsOfSites } from '../../../domain/backends/analog-counts.js'

const shot = (preSequence: unknown, postSequence: unknown, shotStatus: unknown = 'Success') => ({
  shotMetadata: { shotStatus },
  shotResult: { preSequence, postSequence }
})

describe('the shots of an analog program', () => {
  test('become one letter per site: empty, ground state, Rydberg state', () => {
    const { counts, failed } = countsOfSites(
      [shot([1, 1, 0], [1, 0, 0]), shot([1, 1, 0], [1, 0, 1]), shot([1, 1, 1], [0, 1, 1])],
      3,
      [0, 1, 2]
    )
    // A site that was empty stays empty, whatever was seen there later.
    expect(Object.fromEntries(counts)).toEqual({ gre: 2, rgg: 1 })
    expect(failed).toBe(0)
  })

  test('are left out when they have failed, or succeeded in part', () => {
    const { counts, failed } = countsOfSites(
      [shot([1], [1]), shot(null, null, 'Failure'), shot([1], [0], 'Partial Success'), shot([1], [0], 'a new word')],
      1,
      [0]
    )
    expect(Object.fromEntries(counts)).toEqual({ g: 1 })
    expect(failed).toBe(3)
  })

  test('are read in the order of the readout', () => {
    expect([...countsOfSites([shot([1, 0], [0, 0])], 2, [1, 0]).counts]).toEqual([['er', 1]])
  })

  test.each<[string, unknown]>([
    ['nothing', null],
    ['no list', {}],
    ['a shot that is nothing', [null]],
    ['a shot without a status', [{ shotResult: { preSequence: [1, 1], postSequence: [1, 1] } }]],
    ['a successful shot without measurements', [{ shotMetadata: { shotStatus: 'Success' } }]],
    ['a shot of another number of sites', [shot([1, 1, 1], [1, 1, 1])]],
    ['sequences of different lengths', [shot([1, 1], [1])]],
    ['what is neither 0 nor 1', [shot([1, 2], [1, 1])]],
    ['text for bits', [shot('11', '11')]]
  ])('are refused when they are %s', (_what, measurements) => {
    expect(() => countsOfSites(measurements, 2, [0, 1])).toThrow()
  })

  test('of sites that the program does not have are refused', () => {
    expect(() => countsOfSites([shot([1], [1])], 1, [0, 1])).toThrow(/site/)
  })
})
