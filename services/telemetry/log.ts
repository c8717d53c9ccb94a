// The log of a process: one JSON object per line on standard error. Errors are logged by an allow-list, since libraries attach
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

interface LoggedRequest {
  id?: unknown
  method?: unknown
  route?: unknown
}

/** For every logger of the product. `req`: a route's pattern, never a path, a query or a header, which can contain tokens. */
export const logOptions = {
  serializers: {
    err: (thrown: unknown) => errorForLog(thrown),
    req: ({ id, method, route }: LoggedRequest) => ({ id, method, route })
  }
} satisfies LoggerOptions

/** Lines that a full disk does not take are kept up to this size, and lost beyond it. */
const UNWRITTEN_MAX = 1024 * 1024

/** @param fd of the file to write to. */
export function createLog(app: 'api' | 'worker', level: string, fd = 2): Logger {
  const destination = pino.destination({ dest: fd, sync: true, maxLength: UNWRITTEN_MAX })
  // Without a listener, a full disk would stop the process.
  destination.on('error', () => {})
  return pino({ ...logOptions, level, base: { app } }, destination)
}
