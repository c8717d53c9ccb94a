// What no JSON body can contain, whatever the route: keys that reach prototypes, characters that Postgres cannot store,
// numbers that JavaScript has rounded, and shapes made to exhaust a recursive reader. Checked once at the edge, before
// any validator.

import { stringOrNumber } from './json-text.js'

export const DEPTH_MAX = 32
// A submission of 4 MiB can hold far more values than any legitimate request, and validators take time linear in them.
const NODES_MAX = 20_000

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])
// Postgres text cannot store NUL, and UTF-8 cannot encode a lone surrogate.
const NUL = '\u0000'

/**
 * Returns `null` when the value is allowed, otherwise a message with its place and the problem. Iterative, so deep
 * input cannot overflow the stack.
 * @param text of the value, if there is one: a number with a point or an exponent is a float, which may be large.
 */
export function findForbiddenJson(root: unknown, text?: string): string | null {
  const stack: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 1 }]
  let nodes = 1
  // The text is read once for all of its numbers.
  let largeInteger: boolean | null = null
  while (stack.length > 0) {
    const { value, path, depth } = stack.pop()!
    const where = shorten(path) || 'body'
    if (typeof value === 'string') {
      const problem = textProblem(value)
      if (problem) return `${where}: ${problem}`
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) return `${where}: is a number beyond what can be represented`
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
        largeInteger ??= text === undefined || hasLargeInteger(text)
        if (largeInteger)
          return `${where}: an integer beyond 9007199254740991 cannot be carried exactly; send it as a string`
      }
    } else if (typeof value === 'object' && value !== null) {
      if (depth > DEPTH_MAX) return `${where}: is nested deeper than ${DEPTH_MAX} levels`
      const list = Array.isArray(value)
      // Counted before the children are pushed, so that a body of commas costs no more than its text.
      nodes += list ? value.length : Object.keys(value).length
      if (nodes > NODES_MAX) return `body: holds more than ${NODES_MAX} values`
      for (const [key, child] of Object.entries(value)) {
        const childPath = list ? `${path}[${key}]` : path ? `${path}.${key}` : key
        if (!list) {
          const problem = forbiddenKeys.has(key) ? 'is not allowed' : textProblem(key)
          if (problem) return `${shorten(childPath.replaceAll(NUL, ''))}: this key ${problem}`
        }
        stack.push({ value: child, path: childPath, depth: depth + 1 })
      }
    }
  }
  return null
}

function hasLargeInteger(text: string): boolean {
  for (const [token] of text.matchAll(stringOrNumber))
    if (/^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token))) return true
  return false
}

export function textProblem(text: string): string | null {
  if (text.includes(NUL)) return 'holds a NUL character, which cannot be stored; remove it'
  if (!text.isWellFormed()) return 'holds a lone surrogate (half of a character); send valid Unicode'
  return null
}

const REASON_MAX = 4_000

/** Makes external text (a user's exception, a provider's message) storable in Postgres, and at most a screen long. */
export function storableText(text: string): string {
  const whole = text.length > REASON_MAX ? `${text.slice(0, REASON_MAX)}...` : text
  return whole.replaceAll(NUL, '\uFFFD').toWellFormed()
}

const shorten = (path: string): string => (path.length > 100 ? `${path.slice(0, 100)}...` : path).toWellFormed()
