// The grammar of observables, which the executor reads again.
import { describe, expect, test } from '@jest/globals'
import { codeOf } from '../../../../domain/errors.js'
import { assertObservables } from '../../../../domain/jobs/params/observables.js'

describe('an observable', () => {
  test.each([
    ['Z'],
    ['XI + 0.5*ZZ'],
    [' - XI-ZZ '],
    ['1.*XX + .5 * YY - 2e-3*ZZ'],
    ['0.1*II + 0.2*II'],
    ['I'.repeat(256)]
  ])('%j is accepted', (text) => expect(() => assertObservables([text])).not.toThrow())

  test.each([
    ['', 'params.observables[0]: cannot be read at character 1'],
    ['zz', 'cannot be read at character 1: write terms such as ZZ, -XI or 0.5*ZZ, joined by + or - (got "zz")'],
    ['ZZ XX', 'cannot be read at character 4'],
    ['ZZ +', 'cannot be read at character 5'],
    ['0.5 ZZ', 'cannot be read at character 1'],
    ['2*3*ZZ', 'cannot be read at character 3'],
    ['ZZ @ XX', 'cannot be read at character 4'],
    ['0.5j*ZZ', 'cannot be read at character 1'],
    ['Z\nZ', 'cannot be read at character 2'],
    ['XI + Z', 'every term must have one letter for each qubit (got "XI + Z")'],
    ['1e308*Z + 1e308*Z', 'has a coefficient that is too large'],
    [`${'X'.repeat(100)}?`, `(got "${'X'.repeat(60)}...")`]
  ])('%j is refused', (text, message) => {
    try {
      assertObservables([text])
    } catch (error) {
      expect([codeOf(error), (error as Error).message]).toEqual(['validation_error', expect.stringContaining(message)])
      return
    }
    throw new Error('accepted')
  })

  test('is named by its place in the list', () => {
    expect(() => assertObservables(['ZZ', 'ZQ'])).toThrow('params.observables[1]: cannot be read at character 2')
  })
})

test('all observables of a job have at most 1,000 terms, counting equal products once', () => {
  const words = Array.from({ length: 501 }, (_, at) =>
    at.toString(2).padStart(9, '0').replaceAll('0', 'X').replaceAll('1', 'Z')
  )
  const sum = words.join('+')
  expect(() => assertObservables([sum, words.slice(0, 499).join('-')])).not.toThrow()
  expect(() => assertObservables([`${sum} + ${sum}`])).not.toThrow()
  expect(() => assertObservables([sum, sum])).toThrow(
    'params.observables: must have at most 1000 terms together (got 1,002)'
  )
})
