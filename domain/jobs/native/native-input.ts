// The input of a native submission: JSON text of { entrypoint, args, kwargs }. It is validated here and passed on
// unchanged: its integers can have thousands of digits, which JavaScript would round.
import { ServiceError } from '../../errors.js'

/** Python's default limit for the digits of one integer. */
const INTEGER_DIGITS_MAX = 4_300
/** How many lists and objects can enclose a value, counted from `args` and `kwargs`. */
const DEPTH_MAX = 32

const entrypointShape = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/**
 * Returns the name of the function that an input calls.
 * @throws ServiceError `validation_error` saying what is wrong with the input.
 */
export function readNativeInput(text: string): string {
  // Scanned before it is parsed: JSON.parse takes half a second for half a million nested lists.
  const members = scan(text)
  const call = parsed(text)
  for (const name of ['entrypoint', 'args', 'kwargs'])
    if (!Object.hasOwn(call, name)) throw invalidInput(`${name} is missing; it has entrypoint, args and kwargs`)
  if (members !== 3 || Object.keys(call).length !== 3)
    throw invalidInput('must hold entrypoint, args and kwargs, each once')
  const { entrypoint, args, kwargs } = call
  if (typeof entrypoint !== 'string' || !entrypointShape.test(entrypoint))
    throw invalidInput('entrypoint must be a Python identifier of at most 128 ASCII characters')
  if (!Array.isArray(args)) throw invalidInput('args must be a list')
  if (!isObject(kwargs)) throw invalidInput('kwargs must be an object')
  assertTexts(call)
  return entrypoint
}

function parsed(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalidInput(`must be JSON text (${(error as Error).message.slice(0, 120)})`, error)
  }
  if (isObject(value)) return value
  throw invalidInput('must be JSON text of an object')
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const beginsValue = /["[{\-\dtfn]/

/**
 * Checks what a parsed value no longer shows: depth, repeated names, and the digits of numbers. Text that is not JSON
 * can pass; the parser rejects it next.
 * @returns how many members the outermost object has; a repeated name counts each time.
 */
function scan(text: string): number {
  let depth = 0
  let members = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    // The outermost object adds one level.
    if (depth > DEPTH_MAX && beginsValue.test(character))
      throw invalidInput(`is nested deeper than ${DEPTH_MAX} levels`)
    if (character === '"') at = closingQuote(text, at)
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    else if (character === ':' && depth === 1) members++
    else if (character === '-' || (character >= '0' && character <= '9')) {
      number.lastIndex = at
      const literal = number.exec(text)?.[0] ?? character
      assertNumber(literal)
      at += literal.length - 1
    }
  }
  return members
}

function closingQuote(text: string, from: number): number {
  let at = from + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function assertNumber(literal: string): void {
  if (/[.eE]/.test(literal)) {
    if (!Number.isFinite(Number(literal)))
      throw invalidInput(`holds ${literal.slice(0, 40)}, a number beyond what can be represented`)
  } else if (literal.replace('-', '').length > INTEGER_DIGITS_MAX)
    throw invalidInput(`holds an integer of more than ${INTEGER_DIGITS_MAX} digits`)
}

/** Escape sequences can produce lone surrogates. Iterative, so deep input cannot overflow the stack. */
function assertTexts(root: unknown): void {
  const waiting = [root]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value === 'string') assertText(value)
    else if (Array.isArray(value)) for (const item of value) waiting.push(item)
    else if (isObject(value))
      for (const [key, item] of Object.entries(value)) {
        assertText(key)
        waiting.push(item)
      }
  }
}

function assertText(text: string): void {
  if (!text.isWellFormed()) throw invalidInput('holds a lone surrogate (half of a character)')
}

const invalidInput = (message: string, cause?: unknown) =>
  new ServiceError('validation_error', `input: ${message}`, {}, { cause })
