// Tables, lists of values and charts within the columns of a terminal.
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from '@jest/globals'
import { countsChart } from '../../../apps/cli/jobs/counts-chart.js'
import { listing, table } from '../../../apps/cli/terminal/layout.js'
import { paper, screenOf } from '../../../apps/cli/terminal/screen.js'
import { clipped, widthOf, wrapped } from '../../../apps/cli/terminal/text-width.js'

const terminal = (columns: number, colours = false) => ({ columns, colours })
const widths = (text: string) => text.split('\n').map((line) => widthOf(line))

const columns = [
  { heading: 'ID' },
  { heading: 'STATUS', status: true },
  { heading: 'MODE', yields: 2 },
  { heading: 'COST', right: true, yields: 3 },
  { heading: 'NAME', least: 10, yields: 1 }
]
const rows = [
  ['01a1fdb6', 'completed', 'direct', '$0.30', '量子もつれの実験についてのとても長い名前'],
  ['01a1fdb7', 'failed', 'temporal', '$12.00', `${'🙂'.repeat(30)} after\tmany\nsmiles \x1b[2J`]
]

test('a table without a terminal shows every cell whole', () => {
  const lines = table(columns, rows, paper).split('\n')
  expect(lines[0]).toMatch(/^ID {8}STATUS {5}MODE {6} +COST {2}NAME$/)
  expect(lines[1]).toContain('量子もつれの実験についてのとても長い名前')
  expect(lines[2]).toMatch(/^01a1fdb7 {2}failed {5}temporal {2}\$12\.00 {2}(🙂){30} after many smiles �\[2J$/u)
})

test.each([20, 30, 40, 60, 80, 120])('no line of a table is wider than a terminal of %i columns', (most) => {
  const text = table(columns, rows, terminal(most))
  expect(Math.max(...widths(text))).toBeLessThanOrEqual(most)
  expect(text.split('\n')).toHaveLength(3)
  expect(text.isWellFormed()).toBe(true)
})

test('a table cuts its flexible columns first, and then leaves out the column that yields first', () => {
  const cut = table(columns, rows, terminal(60)).split('\n')
  expect(cut[0]).toMatch(/ID +STATUS +MODE +COST +NAME/)
  expect(cut[1]).toMatch(/量子.*…$/)
  expect(table(columns, rows, terminal(46)).split('\n')[0]).toMatch(/^ID +STATUS +MODE +NAME$/)
  expect(table(columns, rows, terminal(32)).split('\n')[0]).toMatch(/^ID +STATUS +NAME$/)
  expect(table(columns, rows, terminal(22)).split('\n')[0]).toMatch(/^ID +STATUS$/)
})

test('columns without any value are the first to be left out', () => {
  const empty = rows.map(([id, status, , cost, name]) => [id!, status!, '', cost!, name!])
  expect(table(columns, empty, terminal(50)).split('\n')[0]).toMatch(/^ID +STATUS +COST +NAME$/)
  expect(table(columns, empty, paper)).toMatch(/MODE/)
})

test('statuses have colours where there are any, also when they are cut, and take no room', () => {
  const text = table(columns, rows, terminal(60, true))
  expect(text).toContain('\x1b[32mcompleted\x1b[39m')
  expect(text).toContain('\x1b[31mfailed\x1b[39m')
  expect(stripVTControlCharacters(text)).toBe(table(columns, rows, terminal(60)))
  expect(listing([['status', 'failed (at last)', 'status']], terminal(60, true))).toBe(
    'status  \x1b[31mfailed\x1b[39m (at last)'
  )
})

test('a list of values breaks long values below their beginning, and loses nothing', () => {
  const value = `${'a'.repeat(100)} 量子もつれの実験 ${'word '.repeat(20)}`
  for (const most of [30, 60, 80]) {
    const text = listing(
      [
        ['a name', value],
        ['none', null]
      ],
      terminal(most)
    )
    expect(Math.max(...widths(text))).toBeLessThanOrEqual(most)
    expect(text.replace(/\s/g, '')).toBe(`aname${value.replace(/\s/g, '')}`)
  }
  expect(listing([['a name', value]], paper)).toBe(`a name  ${value}`)
})

test('a cut never splits a character, and never exceeds the width', () => {
  for (const text of ['🙂🙂🙂🙂', '𠀀𠀁𠀂𠀃𠀄', 'e\u0301e\u0301e\u0301e\u0301', '日本語の名前', 'a🙂b日c'])
    for (let most = 1; most < 12; most++) {
      const cut = clipped(text, most)
      expect(cut.isWellFormed()).toBe(true)
      expect(widthOf(cut)).toBeLessThanOrEqual(most)
    }
  expect(clipped('whole', 5)).toBe('whole')
  expect(clipped('too long', 5)).toBe('too …')
})

test('messages are broken at spaces and keep their indentation; commands that fit stay in one line', () => {
  expect(wrapped('  a message that is long', 12)).toBe('  a message\n  that is\n  long')
  expect(wrapped('short\n\nlines', 12)).toBe('short\n\nlines')
  expect(wrapped('x'.repeat(30), 12)).toBe(`${'x'.repeat(12)}\n${'x'.repeat(12)}\n${'x'.repeat(6)}`)
})

test.each([30, 60, 80])('the bars of counts fit a terminal of %i columns', (most) => {
  const text = countsChart({ '00000000': 480, '11111111': 544 }, terminal(most))
  expect(Math.max(...widths(text))).toBeLessThanOrEqual(most)
  expect(text).toMatch(/^11111111 {2}(█+ +)?544 +53\.1 %$/m)
})

test('colours need a terminal that has them, and NO_COLOR turns them off, also against FORCE_COLOR', () => {
  const stream = (isTTY: boolean) => ({ isTTY, columns: 100, hasColors: () => true }) as unknown as NodeJS.WriteStream
  expect(screenOf(stream(true), {})).toEqual({ columns: 100, colours: true })
  expect(screenOf(stream(true), { NO_COLOR: '1', FORCE_COLOR: '1' })).toEqual({ columns: 100, colours: false })
  expect(screenOf(stream(false), { FORCE_COLOR: '1' })).toEqual(paper)
})
