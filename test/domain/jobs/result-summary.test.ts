// The lines of a result that lists of jobs show.
import { expect, test } from '@jest/globals'
import { resultSummary, SEARCHED_CHARACTERS_MAX } from '../../../domain/jobs/result-summary.js'

const summaryOf = (summary: unknown) => resultSummary(JSON.stringify({ counts: { 0: 1 }, _summary: summary }))

test('the summary of a result is its own member, not one of the same name deeper inside', () => {
  expect(summaryOf({ Energy: '-1.137 hartree' })).toEqual({ Energy: '-1.137 hartree' })
  expect(resultSummary('{"inner":{"_summary":{"a":"b"}},"text":"\\"_summary\\":{}"}')).toBeNull()
  expect(resultSummary('{"counts":{"0":1}}')).toBeNull()
})

test.each([[null], [3], ['text'], [['a']], [{}]])('a summary that is no object with lines is none: %j', (summary) => {
  expect(summaryOf(summary)).toBeNull()
})

test('values that are no texts are shown as they are written, with all digits', () => {
  expect(resultSummary('{"_summary":{"n":12345678901234567890,"x":1.0,"list":[1,2],"no":null}}')).toEqual({
    n: '12345678901234567890',
    x: '1.0',
    list: '[1,2]',
    no: 'null'
  })
})

test('a summary is at most 20 lines, with labels of 100 and texts of 200 characters', () => {
  const lines = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n} ${'l'.repeat(200)}`, 't'.repeat(5_000)]))
  const shown = Object.entries(summaryOf(lines)!)
  expect(shown).toHaveLength(20)
  expect(shown[0]).toEqual([`0 ${'l'.repeat(95)}...`, `${'t'.repeat(197)}...`])
})

test('a summary holds no half of a character and nothing that the database refuses', () => {
  expect(summaryOf({ cut: `${'t'.repeat(196)}😀${'t'.repeat(20)}` })).toEqual({ cut: `${'t'.repeat(196)}...` })
  expect(resultSummary('{"_summary":{"\\u0000":"\\ud800"}}')).toEqual({ '\uFFFD': '\uFFFD' })
})

test('a label can be the name of a property that objects inherit', () => {
  expect(JSON.stringify(resultSummary('{"_summary":{"__proto__":"a","constructor":"b"}}'))).toBe(
    '{"__proto__":"a","constructor":"b"}'
  )
})

test('results beyond 4 MiB are not searched', () => {
  const text = (padding: number) => `{"_summary":{"a":"b"},"values":"${'x'.repeat(padding)}"}`
  const around = text(0).length
  expect(resultSummary(text(SEARCHED_CHARACTERS_MAX - around))).toEqual({ a: 'b' })
  expect(resultSummary(text(SEARCHED_CHARACTERS_MAX - around + 1))).toBeNull()
})
