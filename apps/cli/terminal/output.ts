// The output of commands. Results go to stdout, all other messages to stderr. With --json, stdout has exactly one JSON value,
// in the service's own text if it sent one, because its numbers can be beyond JavaScript's range.

/** Makes text safe for a terminal: characters that would move its cursor or change its colours become �. */
export const plain = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (char) => (/[\n\t]/.test(char) ? char : '�'))

/** Like `plain`, for a value that must stay on one line. */
export const plainLine = (text: string): string => plain(text).replace(/\s*\n\s*/g, ' ')

export const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** Prints a message that is not the result of the command. */
export const printNotice = (text: string): void => void process.stderr.write(`${plain(text)}\n`)

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

/** The line below a page of a list that has more rows, or nothing. */
export const pageFooter = (shown: number, total: number, next: string, capped = false): string =>
  capped || shown < total ? `\n\n${shown} of ${capped ? `more than ${total}` : total}; more: ${next}` : ''

const width = (text: string): number => [...text].length

/** Two decimals, or as many as the amount has: `$0.30`, `$0.00145`. */
export const money = (usd: number): string => `$${usd.toFixed(6).replace(/0{1,4}$/, '')}`
