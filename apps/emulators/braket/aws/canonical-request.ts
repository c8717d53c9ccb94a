// The canonical form of a request by AWS's public specification of Signature Version 4.
import { createHash } from 'node:crypto'

export interface SignedRequest {
  method: string
  /** As sent: path and query. */
  url: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

export const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex')

/**
 * @param signedHeaders in the order of the Authorization header.
 * @param escapesTwice every service but S3 escapes the path that is sent once more.
 */
export function canonicalRequest(
  { method, url, headers }: SignedRequest,
  signedHeaders: readonly string[],
  payloadHash: string,
  escapesTwice: boolean
): string {
  const [path = '/', query = ''] = split(url)
  const values = signedHeaders.map((name) => `${name}:${[headers[name] ?? ''].flat().map(trimmed).join(',')}\n`)
  return [
    method,
    escapesTwice ? path.split('/').map(escaped).join('/') : path,
    canonicalQuery(query),
    values.join(''),
    signedHeaders.join(';'),
    payloadHash
  ].join('\n')
}

const split = (url: string): [string, string] => {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

const trimmed = (value: string): string => value.trim().replace(/ +/g, ' ')

const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

function canonicalQuery(query: string): string {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=')
      return [escaped(decoded(name)), escaped(decoded(value.join('=')))] as const
    })
    .sort(([a, aValue], [b, bValue]) => compare(a, b) || compare(aValue, bValue))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

// A query that cannot be decoded is signed as it is, which no signer does: the signature does not match.
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
