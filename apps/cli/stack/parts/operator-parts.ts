// Servers that the operator runs. The stack only checks that they accept connections, and names the variable if not.
import { connect } from 'node:net'
import { readRedisAddress } from '../../../../domain/operations/redis-address.js'

const reachLimitMs = 5000

/** Rejects with a message that names the variable if nothing accepts a connection at host:port. */
export function checkReachable(variable: string, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) =>
      reject(
        new Error(
          `${variable} names ${host}:${port}, which does not respond (${why}): start that server, or unset the variable.`
        )
      )
    const socket = connect({ host: host.replace(/^\[|\]$/g, ''), port })
    socket.setTimeout(reachLimitMs, () => socket.destroy(new Error(`no response in ${reachLimitMs / 1000} s`)))
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', (error) => fail((error as NodeJS.ErrnoException).code ?? error.message))
  })
}

/** `checkReachable` for an address in URL form, such as postgres://... */
export async function checkUrlReachable(variable: string, url: string, defaultPort: number): Promise<string> {
  if (!URL.canParse(url)) throw new Error(`${variable} must be a URL.`)
  const { hostname, port } = new URL(url)
  await checkReachable(variable, hostname || '127.0.0.1', Number(port) || defaultPort)
  return url
}

/** For one server, or for those of which one is enough: Sentinels, and the nodes of a cluster. */
export async function checkRedisReachable(url: string): Promise<string> {
  const { hosts } = readRedisAddress(url)
  await Promise.any(hosts.map(({ host, port }) => checkReachable('REDIS_URL', host, port))).catch((error) => {
    throw (error as AggregateError).errors[0]
  })
  return url
}

/** `checkReachable` for Temporal's host:port form (IPv6 in brackets). */
export async function checkTemporalReachable(address: string): Promise<string> {
  const [, host, port] = /^(.+?)(?::(\d+))?$/.exec(address) ?? []
  await checkReachable('TEMPORAL_ADDRESS', host ?? address, Number(port) || 7233)
  return address
}
