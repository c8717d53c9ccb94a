// Options under which losing a connection costs no more than the work in progress on it.
//
// The driver (postgres 3.4.9, porsager/postgres issues 1154 and 1208) drops its socket when a connection closes, while
// a transaction may still hold that connection and send its rollback on it. The resulting exception cannot be caught
// where it occurs and stops the process. If a global handler catches it all the same, the connection never recovers.
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

// The driver defers small messages to the end of the turn. When the connection closes in between, it keeps the message
// and defers all later ones for ever, until they are 1024 bytes together (porsager/postgres pull request 1209). So the
// first message of a connection is made longer than that with an option of blanks, which Postgres ignores. What the
// driver kept comes before it, and is removed (`startupMessage`).
const BLANKS = ' '.repeat(1_024)

/**
 * Postgres ends the session of a client that its network has lost within about half a minute, instead of the two hours
 * of the operating system's keepalive, and cancels a statement whose client has disconnected.
 */
const noticesLostClients = {
  tcp_keepalives_idle: 15,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  client_connection_check_interval: 5_000
}

export interface ConnectionKeeper {
  options: object
  /**
   * Must be called with every transaction's body. A lost connection is not reopened before the bodies that were running
   * have finished: the driver would send the rest of a slow one on the new connection, outside any transaction.
   */
  watch<T>(body: Promise<T>): Promise<T>
  /**
   * The server has become read-only: a former primary that is still reachable. Closes the connections, so that new ones
   * reach the present primary.
   */
  leaveServer(): void
}

/** @param parameters startup parameters of each connection (`application_name`, ...). */
export function survivingConnectionLoss(parameters: Record<string, string | number> = {}): ConnectionKeeper {
  const bodies = new Set<Promise<unknown>>()
  const sockets = new Set<ReconnectingSocket>()
  let leftAt = Number.NEGATIVE_INFINITY
  return {
    options: {
      socket(target: Target) {
        const socket = connectSocket(target, () => Promise.allSettled(bodies))
        // Under TLS this class sees no message, and cannot know when a connection is idle.
        if (target.ssl) return socket
        sockets.add(socket)
        return socket.once('close', () => sockets.delete(socket))
      },
      // The driver's own look-up of array types rejects without a handler when the connection is lost, which also stops
      // the process. Lists are therefore passed as text (`anyOf` in db/client.ts).
      fetch_types: false,
      // The driver counts each lost connection of a pool as one more failed try. With its default, it would not
      // reconnect for up to 20 seconds after a restart of the database.
      // The random part spreads the connections of all workers over that time.
      backoff: (losses: number) => Math.min(losses * 0.05, 1) * (0.5 + Math.random() / 2),
      connection: { ...noticesLostClients, ...parameters, options: BLANKS }
    },
    watch(body) {
      bodies.add(body)
      const over = () => bodies.delete(body)
      body.then(over, over)
      return body
    },
    leaveServer() {
      // A primary can be read-only for long, for example while its disk is full.
      if (performance.now() - leftAt < LEFT_MS) return
      leftAt = performance.now()
      for (const socket of sockets) socket.retire()
    }
  }
}

/** The driver passes hosts and ports as lists. */
interface Target {
  ssl?: unknown
  path?: string
  host: string[]
  port: number[]
}

function connectSocket(target: Target, transactionsOver: () => Promise<unknown>): ReconnectingSocket {
  const socket = new ReconnectingSocket(transactionsOver)
  return target.path
    ? socket.connect({ path: target.path })
    : socket.connect({ host: target.host[0]!, port: target.port[0]! })
}

/** How often the connections of a pool are closed at most because their server is read-only. */
const LEFT_MS = 5_000

/** Far longer than the driver needs for a rollback after a transaction's body has failed. */
const LINGER_MS = 250

/**
 * Bodies have failed long before this. A remaining one waits for a response that the driver will never give, to a
 * statement that it sent after the failed one.
 */
const GIVE_UP_MS = 30_000

// ReadyForQuery outside a transaction: type Z, length 5, status I. It always ends what the server sends at a time.
const IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

const PROTOCOL_3_0 = 3 << 16

/** The startup message at the end of a connection's first bytes: Int32 length of itself, Int32 protocol, parameters. */
function startupMessage(bytes: Buffer): Buffer {
  for (let at = 0; at + 8 <= bytes.length; at++)
    if (bytes.readUInt32BE(at) === bytes.length - at && bytes.readUInt32BE(at + 4) === PROTOCOL_3_0)
      return bytes.subarray(at)
  return bytes
}

/**
 * A socket that, when it closes during work, first fails the work with an error that callers see, and emits its close
 * event a moment later, when they have finished.
 */
class ReconnectingSocket extends Socket {
  private busy = false
  private started = false
  private lost: Error | null = null

  /** @param transactionsOver settles when every currently running transaction has finished. */
  constructor(private readonly transactionsOver: () => Promise<unknown>) {
    super()
    const send = this.send.bind(this)
    // Node itself replaces the method when the socket connects and when the other side closes.
    Object.defineProperty(this, 'write', { get: () => send, set: () => {} })
    this.on('data', (chunk: Buffer) => {
      this.busy = !chunk.subarray(-IDLE.length).equals(IDLE)
    })
  }

  /** Closes the connection as soon as it is idle. */
  retire(): void {
    const closeIfIdle = () => {
      if (this.busy) return
      this.off('data', later)
      this.destroy()
    }
    // The driver may send the next statement when it has read the response.
    const later = () => setImmediate(closeIfIdle)
    this.on('data', later)
    closeIfIdle()
  }

  private send(bytes: Buffer, ...rest: unknown[]): boolean {
    this.busy = true
    const message = this.started ? bytes : startupMessage(bytes)
    this.started = true
    if (!this.lost) return super.write(...([message, ...rest] as unknown as Parameters<Socket['write']>))
    queueMicrotask(() => this.fail())
    return false
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'error') this.lost ??= args[0] as Error
    if (event !== 'close') return super.emit(event, ...args)
    if (!this.busy) return this.closeNow(args)
    this.lost ??= Object.assign(new Error('the database closed the connection'), { code: 'CONNECTION_CLOSED' })
    this.fail()
    const patience = new AbortController()
    Promise.race([
      this.transactionsOver(),
      delay(GIVE_UP_MS, undefined, { ref: false, signal: patience.signal }).catch(() => {})
    ]).then(() => {
      patience.abort()
      setTimeout(() => this.closeNow(args), LINGER_MS).unref()
    })
    return true
  }

  private closeNow(args: unknown[]): boolean {
    // After an error, the driver forgets a statement that it was given in this turn: nothing would settle it.
    if (this.lost) this.fail()
    return super.emit('close', ...args)
  }

  private fail(): void {
    // Without a listener, an error event would be the very exception that this class avoids.
    if (this.listenerCount('error') > 0) super.emit('error', this.lost)
  }
}
