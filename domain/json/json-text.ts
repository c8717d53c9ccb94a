// Splits a JSON object without parsing its values: a number in them can be larger than a JavaScript number can hold.

/**
 * The fields of a JSON object, each value as the exact text of the input. When a name repeats, the last value counts,
 * as in every JSON parser.
 * @param text valid JSON, as the executor writes it.
 * @throws Error when it is not an object.
 */
export function jsonFields(text: string): Map<string, string> {
  const fields = new Map<string, string>()
  let at = skipSpace(text, 0)
  if (text[at] !== '{') throw new Error('a JSON object was expected')
  at = skipSpace(text, at + 1)
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at)
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    const colon = skipSpace(text, nameEnd)
    if (text[colon] !== ':') break
    const start = skipSpace(text, colon + 1)
    const end = endOfValue(text, start)
    fields.set(name, text.slice(start, end).trimEnd())
    if (text[end] === '}') return fields
    at = skipSpace(text, end + 1)
  }
  if (text[at] === '}' && fields.size === 0) return fields
  throw new Error('a JSON object was expected')
}

/** Writes a JSON object from values that are JSON text. Fields that are `undefined` are omitted. */
export const jsonObject = (fields: Iterable<readonly [string, string | undefined]>): string =>
  `{${[...fields].flatMap(([name, text]) => (text === undefined ? [] : `${JSON.stringify(name)}:${text}`)).join(',')}}`

/** The strings and numbers of a JSON text. */
export const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** A value that is JSON text already, and is written unchanged. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** Writes a JSON object in which some fields can be JSON text already. */
export const jsonWithTexts = (fields: object): string =>
  jsonObject(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof JsonText ? value.text : JSON.stringify(value)
    ])
  )

/** The items of a JSON array, each as the exact text of the input. @throws Error when it is not an array. */
export function jsonItems(text: string): string[] {
  const items: string[] = []
  let at = skipSpace(text, 0)
  if (text[at] !== '[') throw new Error('a JSON array was expected')
  at = skipSpace(text, at + 1)
  if (text[at] === ']') return items
  while (true) {
    const end = endOfValue(text, at)
    if (end === text.length) throw new Error('a JSON array was expected')
    items.push(text.slice(at, end).trimEnd())
    if (text[end] === ']') return items
    at = skipSpace(text, end + 1)
  }
}

/**
 * The exact text of the value that a JSON pointer (RFC 6901) names; `null` when there is none.
 * @param pointer '' is the whole value; otherwise each part follows a `/`.
 */
export function jsonAt(text: string, pointer: string): string | null {
  let found = text.trim()
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const inside = found.startsWith('{')
      ? jsonFields(found).get(name)
      : found.startsWith('[') && /^(0|[1-9]\d{0,8})$/.test(name)
        ? jsonItems(found)[Number(name)]
        : undefined
    if (inside === undefined) return null
    found = inside
  }
  return found
}

/** The deepest nesting of objects and arrays. */
export function jsonDepth(text: string): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at) - 1
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth)
    else if (character === '}' || character === ']') depth--
  }
  return deepest
}

/** The size in bytes of UTF-8. */
export const jsonSize = (text: string): number => new TextEncoder().encode(text).length

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}

/** The position of the comma, brace or bracket that follows the value; the end of the text when there is none. */
function endOfValue(text: string, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const character = text[at]
    if (character === '"') {
      at = endOfString(text, at)
      continue
    }
    if (character === '{' || character === '[') depth++
    else if (depth === 0 && (character === ',' || character === '}' || character === ']')) return at
    else if (character === '}' || character === ']') depth--
    at++
  }
  return text.length
}

/** One past the closing quote. A string can have 16 MiB, in which `indexOf` finds a quote a hundred times faster than a loop. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let first = quote
    while (text[first - 1] === '\\') first--
    // An even number of backslashes escapes nothing behind them.
    if ((quote - first) % 2 === 0) return quote + 1
  }
  throw new Error('a JSON object was expected')
}
