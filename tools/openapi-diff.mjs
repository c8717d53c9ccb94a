// Compares two OpenAPI documents and prints every difference that a client can notice:
//   node tools/openapi-diff.mjs BEFORE AFTER
// Texts for people (title, description, summary, examples) are left out, and so is the order within `required` and `enum`.
// Exits with 1 when it prints a difference.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const texts = new Set(['title', 'description', 'summary', 'example', 'examples'])
/** Below these keywords the keys are names that the document gives, so a field called `title` is compared. */
const maps = new Set(['properties', 'patternProperties', 'paths', 'schemas', 'responses', 'headers', 'content'])
const sets = new Set(['required', 'enum'])

/**
 * @param {unknown} before
 * @param {unknown} after
 * @returns {string[]} one line for each difference: the place, then what changed
 */
export function openapiDifferences(before, after) {
  /** @type {string[]} */
  const lines = []
  compare(before, after, [], false)
  return lines

  function compare(old, now, path, named) {
    if (isObject(old) && isObject(now)) {
      for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
        if (!named && texts.has(key)) continue
        const place = [...path, key]
        if (!Object.hasOwn(now, key)) lines.push(`- ${placeText(place)}: ${JSON.stringify(old[key])}`)
        else if (!Object.hasOwn(old, key)) lines.push(`+ ${placeText(place)}: ${JSON.stringify(now[key])}`)
        else compare(old[key], now[key], place, !named && maps.has(key))
      }
      return
    }
    if (Array.isArray(old) && Array.isArray(now)) {
      const [left, right] = !named && sets.has(path.at(-1)) ? [[...old].sort(), [...now].sort()] : [old, now]
      if (left.length === right.length) {
        for (const [place, value] of left.entries()) compare(value, right[place], [...path, String(place)], false)
        return
      }
    }
    if (JSON.stringify(old) !== JSON.stringify(now))
      lines.push(`~ ${placeText(path)}: ${JSON.stringify(old)} -> ${JSON.stringify(now)}`)
  }
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A JSON pointer. */
const placeText = (path) => path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [before, after] = process.argv.slice(2)
  if (!before || !after) {
    process.stderr.write('usage: node tools/openapi-diff.mjs BEFORE AFTER (two OpenAPI documents as JSON files)\n')
    process.exit(2)
  }
  const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
  const lines = openapiDifferences(read(before), read(after))
  for (const line of lines) process.stdout.write(`${line}\n`)
  process.exitCode = lines.length > 0 ? 1 : 0
}
