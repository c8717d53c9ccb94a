// Reads an untrusted YAML document as a JSON value, and maps a place in the value back to its line. Features that YAML has
// beyond JSON and that can do harm or be ambiguous (aliases, tags, merge keys, directives) are refused by name.
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar
} from 'yaml'
import { ServiceError, validationError } from '../../../../domain/errors.js'
import { findForbiddenJson } from '../../../../domain/json/json-guard.js'

export const YAML_BYTES_MAX = 256 * 1024
/** The depth that JSON bodies can have, and some more for the brackets that a line begins with. */
const DEPTH_MAX = 40
/**
 * Limit on the reader's tokens. A real capsule has far fewer; a text of only brackets and commas takes far more work than its
 * length suggests.
 */
const TOKENS_MAX = 50_000

export interface YamlText {
  value: unknown
  /** The value as JSON text, in which a float stays a float: `1.0`. */
  json: string
  /** Adds the line to `message`, which begins with the place that it is about (`tasks[0].backend: ...`). */
  withLine(message: string): string
}

/** @throws ServiceError `validation_error` naming the line. */
export function readYaml(bytes: Buffer): YamlText {
  if (bytes.length > YAML_BYTES_MAX)
    throw new ServiceError('payload_too_large', `file: must have at most 256 KiB (got ${bytes.length} bytes)`)
  const text = decode(bytes)
  assertShallow(text)
  const lines = new LineCounter()
  const document = parse(text, lines)
  const lineAt = (offset: number | undefined) => lines.linePos(offset ?? 0).line || 1
  const [fault] = [...document.errors, ...document.warnings].sort((one, other) => one.pos[0] - other.pos[0])
  if (fault)
    throw validationError(
      `line ${lineAt(fault.pos[0])}: ${fault.code === 'MULTIPLE_DOCS' ? 'begins a second document; a file holds one' : sentence(fault.message)}`
    )
  if (document.directives?.yaml.explicit)
    throw validationError('line 1: a %YAML directive is not supported; remove the line')
  assertPlain(document, lineAt)
  const value = document.toJS({ maxAliasCount: 0 }) as unknown
  const withLine = (message: string) => `line ${lineAt(offsetOf(document, message))}: ${message}`
  const problem = findForbiddenJson(value)
  if (problem) throw validationError(withLine(problem))
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw validationError('line 1: must be a mapping of fields, such as "name: my capsule"')
  return { value, json: jsonOf(document.contents), withLine }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw validationError('file: is not valid UTF-8', error)
  }
}

/** Refuses deep nesting (of brackets, or `- - -` on one line) and too many tokens before any recursive code reads the text. */
function assertShallow(text: string): void {
  let [depth, inLine, line, tokens] = [0, 0, 1, 0]
  for (const token of new Lexer().lex(text)) {
    if (++tokens > TOKENS_MAX)
      throw validationError(`line ${line}: the file holds more than ${TOKENS_MAX} tokens up to here`)
    if (token === '[' || token === '{') depth++
    else if (token === ']' || token === '}') depth--
    else if (token === '-' || token === '?' || token === ':') inLine++
    // The lexer's own marks (one control character) do not contain a line end; scalars can contain several.
    for (let at = token.indexOf('\n'); at >= 0; at = token.indexOf('\n', at + 1)) {
      line++
      inLine = 0
    }
    if (depth > DEPTH_MAX || (depth === 0 && inLine > DEPTH_MAX))
      throw validationError(`line ${line}: is nested deeper than ${DEPTH_MAX} levels`)
  }
}

function parse(text: string, lineCounter: LineCounter): Document.Parsed {
  try {
    return parseDocument(text, {
      schema: 'core',
      version: '1.2',
      merge: false,
      // The library's check compares every key with every other one.
      uniqueKeys: false,
      stringKeys: true,
      resolveKnownTags: false,
      prettyErrors: false,
      // `silent` would also hide the error about a second document.
      logLevel: 'error',
      lineCounter
    })
  } catch (error) {
    // Indentation alone can nest a document deeper than the stack allows.
    if (error instanceof RangeError) throw validationError(`file: is nested deeper than ${DEPTH_MAX} levels`)
    throw error
  }
}

/** The parser's own message, without the advice on its options. */
const sentence = (message: string): string =>
  message.includes('call stack')
    ? `is nested deeper than ${DEPTH_MAX} levels`
    : message.split('\n', 1)[0]!.slice(0, 200)

/** Iterative, so that a deep document is safe. @throws ServiceError for aliases, merge keys and duplicate keys. */
function assertPlain(document: Document.Parsed, lineAt: (offset: number | undefined) => number): void {
  const stack: { item: unknown; depth: number }[] = [{ item: document.contents, depth: 1 }]
  while (stack.length > 0) {
    const { item, depth } = stack.pop()!
    if (isPair(item)) stack.push({ item: item.key, depth }, { item: item.value, depth })
    else if (isAlias(item))
      throw validationError(
        `line ${lineAt(item.range?.[0])}: *${item.source} is an alias, which is not taken; write it out`
      )
    else if (isMap(item) || isSeq(item)) {
      if (depth > DEPTH_MAX)
        throw validationError(`line ${lineAt(item.range?.[0])}: is nested deeper than ${DEPTH_MAX} levels`)
      if (isMap(item)) assertKeys(item.items, lineAt)
      for (const child of item.items) stack.push({ item: child, depth: depth + 1 })
    }
  }
}

function assertKeys(items: readonly { key: unknown }[], lineAt: (offset: number | undefined) => number): void {
  const seen = new Set<string>()
  for (const { key } of items) {
    if (!isScalar(key)) continue
    const name = String(key.value)
    const where = `line ${lineAt(key.range?.[0])}: `
    if (seen.has(name)) throw validationError(`${where}${name.slice(0, 100)}: this key appears twice in one mapping`)
    if (name === '<<') throw validationError(`${where}<< is a merge key, which is not supported; write the fields out`)
    seen.add(name)
  }
}

/** Of a document that has been found plain and shallow. */
function jsonOf(node: unknown): string {
  if (isMap(node))
    return `{${node.items.map(({ key, value }) => `${JSON.stringify(String((key as Scalar).value))}:${jsonOf(value)}`).join()}}`
  if (isSeq(node)) return `[${node.items.map(jsonOf).join()}]`
  if (!isScalar(node)) return 'null'
  const { value, source = '' } = node
  const isWholeFloat = Number.isInteger(value) && /^[-+]?[0-9]*[.eE]/.test(source)
  // As far as JavaScript writes it without an exponent, which makes it a float too.
  return isWholeFloat && Math.abs(value as number) < 1e21 ? (value as number).toFixed(1) : JSON.stringify(value)
}

/** The position of the value that the message begins with, or where a missing value would have to be. */
function offsetOf(document: Document.Parsed, message: string): number | undefined {
  let node: unknown = document.contents
  let rest = message
  let offset = (node as Node | null)?.range?.[0]
  for (;;) {
    const next = isMap(node) ? entryOf(node.items, rest) : isSeq(node) ? itemOf(node.items, rest) : null
    if (!next) return offset
    node = next.value
    rest = next.rest
    offset = next.offset ?? offset
  }
}

interface Step {
  value: unknown
  rest: string
  offset: number | undefined
}

/** The longest key with which the path continues: a key can contain dots. */
function entryOf(items: readonly { key: unknown; value: unknown }[], path: string): Step | null {
  const text = path.startsWith('.') ? path.slice(1) : path
  const steps = items.flatMap(({ key, value }): (Step & { length: number })[] => {
    const name = isScalar(key) ? String(key.value) : ''
    if (name === '' || !text.startsWith(name) || !/^($|[.[:])/.test(text.slice(name.length))) return []
    return [{ value, rest: text.slice(name.length), offset: (key as Node).range?.[0], length: name.length }]
  })
  return steps.sort((one, other) => other.length - one.length)[0] ?? null
}

function itemOf(items: readonly unknown[], path: string): Step | null {
  const index = /^\[(\d+)\]/.exec(path)
  const value = index && items[Number(index[1])]
  return value ? { value, rest: path.slice(index[0].length), offset: (value as Node).range?.[0] } : null
}
