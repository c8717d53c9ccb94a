// The text of one member of a JSON object, character for character: parsing and printing it again would round integers
// beyond 2^53.

/** The text of the top-level member `name` in `json`, a valid JSON object; `null` when there is none. */
export function jsonMember(json: string, name: string): string | null {
  let at = skipSpace(json, json.indexOf('{') + 1)
  while (json[at] === '"') {
    const keyEnd = endOfValue(json, at)
    const valueStart = skipSpace(json, skipSpace(json, keyEnd) + 1)
    const valueEnd = endOfValue(json, valueStart)
    if (JSON.parse(json.slice(at, keyEnd)) === name) return json.slice(valueStart, valueEnd)
    const separator = skipSpace(json, valueEnd)
    at = skipSpace(json, separator + 1)
  }
  return null
}

function skipSpace(json: string, from: number): number {
  let at = from
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at++
  return at
}

/** The index after the value that starts at `from`. */
function endOfValue(json: string, from: number): number {
  let depth = 0
  let at = from
  do {
    const char = json[at]
    if (char === '"') {
      at++
      while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1
    } else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (depth === 0) {
      // A number, true, false or null ends where a separator follows.
      while (at < json.length && !',}] \n\r\t'.includes(json[at]!)) at++
      return at
    }
    at++
  } while (depth > 0)
  return at
}
