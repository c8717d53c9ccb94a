// The messages of Postgres by which a session begins (https://www.postgresql.org/docs/current/protocol-flow.html).
import type { SessionAttributes } from './database-address.js'

const PROTOCOL_3_0 = 3 << 16

/**
 * The driver defers small messages to the end of the turn. When the connection closes in between, it keeps the message
 * and defers all later ones for ever, until they are 1024 bytes together (porsager/postgres pull request 1209). So the
 * first message of a connection is made longer than that by this parameter, which is removed before the message is sent.
 */
export const padding = { 'qjs.padding': ' '.repeat(1_024) }
const PADDING = Buffer.from(`qjs.padding\0${padding['qjs.padding']}\0`)

/** The startup message at the end of a connection's first bytes (what the driver kept comes before it), without padding. */
export function startupMessage(bytes: Buffer): Buffer {
  // Int32 length of itself, Int32 protocol, parameters.
  for (let at = 0; at + 8 <= bytes.length; at++)
    if (bytes.readUInt32BE(at) === bytes.length - at && bytes.readUInt32BE(at + 4) === PROTOCOL_3_0)
      return withoutPadding(bytes.subarray(at))
  return bytes
}

function withoutPadding(message: Buffer): Buffer {
  const at = message.indexOf(PADDING)
  if (at < 0) return message
  const sent = Buffer.concat([message.subarray(0, at), message.subarray(at + PADDING.length)])
  sent.writeUInt32BE(sent.length, 0)
  return sent
}

const [AUTHENTICATION, PARAMETER_STATUS, ERROR, READY] = [0x52, 0x53, 0x45, 0x5a]
const SIGNED_IN = 0

/** Reads what a server sends from the startup message up to its first ReadyForQuery or error. */
export class Startup {
  readonly parameters = new Map<string, string>()
  /** The error that ended it. */
  error: { code: string; message: string } | null = null
  private incoming: Buffer = Buffer.alloc(0)
  private held: Buffer[] = []
  private isSignedIn = false

  /** @returns `now`: what the driver has to read at once, since it may have to respond. */
  read(chunk: Buffer): { now: Buffer; ended: 'ready' | 'refused' | null } {
    this.incoming = Buffer.concat([this.incoming, chunk])
    const now: Buffer[] = []
    while (this.incoming.length >= 5) {
      const length = 1 + this.incoming.readUInt32BE(1)
      if (this.incoming.length < length) break
      const message = this.incoming.subarray(0, length)
      this.incoming = this.incoming.subarray(length)
      const type = message[0]
      if (type === AUTHENTICATION && message.readUInt32BE(5) === SIGNED_IN) this.isSignedIn = true
      if (type === PARAMETER_STATUS) this.note(message)
      if (type === ERROR) this.error = errorOf(message)
      const ended = type === ERROR ? 'refused' : type === READY ? 'ready' : null
      if (ended || this.isSignedIn) this.held.push(message)
      else now.push(message)
      if (ended) return { now: Buffer.concat(now), ended }
    }
    return { now: Buffer.concat(now), ended: null }
  }

  /** What the driver has not read yet. */
  rest(): Buffer {
    return Buffer.concat([...this.held, this.incoming])
  }

  private note(message: Buffer): void {
    const [name, value] = message.toString('utf8', 5, message.length - 1).split('\0')
    this.parameters.set(name!, value ?? '')
  }
}

function errorOf(message: Buffer): { code: string; message: string } {
  const fields = message.toString('utf8', 5).split('\0')
  const field = (type: string) => fields.find((text) => text.startsWith(type))?.slice(1) ?? ''
  return { code: field('C'), message: field('M') }
}

/** The server starts, stops or recovers: another one may not. */
const CANNOT_CONNECT_NOW = '57P03'
const READ_ONLY = '25006'

/**
 * Why another host is to be tried instead; `null`: the driver gets the session, or the server's own error.
 * @param isLast no other host is left.
 */
export function refusalOf(
  { error, parameters }: Pick<Startup, 'error' | 'parameters'>,
  wanted: SessionAttributes,
  isLast: boolean
): Error | null {
  if (error) {
    // As libpq: a wrong password is no reason to try it at another server.
    return error.code === CANNOT_CONNECT_NOW && !isLast ? Object.assign(new Error(error.message), error) : null
  }
  // Servers report both from version 14 on.
  const isStandby = parameters.get('in_hot_standby') === 'on'
  const isReadOnly = isStandby || parameters.get('default_transaction_read_only') === 'on'
  const isUnfit = wanted === 'read-write' ? isReadOnly : wanted === 'primary' && isStandby
  return isUnfit ? Object.assign(new Error(isStandby ? 'is a standby' : 'is read-only'), { code: READ_ONLY }) : null
}
