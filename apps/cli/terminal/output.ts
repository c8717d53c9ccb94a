// What commands print. Results go to stdout, everything said along the way to stderr. With --json stdout holds one JSON
// value and nothing else, in the service's own text where it has sent one: a number in it may be larger than a
// JavaScript number can hold.

/** Text for a terminal: characters that would move its cursor or change its colours are shown as �. */
export const plain = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (char) => (/[\n\t]/.test(char) ? char : '�'))

/** The same for a value that stands on a line with others. */
export const plainLine = (text: string): string => plain(text).replace(/\s*\n\s*/g, ' ')

export const print = (text: string): void => void process.stdout.write(`${text}\n`)

export const say = (text: string): void => void process.stderr.write(`${plain(text)}\n`)

/** Lines under upper-case headings; columns of numbers (named in `right`) are aligned to the right. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], right: string[] = []): string {
  const cells = [headings, ...rows.map((row) => row.map(plainLine))]
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => width(row[column] ?? ''))))
  return cells
    .map((row) =>
      row
        .map((cell, column) => {
          const gap = ' '.repeat(widths[column]! - width(cell))
          return right.includes(headings[column]!) ? gap + cell : cell + gap
        })
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

/** `name   value` lines; entries without a value are left out. */
export function listing(entries: readonly (readonly [string, string | null | undefined])[]): string {
  const shown = entries.flatMap(([name, value]) => (value ? [[name, plainLine(value)] as const] : []))
  const widest = Math.max(0, ...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${name.padEnd(widest)}  ${value}`).join('\n')
}

const width = (text: string): number => [...text].length

/** Two decimals, or as many as the amount has: `$0.30`, `$0.00145`. */
export const money = (usd: number): string => `$${usd.toFixed(6).replace(/0{1,4}$/, '')}`
