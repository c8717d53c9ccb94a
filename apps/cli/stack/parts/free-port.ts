// Ports of the parts. Another process can take a free port before its server listens, so starts are repeated.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

export const attemptsMax = 3

/**
 * Below the ports that systems give to outgoing connections (Linux from 32768, macOS and Windows from 49152): a part is restarted
 * on its port, which such a connection of another program could hold meanwhile.
 */
const FIRST = 20_000
const LAST = 32_767
/** All of them are hardly ever in use. */
const DRAWS_MAX = 1_000

/** Ports that this process has assigned: two parts that start together must not get the same one. */
const assigned = new Set<number>()

/** A TCP port that is now free on the address. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let draw = 1; draw <= DRAWS_MAX; draw++) {
    const port = randomInt(FIRST, LAST + 1)
    if (assigned.has(port)) continue
    assigned.add(port)
    if (await isFree(port, host)) return port
  }
  throw new Error(`no port from ${FIRST} to ${LAST} is free on ${host}`)
}

/** The first of a hundred ports from `first` on that is free on the loopback address; any free one when there is none. */
export async function freePortFrom(first: number): Promise<number> {
  for (let port = first; port < first + 100; port++) {
    if (assigned.has(port) || !(await isFree(port))) continue
    assigned.add(port)
    return port
  }
  return freePort()
}

/** Binds the address briefly and returns the port; rejects with the system's error (EADDRINUSE, EACCES, ...). */
export function listenOnce(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port))
    })
  })
}

/**
 * Starts a server on the fixed port, or on a free one. If a start fails because its free port was taken, it is repeated on
 * another; every other failure is thrown.
 */
export async function onPort<T>(fixed: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  if (fixed !== undefined) return start(fixed)
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    try {
      return await start(port)
    } catch (error) {
      if (attempt === attemptsMax || (await isFree(port))) throw error
    }
  }
}

export const isFree = (port: number, host = '127.0.0.1') =>
  listenOnce(port, host).then(
    () => true,
    () => false
  )
