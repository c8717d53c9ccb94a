// How this process proves itself to Temporal, and Temporal to it.
import { readFileSync } from 'node:fs'

export interface TemporalSecurity {
  /** `undefined`: without TLS. Bytes of PEM files. */
  tls?: {
    serverRootCACertificate?: Buffer
    serverNameOverride?: string
    clientCertPair?: { crt: Buffer; key: Buffer }
  }
  apiKey?: string
}

/** @throws Error that names the variable which cannot be used. */
export function readTemporalSecurity(env: NodeJS.ProcessEnv): TemporalSecurity {
  const text = (name: string): string | undefined => env[name]?.trim() || undefined
  const bytesOf = (name: string): Buffer | undefined => {
    const path = text(name)
    return path === undefined ? undefined : read(name, path)
  }
  const wanted = text('TEMPORAL_TLS') ?? '0'
  if (wanted !== '0' && wanted !== '1') throw new Error(`TEMPORAL_TLS must be 0 or 1 (got ${wanted})`)
  const [root, crt, key] = [bytesOf('TEMPORAL_TLS_CA'), bytesOf('TEMPORAL_TLS_CERT'), bytesOf('TEMPORAL_TLS_KEY')]
  if ((crt === undefined) !== (key === undefined))
    throw new Error('TEMPORAL_TLS_CERT and TEMPORAL_TLS_KEY are set together or not at all')
  const serverName = text('TEMPORAL_TLS_SERVER_NAME')
  const apiKey = text('TEMPORAL_API_KEY') ?? bytesOf('TEMPORAL_API_KEY_FILE')?.toString('utf8').trim()
  const needsTls = Boolean(root || crt || serverName || apiKey)
  if (needsTls && text('TEMPORAL_TLS') === '0')
    throw new Error('TEMPORAL_TLS is 0, but the other settings of Temporal need TLS: an API key, for example')
  return {
    ...((wanted === '1' || needsTls) && {
      tls: {
        ...(root && { serverRootCACertificate: root }),
        ...(serverName && { serverNameOverride: serverName }),
        ...(crt && key && { clientCertPair: { crt, key } })
      }
    }),
    ...(apiKey && { apiKey })
  }
}

function read(name: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new Error(`${name}=${path} cannot be read: ${(cause as Error).message}`, { cause })
  }
}
