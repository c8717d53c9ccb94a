// The output of commands. Results go to stdout, all other messages to stderr. With --json, stdout has exactly one JSON value,
// in the service's own text if it sent one, because its numbers can be beyond JavaScript's range.
import { errScreen, outScreen } from './screen.js'
import { wrapped } from './text-width.js'
import { plain } from './untrusted-text.js'

/** Prints text for people, whose lines are broken to fit the terminal. */
export const print = (text: string): void => void process.stdout.write(`${wrapped(text, outScreen().columns)}\n`)

/** Prints a value exactly. */
export const printJson = (text: string): void => void process.stdout.write(`${text}\n`)

/** Prints the result of a command: with --json the text of the service, else what `text` makes of it for people. */
export const printResult = ({ json }: { json?: boolean }, own: string, text: () => string): void =>
  json ? printJson(own) : print(text())

/** Prints a message that is not the result of the command. */
export const printNotice = (text: string): void =>
  void process.stderr.write(`${wrapped(plain(text), errScreen().columns)}\n`)

/** How many rows a list has, as each of its pages states it. */
export interface ListTotal {
  total: number
  total_capped?: boolean
  total_estimate?: number
}

/** `17`, `more than 10000`, `about 5,700,000` */
export const totalText = ({ total, total_capped, total_estimate }: ListTotal): string => {
  if (total_estimate !== undefined) return `about ${total_estimate.toLocaleString('en-US')}`
  return total_capped ? `more than ${total}` : String(total)
}

/** The line below a page of a list that has more rows, or nothing. @param shown rows of this page and those before it. */
export const pageFooter = (shown: number, list: ListTotal): string =>
  list.total_capped || shown < list.total ? `\n\n${shown} of ${totalText(list)}; more: --offset ${shown}` : ''

/** Two decimals, or as many as the amount has: `$0.30`, `$0.00145`. */
export const money = (usd: number): string => `$${usd.toFixed(6).replace(/0{1,4}$/, '')}`
