// TLS in front of a server without it.
import { type AddressInfo, createConnection } from 'node:net'
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls'

/** @param target `host:port`. @param options with the certificate; `requestCert` and `ca` for clients that prove themselves. */
export async function tlsBefore(target: string, options: TlsOptions) {
  const [host, port] = target.split(':') as [string, string]
  const names: (string | false)[] = []
  const sockets = new Set<TLSSocket>()
  const server = createServer({ ALPNProtocols: ['h2'], ...options }, (client) => {
    names.push((client as TLSSocket & { servername: string | false }).servername)
    sockets.add(client)
    const inner = createConnection({ host, port: Number(port) })
    client.on('error', () => inner.destroy()).once('close', () => sockets.delete(client) && inner.destroy())
    inner.on('error', () => client.destroy()).once('close', () => client.destroy())
    client.pipe(inner).pipe(client)
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    /** The names that clients asked for, by SNI; `false` for none. */
    names,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      })
  }
}
