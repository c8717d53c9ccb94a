// Reads `capsule.yaml` under the format's own YAML profile: JSON's types and nothing else, so that two readers of one
// document cannot see two values. Whatever the profile leaves open to interpretation is refused.
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  Parser,
  Scalar
} from 'yaml'
import { CANONICAL_DEPTH_MAX } from '../../domain/canonical-json.js'
import { MANIFEST_NAME, packageFault } from './payload-file.js'

export const MANIFEST_BYTES_MAX = 256 * 1024

const fault = (problem: string, line?: number) =>
  packageFault(`${MANIFEST_NAME}${line === undefined ? '' : `, line ${line}`}: ${problem}`)

// Raw, they end a line for some readers and not for others, or cannot be written at all.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const unsettled = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]/

/** Text of the manifest's bytes. @throws ServiceError `validation_error`. */
export function decodedManifest(bytes: Buffer): string {
  if (bytes.length > MANIFEST_BYTES_MAX) throw fault(`is larger than ${MANIFEST_BYTES_MAX} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw fault('is not UTF-8 text')
  }
}

/**
 * The value of a manifest: a mapping with string keys, of plain JSON values, at most 64 levels deep.
 * @throws ServiceError `validation_error` naming the line.
 */
export function readManifest(source: string): Record<string, unknown> {
  if (unsettled.test(source) || !source.isWellFormed())
    throw fault('holds a control character, or one that readers disagree on; write it as an escape in quotes')
  const text = source.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  const document = parsedDocument(text)
  const lineAt = lineCounter(text)
  const lineOf: LineOf = (node) => lineAt(node.range?.[0] ?? 0)
  if (!isMap(document.contents)) throw fault('is not one YAML mapping')
  return jsonValue(document.contents, 1, lineOf) as Record<string, unknown>
}

function parsedDocument(text: string): Document {
  checkDirectives(text)
  checkAmount(text)
  const tokens = [...new Parser().parse(text)]
  checkTokens(tokens, lineCounter(text))
  // Every scalar as it is written: the types are decided below.
  const composer = new Composer({ schema: 'failsafe', version: '1.2', strict: true, uniqueKeys: false, merge: false })
  const documents = [...composer.compose(tokens, true, text.length)]
  if (documents.length !== 1) throw fault('has to hold exactly one document')
  const document = documents[0]!
  const error = document.errors[0] ?? document.warnings.find(({ code }) => code !== 'TAG_RESOLVE_FAILED')
  if (error) throw fault(error.message.slice(0, 200), lineCounter(text)(error.pos[0]))
  return document as Document
}

// A manifest of MANIFEST_BYTES_MAX has some 60,000; what is all commas and brackets would hold everybody up.
const LEXEMES_MAX = 80_000

function checkAmount(text: string): void {
  let lexemes = 0
  for (const _ of new Lexer().lex(text))
    if (++lexemes > LEXEMES_MAX) throw fault(`holds more than ${LEXEMES_MAX} words and signs`)
}

// A mapping costs two levels of tokens; more than any document of CANONICAL_DEPTH_MAX levels has, and no danger to a
// recursive reader.
const TOKEN_DEPTH_MAX = 4 * CANONICAL_DEPTH_MAX

/** What readers disagree on and only the tokens tell: tabs that separate, surrogate escapes; and how deep they nest. */
function checkTokens(tokens: readonly CST.Token[], lineAt: LineAt): void {
  const stack: { token: unknown; depth: number }[] = tokens.map((token) => ({ token, depth: 1 })).reverse()
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { token, depth } = next
    if (depth > TOKEN_DEPTH_MAX) throw fault(`is nested deeper than ${CANONICAL_DEPTH_MAX} levels`)
    if (typeof token !== 'object' || token === null) continue
    const { type, source, offset } = token as { type?: string; source?: string; offset?: number }
    if (typeof source === 'string') {
      if ((type === 'space' || type === 'scalar') && source.includes('\t'))
        throw fault('a tab outside of quotes, blocks and comments', lineAt(offset ?? 0))
      if (type === 'block-scalar-header' && source.includes('\t'))
        throw fault('a tab after the sign of a block', lineAt(offset ?? 0))
      if (type === 'double-quoted-scalar' && hasSurrogateEscape(source))
        throw fault('half of a character as an escape; write the character itself', lineAt(offset ?? 0))
    }
    for (const child of Object.values(token))
      if (typeof child === 'object') stack.push({ token: child, depth: depth + 1 })
  }
}

const hasSurrogateEscape = (source: string): boolean =>
  [...source.matchAll(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[\s\S])/g)].some(([, short, long]) => {
    const code = Number.parseInt(short ?? long ?? '0', 16)
    return code >= 0xd800 && code <= 0xdfff
  })

function checkDirectives(text: string): void {
  const seen = new Set<string>()
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.startsWith('%')) {
      if (line.trim() === '' || line.trimStart().startsWith('#')) continue
      return
    }
    if (line.split(' #')[0]!.includes('\t')) throw fault('a tab in a directive', index + 1)
    const [name, first = ''] = line.slice(1).split(/ +/)
    if (name !== 'YAML' && name !== 'TAG') throw fault(`directive %${name} is not known`, index + 1)
    if (name === 'YAML' && first !== '1.1' && first !== '1.2') throw fault('%YAML must name 1.1 or 1.2', index + 1)
    const key = name === 'YAML' ? name : `${name} ${first}`
    if (seen.has(key)) throw fault(`directive %${key} stands twice`, index + 1)
    seen.add(key)
  }
}

type LineAt = (offset: number) => number
type LineOf = (node: Node) => number

const lineCounter =
  (text: string): LineAt =>
  (offset) => {
    let line = 1
    for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
    return line
  }

const coreTag = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/

function jsonValue(node: unknown, depth: number, lineOf: LineOf): unknown {
  if (node === null) return null
  const at = node as Node
  if (depth > CANONICAL_DEPTH_MAX) throw fault(`is nested deeper than ${CANONICAL_DEPTH_MAX} levels`, lineOf(at))
  if (isAlias(at)) throw fault('holds an alias (*name), which JSON does not have', lineOf(at))
  const tag = (at as { tag?: string }).tag
  if (tag !== undefined && tag !== '!' && !coreTag.test(tag))
    throw fault(`the tag ${tag.slice(0, 80)} is none of YAML's core`, lineOf(at))
  if (isScalar(at)) return scalarValue(at, lineOf)
  const kind = tag === undefined || tag === '!' ? undefined : coreTag.exec(tag)![1]
  if (isSeq(at)) {
    if (kind !== undefined && kind !== 'seq') throw fault(`!!${kind} stands before a list`, lineOf(at))
    return at.items.map((item) => {
      const pair = item as { key?: unknown; items?: unknown }
      if (typeof pair === 'object' && pair !== null && 'key' in pair) throw fault('a pair stands in a list', lineOf(at))
      return jsonValue(item, depth + 1, lineOf)
    })
  }
  if (!isMap(at)) throw fault('holds something that is no JSON value', lineOf(at))
  if (kind !== undefined && kind !== 'map') throw fault(`!!${kind} stands before a mapping`, lineOf(at))
  // Without a prototype: `__proto__` is a key like any other.
  const result = Object.create(null) as Record<string, unknown>
  for (const { key, value } of at.items) {
    const name = jsonValue(key, depth + 1, lineOf)
    const where = (key as Node | null) ?? at
    if (typeof name !== 'string') throw fault('a key is not a string; put it in quotes', lineOf(where))
    const normal = name.normalize('NFC')
    if (Object.hasOwn(result, normal))
      throw fault(`the key ${JSON.stringify(normal).slice(0, 80)} stands twice`, lineOf(where))
    result[normal] = jsonValue(value, depth + 1, lineOf)
  }
  return result
}

const forms = {
  null: /^(?:~|null|Null|NULL|)$/,
  bool: /^(?:true|True|TRUE|false|False|FALSE)$/,
  int: /^[-+]?[0-9]+$/,
  float: /^[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$/
}
type ScalarKind = keyof typeof forms | 'str'

function scalarValue(node: Scalar, lineOf: LineOf): unknown {
  const text = node.source ?? (node.value === null ? '' : String(node.value))
  if (!text.isWellFormed()) throw fault('half of a character (a surrogate escape)', lineOf(node))
  const tag = node.tag === undefined || node.tag === '!' ? undefined : coreTag.exec(node.tag)![1]!
  if (tag === 'map' || tag === 'seq') throw fault(`!!${tag} stands before a scalar`, lineOf(node))
  const plain = node.type === Scalar.PLAIN || node.type === undefined || node.type === null
  const kind = (tag ?? (plain && node.tag !== '!' ? plainKind(text) : 'str')) as ScalarKind
  if (kind === 'str') return text
  if (!forms[kind].test(text) && !(kind === 'float' && forms.int.test(text)))
    throw fault(`${JSON.stringify(text).slice(0, 80)} is no ${kind}`, lineOf(node))
  if (kind === 'null') return null
  if (kind === 'bool') return text.toLowerCase() === 'true'
  const value = Number(text)
  if (kind === 'int' && (text.replace(/^[-+]/, '').length > 16 || !Number.isSafeInteger(value)))
    throw fault('an integer beyond 9007199254740991; write it as a string', lineOf(node))
  if (!Number.isFinite(value)) throw fault('a number beyond what can be represented', lineOf(node))
  return value
}

const plainKind = (text: string): ScalarKind =>
  (Object.keys(forms) as (keyof typeof forms)[]).find((kind) => forms[kind].test(text)) ?? 'str'
