// What REDIS_URL says: one server, a primary that Sentinels know, or a cluster. No message repeats a part of the address,
// because a password that is not percent-encoded can be in any of them.

export interface RedisHost {
  host: string
  port: number
}

export interface RedisLogin {
  username?: string
  password?: string
}

interface Address {
  tls: boolean
  /** At the servers that hold the keys. */
  login: RedisLogin
}

export type RedisAddress =
  | (Address & { kind: 'server'; hosts: [RedisHost]; db: number })
  | (Address & {
      kind: 'sentinel'
      /** The Sentinels. */
      hosts: RedisHost[]
      /** The name under which they know the primary. */
      primary: string
      db: number
      sentinelLogin: RedisLogin
      sentinelTls: boolean
    })
  /** `hosts` tell where the others are. */
  | (Address & { kind: 'cluster'; hosts: RedisHost[] })

const FORMS =
  'redis://user:password@host:6379/db, redis-sentinel://user:password@host:26379,host:26379/primary/db or ' +
  'redis-cluster://user:password@host:6379,host:6379, each with rediss for TLS; ' +
  'in user and password / ? # @ are written as %2F %3F %23 %40'
const parameters = ['sentinel_username', 'sentinel_password', 'sentinel_tls']

/** @throws Error that names REDIS_URL, and nothing of its value. */
export function readRedisAddress(url: string): RedisAddress {
  // Up to the first `/`, `?` or `#` stand user, password and hosts.
  const parts = /^redis(s?)(?:[-+](sentinel|cluster))?:\/\/([^/?#\s]*)(\/[^?#\s]*)?(?:\?([^#\s]*))?$/i.exec(url.trim())
  if (!parts) throw fault(`must have the form ${FORMS}`)
  const [, secure, of, authority = '', path = '', query = ''] = parts
  const at = authority.lastIndexOf('@')
  const tls = secure !== ''
  const login = loginOf(authority.slice(0, Math.max(at, 0)))
  const kind = (of?.toLowerCase() ?? 'server') as RedisAddress['kind']
  const hosts = authority
    .slice(at + 1)
    .split(',')
    .map((text) => hostOf(text, kind === 'sentinel' ? 26_379 : 6_379))
  const segments = path.split('/').slice(1).map(decoded)
  if (segments.at(-1) === '') segments.pop()
  const given = new URLSearchParams(query)
  if ([...given.keys()].some((name) => kind !== 'sentinel' || !parameters.includes(name)))
    throw fault(`takes no parameter but ${parameters.join(', ')}, and those only with redis-sentinel://`)

  switch (kind) {
    case 'server':
      if (hosts.length > 1) throw fault('names several hosts: begin it with redis-sentinel:// or redis-cluster://')
      if (segments.length > 1) throw fault('can have only the number of a database after the host')
      return { kind, hosts: [hosts[0]!], tls, login, db: dbOf(segments[0]) }
    case 'cluster':
      if (dbOf(segments[0]) !== 0 || segments.length > 1) throw fault('cannot name a database: a cluster has one')
      return { kind, hosts, tls, login }
    case 'sentinel': {
      const [primary, db] = segments
      if (!primary || segments.length > 2)
        throw fault(
          'must end with the name of the primary, as the Sentinels know it: redis-sentinel://host:26379/primary'
        )
      const [username, password] = [given.get('sentinel_username'), given.get('sentinel_password')]
      const sentinelLogin = { ...(username && { username }), ...(password && { password }) }
      const sentinelTls = given.get('sentinel_tls') ?? (tls ? '1' : '0')
      if (sentinelTls !== '0' && sentinelTls !== '1') throw fault('has a sentinel_tls that is neither 0 nor 1')
      return { kind, hosts, tls, login, primary, db: dbOf(db), sentinelLogin, sentinelTls: sentinelTls === '1' }
    }
  }
}

const fault = (what: string): Error => new Error(`REDIS_URL ${what}`)

function loginOf(text: string): RedisLogin {
  const colon = text.indexOf(':')
  const [username, password] =
    colon < 0 ? [decoded(text), ''] : [decoded(text.slice(0, colon)), decoded(text.slice(colon + 1))]
  return { ...(username && { username }), ...(password && { password }) }
}

function hostOf(text: string, defaultPort: number): RedisHost {
  const [, bracketed, name, port = String(defaultPort)] =
    /^(?:\[([\da-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? []
  const host = bracketed ?? name
  if (!host || Number(port) < 1 || Number(port) > 65_535)
    throw fault(`must name each server as host or host:port, an IPv6 address in brackets; it has the form ${FORMS}`)
  return { host, port: Number(port) }
}

function dbOf(text: string | undefined): number {
  if (text === undefined || text === '') return 0
  if (!/^\d{1,5}$/.test(text)) throw fault('can name a database only by its number')
  return Number(text)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw fault('has a % that begins no percent-encoded character: write it as %25')
  }
}
