import { describe, expect, test } from '@jest/globals'
import { groupedDigits, numbered, percentText } from '../../../apps/console/text/exact-numbers.js'
import { cellsOf, clipped, shownText } from '../../../apps/console/text/shown-text.js'
import { clockText, durationText, timeTicks } from '../../../apps/console/text/times.js'

describe('a name on one line', () => {
  test('cannot turn the text after it around, hide in it or leave its line', () => {
    expect(shownText('a\u202eb\u2066c\u200bd\u0007e')).toBe('a\uFFFDb\uFFFDc\uFFFDd\uFFFDe')
    expect(shownText('a\n\t b')).toBe('a b')
    expect(shownText('\ud800')).toBe('\uFFFD')
  })

  test('keeps two marks on a character, and no tower of them', () => {
    expect(shownText(`e${'\u0301'.repeat(50)}f`)).toBe('e\u0301\u0301f')
  })

  test('keeps markup, which is drawn as text', () => {
    expect(shownText('<script>alert(1)</script>')).toBe('<script>alert(1)</script>')
  })

  test('is cut at its width, where wide characters count twice', () => {
    expect(clipped('measure', 7)).toBe('measure')
    expect(clipped('measured', 7)).toBe('measur…')
    expect(cellsOf('量子')).toBe(4)
    expect(clipped('量子ビット', 5)).toBe('量子…')
  })

  test('of a million characters is cut without reading them all', () => {
    expect(clipped('q'.repeat(1_000_000), 10)).toBe(`${'q'.repeat(9)}…`)
    expect(clipped(' '.repeat(1_000_000), 10)).toBe(' …')
  })

  test('is never cut inside a character', () => {
    expect(clipped('😀'.repeat(20), 6).isWellFormed()).toBe(true)
  })
})

describe('exact numbers', () => {
  test('have every digit', () => {
    expect(groupedDigits(9_223_372_036_854_775_808n)).toBe('9,223,372,036,854,775,808')
    expect([0, 999, 1_000, 1_000_000].map(groupedDigits)).toEqual(['0', '999', '1,000', '1,000,000'])
    expect(numbered(1n, 'shot')).toBe('1 shot')
    expect(numbered(1_024, 'outcome')).toBe('1,024 outcomes')
  })

  test.each([
    [503n, 1_000n, '50.3 %'],
    [0n, 10n, '0 %'],
    [10n, 10n, '100 %'],
    [1n, 10_000n, '0.01 %'],
    [1n, 1_000_000n, '< 0.01 %'],
    [64n, 10_000n, '0.64 %'],
    [9_996n, 100_000n, '10.0 %'],
    [9_999n, 10_000n, '> 99.9 %'],
    [2n, 3n, '66.7 %'],
    [0n, 0n, '0 %'],
    [2n ** 62n, 2n ** 63n, '50.0 %']
  ])('%p of %p is %s', (count, total, text) => {
    expect(percentText(count, total)).toBe(text)
  })
})

describe('times', () => {
  test.each([
    [0, '0 ms'],
    [420, '420 ms'],
    [4_200, '4.20 s'],
    [59_999, '1 min 00 s'],
    [185_000, '3 min 05 s'],
    [3_599_600, '1 h 00 min'],
    [7_800_000, '2 h 10 min'],
    [273_600_000, '3 d 4 h'],
    [-5, '0 ms']
  ])('%p ms are %s', (span, text) => {
    expect(durationText(span)).toBe(text)
  })

  test('of a clock are UTC', () => {
    expect(clockText(Date.UTC(2026, 10, 21, 10, 24, 44, 900))).toBe('2026-11-21 10:24:44 UTC')
  })

  test.each([1, 7, 950, 61_000, 5_000_000, 90_000_000, 3e9, 3e12])('an axis of %p ms has few, round marks', (span) => {
    const ticks = timeTicks(span, 6)
    expect(ticks[0]).toEqual({ after: 0, label: '0' })
    expect(ticks.length).toBeLessThanOrEqual(7)
    expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length)
    expect(ticks.at(-1)!.after).toBeLessThanOrEqual(span)
  })

  test('a mark is in its own unit', () => {
    expect(timeTicks(200, 4).map(({ label }) => label)).toEqual(['0', '50 ms', '100 ms', '150 ms', '200 ms'])
    expect(timeTicks(90_000, 3).map(({ label }) => label)).toEqual(['0', '30 s', '1 min', '1 min 30 s'])
  })
})
