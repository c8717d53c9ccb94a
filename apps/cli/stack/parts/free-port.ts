// Ports of the parts. Another process can take a free port before its server listens, so starts are repeated.
import { createServer } from 'node:net'

export const attemptsMax = 3

/** Ports that this process has assigned: two parts that start together must not get the same one. */
const assigned = new Set<number>()

/** A TCP port that is now free on the loopback address. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await listenOnce(0, '127.0.0.1')
    if (assigned.has(port)) continue
    assigned.add(port)
    return port
  }
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

export const isFree = (port: number) =>
  listenOnce(port, '127.0.0.1').then(
    () => true,
    () => false
  )
