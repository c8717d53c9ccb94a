// Ports of the parts. A free port can be taken by somebody else before its server listens, so starts are repeated.
import { createServer } from 'node:net'

const turns = 3

/** Ports given out by this process: two parts that start together must not be told the same one. */
const given = new Set<number>()

/** A TCP port that is free on the loopback address at this moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await listenOnce(0, '127.0.0.1')
    if (given.has(port)) continue
    given.add(port)
    return port
  }
}

/** Binds the address for a moment and answers the port; rejects with the system's error (EADDRINUSE, EACCES, ...). */
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
 * Starts a server on the fixed port, or on a free one. A start on a free port that fails while the port is taken is
 * repeated on another; every other failure passes through.
 */
export async function onPort<T>(fixed: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  if (fixed !== undefined) return start(fixed)
  for (let turn = 1; ; turn++) {
    const port = await freePort()
    try {
      return await start(port)
    } catch (error) {
      if (turn === turns || (await isFree(port))) throw error
    }
  }
}

const isFree = (port: number) =>
  listenOnce(port, '127.0.0.1').then(
    () => true,
    () => false
  )
