// Opens the bytes' way to one host of the database: TCP or a Unix socket, and TLS where the address asks for it.
import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { DatabaseHost } from './database-address.js'

/** What a client sends first to ask for TLS: Int32 length 8, Int32 80877103. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])
const ACCEPTED = 'S'
const REFUSED = 'N'

/** Without traffic for this long, the operating system checks that the other side still exists. */
const KEEP_ALIVE_MS = 60_000

/** @param signal gives up. @throws what the network, or the check of the certificate, reports. */
export async function openTransport({ host, port, tls }: DatabaseHost, signal: AbortSignal): Promise<Socket> {
  const socket = host.startsWith('/')
    ? createConnection({ path: `${host}/.s.PGSQL.${port}` })
    : createConnection({ host, port, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS })
  try {
    await once(socket, 'connect', { signal })
    if (!tls) return socket
    socket.write(TLS_REQUEST)
    const response = await firstBytes(socket, signal)
    if (response === REFUSED && !tls.required) return socket
    // More than one byte would be text that somebody on the way put before the encrypted part.
    if (response !== ACCEPTED) throw Object.assign(new Error('the server has no TLS'), { code: 'EPROTO' })
    const secure = connectTls({ ...tls.options, socket })
    socket.on('error', () => {})
    await once(secure, 'secureConnect', { signal })
    return secure
  } catch (error) {
    socket.on('error', () => {}).destroy()
    throw error
  }
}

async function firstBytes(socket: Socket, signal: AbortSignal): Promise<string> {
  const closed = new AbortController()
  const onClose = () =>
    closed.abort(Object.assign(new Error('the server closed the connection'), { code: 'CONNECTION_CLOSED' }))
  socket.once('close', onClose)
  try {
    const [bytes] = (await once(socket, 'data', { signal: AbortSignal.any([signal, closed.signal]) })) as [Buffer]
    return bytes.toString('latin1')
  } catch (error) {
    throw closed.signal.aborted ? closed.signal.reason : error
  } finally {
    socket.off('close', onClose)
    // The next listener gets every byte from here.
    socket.pause()
  }
}
