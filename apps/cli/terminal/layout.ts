// Lays out tables and lists of names and values within the columns of a terminal. Without a terminal nothing is cut.
import { shortId } from '../../../domain/json/short-id.js'
import { coloured, isTerminal, outScreen, type Screen } from './screen.js'
import { colourOf } from './status-colour.js'
import { clipped, inColumns, widthOf } from './text-width.js'
import { plainLine } from './untrusted-text.js'

export interface Column {
  heading: string
  /** Numbers are aligned to the right. */
  right?: boolean
  /** Where there is no room, the column is cut to this width. Without it, its cells are shown whole. */
  least?: number
  /** Where cutting does not suffice, the column with the highest number is left out. Without it, the column stays. */
  yields?: number
  /** The cells are ids, of which a terminal shows the end. */
  id?: boolean
  /** The cells are statuses or verdicts, which have colours. */
  status?: boolean
}

/** The width of a column that nothing protects, on a terminal that is too narrow for any table. */
const WIDTH_MIN = 3
const GAP = '  '
/** A list whose values would have less room shows them below their names. */
const VALUE_WIDTH_MIN = 24
const VALUE_INDENT = '    '

/** Lines under upper-case headings. @param columns a text is a column that is always shown whole. */
export function table(
  columns: readonly (Column | string)[],
  rows: readonly (readonly string[])[],
  screen: Screen = outScreen()
): string {
  const specified = columns.map((column): Column => (typeof column === 'string' ? { heading: column } : column))
  const short = isTerminal(screen)
  const cells = rows.map((row) =>
    row.map((cell, at) => (short && specified[at]?.id ? shortId(plainLine(cell)) : plainLine(cell)))
  )
  const shown = fitted(specified, cells, screen.columns)
  const line = (row: readonly string[], colour: (column: Column, cell: string) => ReturnType<typeof colourOf>) =>
    shown
      .map(({ at, width, column }) => {
        const whole = row[at] ?? ''
        const cell = clipped(whole, width)
        const gap = ' '.repeat(Math.max(0, width - widthOf(cell)))
        const text = coloured(cell, colour(column, whole), screen)
        return column.right ? gap + text : text + gap
      })
      .join(GAP)
      .trimEnd()
  return [
    line(
      specified.map(({ heading }) => heading),
      () => 'bold'
    ),
    ...cells.map((row) => line(row, ({ status }, cell) => (status ? colourOf(cell) : null)))
  ].join('\n')
}

interface Shown {
  column: Column
  /** The place of its cells in a row. */
  at: number
  width: number
}

/** The columns that are shown, with their widths. */
function fitted(columns: readonly Column[], rows: readonly (readonly string[])[], most: number): Shown[] {
  let shown = columns.map((column, at) => ({
    column,
    at,
    width: rows.reduce((widest, row) => Math.max(widest, widthOf(row[at] ?? '')), widthOf(column.heading))
  }))
  if (total(shown) <= most) return shown
  shown = shown.filter(({ column, at }) => column.yields === undefined || rows.some((row) => row[at]))
  for (;;) {
    const cut = cutTo(shown, most, ({ least }) => least)
    if (cut) return cut
    const order = Math.max(...shown.map(({ column }) => column.yields ?? -1))
    if (order < 0) return cutTo(shown, most, () => WIDTH_MIN) ?? shown
    shown = shown.filter(({ column }) => column.yields !== order)
  }
}

const total = (shown: readonly Shown[]): number =>
  shown.reduce((sum, { width }) => sum + width, GAP.length * (shown.length - 1))

/** Takes from the widest column first. Returns null if the columns do not fit even when all are cut to their least. */
function cutTo(shown: readonly Shown[], most: number, leastOf: (column: Column) => number | undefined): Shown[] | null {
  const cut = shown.map((one) => ({ ...one }))
  for (let excess = total(cut) - most; excess > 0; ) {
    const [widest, next] = cut
      .filter(({ column, width }) => width > (leastOf(column) ?? width))
      .sort((one, other) => other.width - one.width)
    if (!widest) return null
    const floor = Math.max(leastOf(widest.column)!, next && next.width < widest.width ? next.width : widest.width - 1)
    const taken = Math.min(excess, widest.width - floor)
    widest.width -= taken
    excess -= taken
  }
  return cut
}

/** @param status whether the value begins with a status or a verdict, which has a colour. */
export type Entry = readonly [name: string, value: string | null | undefined, status?: 'status']

/** `name   value` lines; entries without a value are left out, and long values continue below their beginning. */
export function listing(entries: readonly Entry[], screen: Screen = outScreen()): string {
  const shown = entries.flatMap(([name, value, status]) => (value ? [{ name, value: plainLine(value), status }] : []))
  const widest = Math.max(0, ...shown.map(({ name }) => widthOf(name)))
  const room = screen.columns - widest - GAP.length
  return shown
    .flatMap(({ name, value, status }) => {
      const [word = ''] = /^\w*/.exec(value)!
      const text = status ? coloured(word, colourOf(word), screen) + value.slice(word.length) : value
      if (room < VALUE_WIDTH_MIN)
        return [name, ...inColumns(text, screen.columns - VALUE_INDENT.length).map((part) => VALUE_INDENT + part)]
      const [first = '', ...rest] = inColumns(text, room)
      const indent = ' '.repeat(widest) + GAP
      return [name + ' '.repeat(widest - widthOf(name)) + GAP + first, ...rest.map((part) => indent + part)]
    })
    .join('\n')
}
