// A way to a server that can swallow everything: connections stay open, and nothing comes through. So it looks to a client
// when a host is frozen, or a firewall has forgotten the connection.
import { connect, createServer, type Socket } from 'node:net'

export async function startBlackHole(target: { host: string; port: number }) {
  const pairs = new Set<{ sockets: Socket[]; join(): void }>()
  let swallows = false
  const server = createServer({ pauseOnConnect: true }, (near) => {
    const far = connect(target)
    const pair = {
      sockets: [near, far],
      join() {
        near.pipe(far)
        far.pipe(near)
      }
    }
    pairs.add(pair)
    for (const socket of pair.sockets) {
      socket.on('error', () => {})
      socket.on('close', () => {
        // While it swallows, neither side learns of the other's end.
        if (!swallows) for (const one of pair.sockets) one.destroy()
        pairs.delete(pair)
      })
    }
    if (!swallows) pair.join()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }

  return {
    port,
    swallow(): void {
      swallows = true
      for (const { sockets } of pairs)
        for (const socket of sockets) {
          socket.unpipe()
          socket.pause()
        }
    },
    /** Everything that was held back goes on its way. */
    release(): void {
      swallows = false
      for (const pair of pairs) pair.join()
    },
    async close(): Promise<void> {
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
