// Takes a JSON object apart without reading its values: a number in them may be larger than a JavaScript number can hold.

/**
 * The fields of a JSON object, each value as the text it was written in. Of a name that stands twice the last one counts,
 * as for every JSON reader.
 * @param text valid JSON, as the executor writes it. @throws Error when it is no object.
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

/** JSON text of an object; fields that are `undefined` are left out. */
export const jsonObject = (fields: Iterable<readonly [string, string | undefined]>): string =>
  `{${[...fields].flatMap(([name, text]) => (text === undefined ? [] : `${JSON.stringify(name)}:${text}`)).join(',')}}`

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}

/** Where the comma or brace stands that ends the value. */
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
    else if (depth === 0 && (character === ',' || character === '}')) return at
    else if (character === '}' || character === ']') depth--
    at++
  }
  throw new Error('a JSON object was expected')
}

/** One past the closing quote. */
function endOfString(text: string, from: number): number {
  let at = from + 1
  while (at < text.length) {
    if (text[at] === '"') return at + 1
    at += text[at] === '\\' ? 2 : 1
  }
  throw new Error('a JSON object was expected')
}
