// Canonical JSON: RFC 8785 with the profile of the capsule format, so that equal values have equal text and equal
// digests everywhere.
import canonicalize from 'canonicalize'

/** `path` is a JSON pointer to the value that has no canonical form. */
export class CanonicalJsonError extends Error {
  override readonly name = 'CanonicalJsonError'
  constructor(
    readonly path: string,
    readonly problem: string
  ) {
    super(`${path || '/'}: ${problem}`)
  }
}

/** Deeper than any legitimate document, and within the limits of every parser. */
export const CANONICAL_DEPTH_MAX = 64

/**
 * Returns the RFC 8785 text of a JSON value, with strings and keys in Unicode NFC.
 * @throws CanonicalJsonError for a value without such text: an integer beyond 2^53 - 1, a number that is not finite, a
 * lone surrogate, keys that are equal once normalized, a value that JSON does not have, more than 64 levels.
 * @param integers `read`: the parser has already refused integers beyond 2^53 - 1, so a larger whole number was written
 * as a float (`1e16`), which is exact.
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
  // Created without a prototype, so that `__proto__` is an ordinary key.
  const result = Object.create(null) as Record<string, unknown>
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue
    const name = normalText(key, path)
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (Object.hasOwn(result, name))
      throw new CanonicalJsonError(at, 'appears twice once its characters are normalized')
    result[name] = normalized(item, at, depth + 1, safe)
  }
  return result
}

function normalText(text: string, path: string): string {
  if (!text.isWellFormed()) throw new CanonicalJsonError(path, 'holds half of a character (a lone surrogate)')
  return text.normalize('NFC')
}

function plainNumber(value: number, path: string, safe: boolean): number {
  if (!Number.isFinite(value)) throw new CanonicalJsonError(path, `${value} is not a JSON number`)
  if (safe && Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21)
    throw new CanonicalJsonError(path, 'is an integer beyond 9007199254740991; write it as a string')
  return value
}
