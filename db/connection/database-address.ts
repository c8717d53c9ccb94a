// DATABASE_URL in the words of libpq: one or several hosts, TLS (sslmode, sslrootcert, sslcert, sslkey), and
// target_session_attrs. The driver gets none of these: db/connection/database-transport.ts connects, and db/connection/database-socket.ts chooses
// among the hosts.
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'

export interface DatabaseHost {
  /** A name, an address, or the folder of a Unix socket. */
  host: string
  port: number
  /** `null`: no TLS. */
  tls: HostTls | null
}

export interface HostTls {
  /** `false`: the connection continues without TLS where the server has none. */
  required: boolean
  options: ConnectionOptions
}

/** Which servers of the list are used, besides that they answer. */
export type SessionAttributes = 'any' | 'read-write' | 'primary'

export interface DatabaseAddress {
  /** The address without its hosts and the words above: user, password, database, and parameters for Postgres. */
  driverUrl: string
  /** In the order in which they are tried. */
  hosts: DatabaseHost[]
  sessionAttributes: SessionAttributes
}

const tlsNames = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const
const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]
type TlsWords = Record<(typeof tlsNames)[number], string | null>

const DEFAULT_PORT = 5_432

/** @param setting the variable that holds the address. @throws Error that names it where it cannot be used. */
export function readDatabaseAddress(databaseUrl: string, setting = 'DATABASE_URL'): DatabaseAddress {
  const fail = (reason: string): never => {
    throw new Error(`${setting}: ${reason}`)
  }
  // A list of hosts with ports is no address to Node.
  const [, scheme, user = '', hostList, rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)(.*)$/s.exec(databaseUrl) ?? []
  const driverUrl = `${scheme}${user}localhost${rest}`
  if (hostList === undefined || !URL.canParse(driverUrl))
    return fail('must be an address such as postgres://user:password@host:5432/name')
  const url = new URL(driverUrl)
  const words = Object.fromEntries(tlsNames.map((name) => [name, url.searchParams.get(name)])) as TlsWords
  const attributes = url.searchParams.get('target_session_attrs') ?? 'any'
  if (attributes !== 'any' && attributes !== 'read-write' && attributes !== 'primary')
    return fail(`target_session_attrs must be any, read-write or primary, since the service writes (got ${attributes})`)
  if (url.searchParams.get('channel_binding') === 'require')
    return fail('channel_binding=require is not available; sslmode=verify-full identifies the server')
  for (const name of [...tlsNames, 'target_session_attrs', 'channel_binding', 'connect_timeout'])
    url.searchParams.delete(name)
  const mode = modeOf(words, fail)
  const hosts = hostList.split(',').map((text) => {
    const { host, port } = hostOf(text, fail)
    return { host, port, tls: host.startsWith('/') ? null : tlsOf(mode, host, words, fail) }
  })
  return { driverUrl: url.href, hosts, sessionAttributes: attributes }
}

/** The hosts of an address as text, for messages. */
export const hostNames = (hosts: readonly Pick<DatabaseHost, 'host' | 'port'>[]): string =>
  hosts.map(({ host, port }) => `${host}:${port}`).join(', ')

function hostOf(text: string, fail: (reason: string) => never): { host: string; port: number } {
  if (text === '') return { host: 'localhost', port: DEFAULT_PORT }
  if (!URL.canParse(`postgres://${text}`)) return fail(`${text} is not a valid host, or host:port`)
  const { hostname, port } = new URL(`postgres://${text}`)
  return { host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ''), port: port ? Number(port) : DEFAULT_PORT }
}

function modeOf({ sslmode, sslrootcert, sslcert, sslkey }: TlsWords, fail: (reason: string) => never): Mode {
  if (sslmode === null) {
    if (sslrootcert === 'system') return 'verify-full'
    return sslrootcert || sslcert || sslkey ? 'prefer' : 'disable'
  }
  const known = modes.find((one) => one === sslmode)
  if (!known) return fail(`sslmode must be one of ${modes.join(', ')} (got ${sslmode})`)
  // As in libpq: where every public authority is trusted, only the name identifies the server.
  if (sslrootcert === 'system' && known !== 'verify-full') return fail('sslrootcert=system needs sslmode=verify-full')
  return known
}

function tlsOf(mode: Mode, host: string, words: TlsWords, fail: (reason: string) => never): HostTls | null {
  const { sslrootcert, sslcert, sslkey } = words
  if (mode === 'disable') return null
  const read = (name: string, path: string): string => {
    try {
      return readFileSync(path, 'utf8')
    } catch (cause) {
      return fail(`${name}=${path} cannot be read: ${(cause as Error).message}`)
    }
  }
  const own: ConnectionOptions = {
    ...(sslcert && { cert: read('sslcert', sslcert) }),
    ...(sslkey && { key: read('sslkey', sslkey) }),
    // Without a name Node would compare the certificate with `localhost`.
    ...(isIP(host) === 0 && { servername: host })
  }
  // As libpq: with a certificate to trust, `require` verifies like `verify-ca`.
  if (mode === 'allow' || mode === 'prefer' || (mode === 'require' && !sslrootcert))
    return { required: mode === 'require', options: { ...own, rejectUnauthorized: false } }
  return {
    required: true,
    options: {
      ...own,
      ...(sslrootcert && sslrootcert !== 'system' && { ca: read('sslrootcert', sslrootcert) }),
      checkServerIdentity: (_name, certificate) =>
        mode === 'verify-full' ? checkServerIdentity(host, certificate) : undefined
    }
  }
}
