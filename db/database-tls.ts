// TLS towards Postgres, as DATABASE_URL asks for it in the words of libpq (sslmode, sslrootcert, sslcert, sslkey). The driver
// knows the host of a connection only where it has made the socket itself (it is db/connection-loss.ts that does), and would
// compare the certificate with `localhost`: so the host is given here.
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'

export interface DatabaseTls {
  /** The address without what it says of TLS: the driver would send it to Postgres as a setting. */
  url: string
  /** For the driver; `undefined` without TLS. */
  ssl: 'prefer' | 'require' | ConnectionOptions | undefined
}

const names = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const
const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]

/** @throws Error that names DATABASE_URL where it asks for what does not exist. */
export function readDatabaseTls(databaseUrl: string): DatabaseTls {
  // Addresses of several hosts or of a socket are not addresses to Node, and without these words nothing is to be done.
  if (!URL.canParse(databaseUrl)) return { url: databaseUrl, ssl: undefined }
  const url = new URL(databaseUrl)
  const given = Object.fromEntries(names.map((name) => [name, url.searchParams.get(name)]))
  for (const name of names) url.searchParams.delete(name)
  const isFound = Object.values(given).some((value) => value !== null)
  if (!isFound) return { url: databaseUrl, ssl: undefined }
  const mode = modeOf(given.sslmode ?? null, given.sslrootcert ?? null)
  const host = decodeURIComponent(url.hostname).replace(/^\[|\]$/g, '')
  return { url: url.href, ssl: sslOf(mode, host, given) }
}

function modeOf(mode: string | null, rootCertificate: string | null): Mode {
  if (mode === null) return rootCertificate === 'system' ? 'verify-full' : 'prefer'
  const known = modes.find((one) => one === mode)
  if (!known) throw new Error(`DATABASE_URL: sslmode must be one of ${modes.join(', ')} (got ${mode})`)
  // As in libpq: where every public authority is trusted, only the name tells servers apart.
  if (rootCertificate === 'system' && known !== 'verify-full')
    throw new Error('DATABASE_URL: sslrootcert=system needs sslmode=verify-full')
  return known
}

function sslOf(mode: Mode, host: string, given: Record<string, string | null>): DatabaseTls['ssl'] {
  const { sslrootcert, sslcert, sslkey } = given
  if (mode === 'disable') return undefined
  if (mode === 'allow' || mode === 'prefer') return 'prefer'
  const own = {
    ...(sslcert && { cert: read('sslcert', sslcert) }),
    ...(sslkey && { key: read('sslkey', sslkey) }),
    ...(isIP(host) === 0 && { servername: host })
  }
  // As libpq: with a certificate to trust, `require` verifies like `verify-ca`.
  if (mode === 'require' && !sslrootcert) return { ...own, rejectUnauthorized: false }
  return {
    ...own,
    ...(sslrootcert && sslrootcert !== 'system' && { ca: read('sslrootcert', sslrootcert) }),
    checkServerIdentity: (_name, certificate) =>
      mode === 'verify-full' ? checkServerIdentity(host, certificate) : undefined
  }
}

function read(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`DATABASE_URL: ${name}=${path} cannot be read: ${(cause as Error).message}`, { cause })
  }
}
