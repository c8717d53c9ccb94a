// Canonical JSON: RFC 8785 under the profile of the capsule format, so that one value has one text, and one digest, everywhere.
import canonicalize from 'canonicalize'

/** `path` is a JSON pointer to what has no canonical form. */
export class CanonicalJsonError extends Error {
  override readonly name = 'CanonicalJsonError'
  constructor(
    readonly path: string,
    readonly problem: string
  ) {
    super(`${path || '/'}: ${problem}`)
  }
}

/** Deeper than any honest document, and shallow enough for every reader. */
export const CANONICAL_DEPTH_MAX = 64

/**
 * The RFC 8785 text of a JSON value, strings and keys in Unicode NFC.
 * @throws CanonicalJsonError for what has no such text: integers beyond 2^53 - 1, numbers that are not finite, halves of
 * characters (lone surrogates), keys that are equal once normalized, values that JSON does not have, more than 64 levels.
 * @param integers `read`: whoever read the value has refused integers beyond 2^53 - 1 already, so that a whole number
 * above it was written as a float (`1e16`), which is exact.
 */
export function canonicalJson(value: unknown, integers: 'made' | 'read' = 'made'): string {
  return canonicalize(normalized(value, '', 1, integers === 'made'))!
}

function normalized(value: unknown, path: string, depth: number, safe: boolean): unknown {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return normalText(value, path)
  if (typeof value === 'number') return plainNumber(value, path, safe)
  if (typeof value !== 'object') throw new CanonicalJsonError(path, `JSON has no ${typeof value}`)
  if (depth > CANONICAL_DEPTH_MAX)
    throw new CanonicalJsonError(path, `is nested deeper than ${CANONICAL_DEPTH_MAX} levels`)
  if (Array.isArray(value)) return value.map((item, index) => normalized(item, `${path}/${index}`, depth + 1, safe))
  const prototype = Object.getPrototypeOf(value) as unknown
  if (prototype !== Object.prototype && prototype !== null) throw new CanonicalJsonError(path, 'is not plain JSON data')
  // Without a prototype: `__proto__` is a key like any other.
  const result = Object.create(null) as Record<string, unknown>
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue
    const name = normalText(key, path)
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (Object.hasOwn(result, name)) throw new CanonicalJsonError(at, 'stands twice once its characters are normalized')
    result[name] = normalized(item, at, depth + 1, safe)
  }
  return result
}

function normalText(text: string, path: string): string {
  if (!text.isWellFormed()) throw new CanonicalJsonError(path, 'holds half of a character (a lone surrogate)')
  return text.normalize('NFC')
}

function plainNumber(value: number, path: string, safe: boolean): number {
  if (!Number.isFinite(value)) throw new CanonicalJsonError(path, `${value} is no JSON number`)
  if (safe && Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21)
    throw new CanonicalJsonError(path, 'is an integer beyond 9007199254740991; write it as a string')
  return value
}
