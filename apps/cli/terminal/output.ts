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

/** The line below a page of a list that has more rows, or nothing. */
export const pageFooter = (shown: number, total: number, next: string, capped = false): string =>
  capped || shown < total ? `\n\n${shown} of ${capped ? `more than ${total}` : total}; more: ${next}` : ''

/** Two decimals, or as many as the amount has: `$0.30`, `$0.00145`. */
export const money = (usd: number): string => `$${usd.toFixed(6).replace(/0{1,4}$/, '')}`
