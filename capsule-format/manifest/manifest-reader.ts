// Reads `capsule.yaml` under the format's own YAML profile: only JSON's types, so that two readers of one document cannot
// see two values. Everything that YAML readers interpret differently is refused.
import { Composer, type Document, isAlias, isMap, isScalar, isSeq, type Node, Scalar } from 'yaml'
import { CANONICAL_DEPTH_MAX } from '../../domain/json/canonical-json.js'
import { manifestFault as fault, lineCounter, manifestTokens } from './manifest-tokens.js'

export const MANIFEST_BYTES_MAX = 256 * 1024

// Unescaped, they end a line for some readers and not for others, or cannot be written at all.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const unsettled = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]/

/** Decodes the manifest's bytes. @throws ServiceError `validation_error`. */
export function decodedManifest(bytes: Buffer): string {
  if (bytes.length > MANIFEST_BYTES_MAX) throw fault(`is larger than ${MANIFEST_BYTES_MAX} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw fault('is not UTF-8 text')
  }
}

/**
 * Returns the value of a manifest: a mapping from strings to plain JSON values, at most 64 levels deep.
 * @throws ServiceError `validation_error` naming the line.
 */
export function readManifest(source: string): Record<string, unknown> {
  if (unsettled.test(source) || !source.isWellFormed())
    throw fault(
      'contains a control character, or one that readers interpret differently; write it as an escape in quotes'
    )
  if (source.includes('\ufeff', 1)) throw fault('contains a byte order mark after its beginning')
  const text = source.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  const document = parsedDocument(text)
  const lineAt = lineCounter(text)
  const lineOf: LineOf = (node) => lineAt(node.range?.[0] ?? 0)
  if (!isMap(document.contents)) throw fault('must be one YAML mapping')
  return jsonValue(document.contents, 1, lineOf) as Record<string, unknown>
}

function parsedDocument(text: string): Document {
  const tokens = manifestTokens(text)
  // Every scalar stays text: the types are decided below.
  const composer = new Composer({ schema: 'failsafe', version: '1.2', strict: true, uniqueKeys: false, merge: false })
  const documents = [...composer.compose(tokens, true, text.length)]
  if (documents.length !== 1) throw fault('must contain exactly one document')
  const document = documents[0]!
  const error = document.errors[0] ?? document.warnings.find(({ code }) => code !== 'TAG_RESOLVE_FAILED')
  if (error) throw fault(error.message.slice(0, 200), lineCounter(text)(error.pos[0]))
  return document as Document
}

type LineOf = (node: Node) => number

const coreTag = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/

function jsonValue(node: unknown, depth: number, lineOf: LineOf): unknown {
  if (node === null) return null
  const at = node as Node
  if (depth > CANONICAL_DEPTH_MAX) throw fault(`is nested deeper than ${CANONICAL_DEPTH_MAX} levels`, lineOf(at))
  if (isAlias(at)) throw fault('contains an alias (*name), which JSON does not have', lineOf(at))
  const tag = (at as { tag?: string }).tag
  if (tag !== undefined && !coreTag.test(tag))
    throw fault(`the tag ${tag.slice(0, 80)} is not one of YAML's core tags`, lineOf(at))
  if (isScalar(at)) return scalarValue(at, lineOf)
  const kind = tag === undefined ? undefined : coreTag.exec(tag)![1]
  if (isSeq(at)) {
    if (kind !== undefined && kind !== 'seq') throw fault(`!!${kind} precedes a list`, lineOf(at))
    return at.items.map((item) => {
      const pair = item as { key?: unknown; items?: unknown }
      if (typeof pair === 'object' && pair !== null && 'key' in pair) throw fault('a list contains a pair', lineOf(at))
      return jsonValue(item, depth + 1, lineOf)
    })
  }
  if (!isMap(at)) throw fault('contains a value that JSON does not have', lineOf(at))
  if (kind !== undefined && kind !== 'map') throw fault(`!!${kind} precedes a mapping`, lineOf(at))
  // Without a prototype, `__proto__` is a key like any other.
  const result = Object.create(null) as Record<string, unknown>
  for (const { key, value } of at.items) {
    const name = jsonValue(key, depth + 1, lineOf)
    const where = (key as Node | null) ?? at
    if (typeof name !== 'string') throw fault('a key is not a string; put it in quotes', lineOf(where))
    const normal = name.normalize('NFC')
    if (Object.hasOwn(result, normal))
      throw fault(`the key ${JSON.stringify(normal).slice(0, 80)} occurs twice`, lineOf(where))
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
  if (!text.isWellFormed()) throw fault('contains half of a character (a surrogate escape)', lineOf(node))
  const tag = node.tag === undefined ? undefined : coreTag.exec(node.tag)![1]!
  if (tag === 'map' || tag === 'seq') throw fault(`!!${tag} precedes a scalar`, lineOf(node))
  const plain = node.type === Scalar.PLAIN || node.type === undefined || node.type === null
  const kind = (tag ?? (plain ? plainKind(text) : 'str')) as ScalarKind
  if (kind === 'str') return text
  if (!forms[kind].test(text) && !(kind === 'float' && forms.int.test(text)))
    throw fault(`${JSON.stringify(text).slice(0, 80)} is not a valid ${kind}`, lineOf(node))
  if (kind === 'null') return null
  if (kind === 'bool') return text.toLowerCase() === 'true'
  const value = Number(text)
  if (kind === 'int' && (text.replace(/^[-+]/, '').length > 16 || !Number.isSafeInteger(value)))
    throw fault('contains an integer beyond 9007199254740991; write it as a string', lineOf(node))
  if (!Number.isFinite(value)) throw fault('contains a number that is too large to represent', lineOf(node))
  return value
}

const plainKind = (text: string): ScalarKind =>
  (Object.keys(forms) as (keyof typeof forms)[]).find((kind) => forms[kind].test(text)) ?? 'str'
