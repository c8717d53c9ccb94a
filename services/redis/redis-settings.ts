// Where Redis is, and how this process and Redis prove themselves to each other.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext } from 'node:tls'
import { type RedisAddress, readRedisAddress } from '../../domain/operations/redis-address.js'

export interface RedisSettings {
  address: RedisAddress
  /** Used where the address asks for TLS. Without authorities of its own, those of Node are trusted. */
  tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername'>
}

/** @throws Error that names the variable which cannot be used, and no part of an address. */
export function readRedisSettings(env: NodeJS.ProcessEnv): RedisSettings {
  const url = env.REDIS_URL?.trim()
  if (!url) throw new Error('REDIS_URL is not set; npm start sets it, docs/operations/configuration.md describes it')
  const address = readRedisAddress(url)
  const ca = read('REDIS_TLS_CA', env.REDIS_TLS_CA)
  const cert = read('REDIS_TLS_CERT', env.REDIS_TLS_CERT)
  const key = read('REDIS_TLS_KEY', env.REDIS_TLS_KEY)
  const servername = env.REDIS_TLS_SERVER_NAME?.trim()
  if ((cert === undefined) !== (key === undefined))
    throw new Error('REDIS_TLS_CERT and REDIS_TLS_KEY are set together or not at all')
  const isUsed = address.tls || (address.kind === 'sentinel' && address.sentinelTls)
  if (!isUsed && (ca || cert || servername))
    throw new Error('REDIS_TLS_CA, _CERT, _KEY and _SERVER_NAME need TLS: begin REDIS_URL with rediss')
  if (ca) check('REDIS_TLS_CA', () => new X509Certificate(ca))
  if (cert && key) check('REDIS_TLS_CERT or REDIS_TLS_KEY', () => createSecureContext({ cert, key }))
  return { address, tls: { ...(ca && { ca }), ...(cert && key && { cert, key }), ...(servername && { servername }) } }
}

/**
 * Starts the names of all keys. A cluster runs a script only on keys of one slot, and those with the same braces are; on one
 * server the names stay without, so that what waits there is still found.
 */
export const keyPrefixAt = ({ address }: RedisSettings, prefix: string): string =>
  address.kind === 'cluster' && !/\{[^}]+\}/.test(prefix) ? `{${prefix}}` : prefix

function read(name: string, value: string | undefined): Buffer | undefined {
  const path = value?.trim()
  if (!path) return undefined
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new Error(`${name}=${path} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function check(name: string, use: () => unknown): void {
  try {
    use()
  } catch (cause) {
    throw new Error(`${name} cannot be used: ${(cause as Error).message}`, { cause })
  }
}
