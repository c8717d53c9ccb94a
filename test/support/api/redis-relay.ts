import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A proxy to Redis. It can refuse connections (`away`), forward nothing (`silent`), or forward only new connections
 * (`lost`), as after a machine has crashed and restarted.
 * @param closing gets what closes it.
 */
export async function startRelay(url: string, closing: (() => unknown)[]) {
  const target = new URL(url)
  let mode: 'open' | 'silent' | 'away' | 'lost' = 'open'
  const sockets = new Set<Socket>()
  const still = (socket: Socket) => socket.unpipe().pause()
  const server = createServer((from) => {
    sockets.add(from)
    from.on('error', () => {}).on('close', () => sockets.delete(from))
    if (mode === 'away') return from.destroy()
    const to = connect(Number(target.port), target.hostname).on('error', () => {})
    sockets.add(to)
    to.on('close', () => sockets.delete(to) && from.destroy())
    from.on('close', () => to.destroy())
    const flow = () => from.pipe(to, { end: false }).pipe(from, { end: false })
    from.on('flow', flow)
    if (mode === 'silent') still(from)
    else flow()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = new URL(url)
  address.port = String((server.address() as AddressInfo).port)
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: address.href,
    become(next: typeof mode) {
      mode = next
      for (const socket of sockets)
        if (mode === 'away') socket.destroy()
        else if (mode === 'open') socket.emit('flow')
        else still(socket)
    }
  }
}
