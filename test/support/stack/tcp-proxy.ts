// A way to a server that a test can cut, or let hang.
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

export async function tcpProxy(to: { host: string; port: number }) {
  let target = to
  const sockets = new Set<Socket>()
  let state: 'open' | 'hung' | 'cut' = 'open'
  /** Connections that were accepted while nothing passes. */
  const waiting: (() => void)[] = []
  /** By the socket to the server. */
  const passes = new Map<Socket, () => void>()
  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy()
    sockets.add(client)
    client.on('error', () => {}).once('close', () => sockets.delete(client))
    const join = () => {
      if (client.destroyed) return
      const inner = createConnection(target)
      sockets.add(inner)
      inner.on('error', () => client.destroy()).once('close', () => sockets.delete(inner) && client.destroy())
      client.once('close', () => inner.destroy())
      const pass = () => void client.pipe(inner).pipe(client)
      passes.set(inner, pass)
      pass()
    }
    if (state === 'hung') waiting.push(join)
    else join()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    /** New connections lead there; those that are open stay. */
    lead(there: { host: string; port: number }): void {
      target = there
    },
    /** Connections stay, and new ones are accepted, but nothing passes. */
    hang(): void {
      state = 'hung'
      for (const socket of sockets) socket.unpipe().pause()
    },
    /** What hung goes on: what was sent meanwhile arrives. */
    release(): void {
      state = 'open'
      for (const [inner, pass] of passes) if (!inner.destroyed) pass()
      for (const join of waiting.splice(0)) join()
    },
    /** Connections end, and new ones at once. */
    cut(): void {
      state = 'cut'
      destroyAll()
    },
    close: () =>
      new Promise<void>((resolve) => {
        destroyAll()
        server.close(() => resolve())
      })
  }
}
