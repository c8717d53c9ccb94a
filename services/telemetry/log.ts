// The log of a process: one JSON object per line on standard error, of the same form in every process. Errors are logged by an allow-list, since libraries attach
// what they worked on to their errors: a query its parameters, Redis the arguments of a command, which include its password.
import { type Logger, type LoggerOptions, pino } from 'pino'

interface LoggedError {
  type: string
  message: string
  code?: string | number
  constraint?: string
  query?: string
  stack?: string
  cause?: LoggedError
}

const MESSAGE_MAX = 2_000
const STACK_MAX = 4_000
const CAUSES_MAX = 5

/** @returns what a log shows of a thrown value: no field of an error but the ones named here. */
function errorForLog(thrown: unknown, depth = 0): LoggedError {
  if (!(thrown instanceof Error) && !isErrorLike(thrown)) return { type: typeof thrown, message: 'not an error' }
  const { stack, cause, code, constraint_name, query } = thrown as Error & Record<string, unknown>
  const message = String((thrown as Error).message)
  // drizzle's message is the query and all its parameters; a syntax error of JSON quotes the text.
  const quotes = Array.isArray((thrown as { params?: unknown }).params) || thrown instanceof SyntaxError
  const frames = framesOf(stack, message)
  return {
    type: typeOf(thrown as object),
    message: quotes ? '(withheld: it quotes values)' : cut(message, MESSAGE_MAX),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof constraint_name === 'string' && { constraint: constraint_name }),
    ...(typeof query === 'string' && { query: cut(query, MESSAGE_MAX) }),
    ...(frames && { stack: frames }),
    ...(cause != null && depth < CAUSES_MAX && { cause: errorForLog(cause, depth + 1) })
  }
}

const isErrorLike = (thrown: unknown): boolean =>
  typeof (thrown as { message?: unknown } | null)?.message === 'string' &&
  typeof (thrown as { stack?: unknown }).stack === 'string'

const typeOf = (thrown: object): string => {
  const { name } = thrown as { name?: unknown }
  const own = thrown.constructor?.name
  return typeof name === 'string' && name !== 'Error' ? name : own || 'Error'
}

/** The lines of a stack after its message, which the stack repeats; none when the message was changed since. */
function framesOf(stack: unknown, message: string): string | null {
  if (typeof stack !== 'string') return null
  const at = stack.indexOf(message)
  if (at < 0) return null
  const frames = stack
    .slice(at + message.length)
    .split('\n')
    .filter((line) => line.startsWith('    at '))
  return frames.length > 0 ? cut(frames.join('\n'), STACK_MAX) : null
}

const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max)}…`)

/** The options of every logger of the product; docs/operations/observability.md describes the lines. */
export const logOptions = {
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: {
    level: (word) => ({ level: word }),
    log: snakeCased
  },
  serializers: { err: (thrown: unknown) => errorForLog(thrown) }
} satisfies LoggerOptions

/** Fields have the names that they have in the API, whatever the code calls them: `jobId` is logged as `job_id`. */
function snakeCased(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value]))
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Lines that a full disk does not take are kept up to this size, and lost beyond it. */
const UNWRITTEN_MAX = 1024 * 1024

export type LoggingProcess = 'api' | 'worker' | 'emulators' | 'supervisor'

/** @param fd of the file to write to. */
export function createLog(name: LoggingProcess, level: string, fd = 2): Logger {
  const destination = pino.destination({ dest: fd, sync: true, maxLength: UNWRITTEN_MAX })
  // Without a listener, a full disk would stop the process.
  destination.on('error', () => {})
  return pino({ ...logOptions, level, base: { process: name } }, destination)
}

/** Logs what Node would print as text: its warnings, and the error that stops the process. */
export function logOwnFaults(log: Logger): void {
  process.removeAllListeners('warning')
  process.on('warning', (warning) => log.warn({ err: warning }, 'a warning of Node'))
  process.on('uncaughtExceptionMonitor', (err) => log.fatal({ err }, 'the process stops: an error was not handled'))
}
