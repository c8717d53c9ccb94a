// TLS in front of a Postgres without it, with the request for TLS that Postgres clients send first.
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** What a client sends first to ask for TLS: Int32 length 8, Int32 80877103. */
const REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

export async function postgresOverTls(target: { host: string; port: number }, secret: { cert: string; key: string }) {
  const names: (string | false)[] = []
  const peers: (string | null)[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {}).once('close', () => sockets.delete(client))
    client.once('data', (first) => {
      if (!first.equals(REQUEST)) return void client.destroy()
      client.write('S')
      const secure = new TLSSocket(client, { isServer: true, requestCert: true, ...secret })
      secure.on('error', () => client.destroy())
      secure.once('secure', () => {
        names.push((secure as TLSSocket & { servername: string | false }).servername)
        peers.push((secure.getPeerCertificate().subject?.CN as string | undefined) ?? null)
        const inner = createConnection(target)
        inner.on('error', () => client.destroy()).once('close', () => secure.destroy())
        secure.once('close', () => inner.destroy())
        secure.pipe(inner).pipe(secure)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    /** The names that clients asked for, by SNI; `false` for none. */
    names,
    /** Whom the certificates of clients name; `null`: none was shown. */
    peers,
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      })
  }
}
