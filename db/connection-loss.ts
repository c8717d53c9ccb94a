// Options under which a connection that is lost costs no more than what was under way on it.
//
// The driver (postgres 3.4.9, porsager/postgres issues 1154 and 1208) forgets its socket when a connection closes, while a
// transaction may still hold that connection and send its rollback on it: an exception that nobody can catch, which ends
// the process. Whoever catches it all the same finds that the connection never comes back.
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

// The driver puts small messages off to the end of the turn. When the connection closes meanwhile it puts off all later
// ones for ever, but for those above 1024 bytes. So the first message of a connection is longer than that: an option of
// blanks, which means nothing to Postgres.
const BLANKS = ' '.repeat(1_024)

export interface ConnectionKeeper {
  options: object
  /**
   * To be told of every transaction's body. A connection that is lost is not taken up again before the bodies that were
   * running then are over: the driver would send what a slow one still has to say on the new connection, outside any
   * transaction.
   */
  watch<T>(body: Promise<T>): Promise<T>
}

/** @param parameters startup parameters of each connection (`application_name`, ...). */
export function survivingConnectionLoss(parameters: Record<string, string | number> = {}): ConnectionKeeper {
  const bodies = new Set<Promise<unknown>>()
  return {
    options: {
      socket: (target: Target) => connectSocket(target, () => Promise.allSettled(bodies)),
      // The driver's own look-up of array types fails to nobody's ears when the connection is lost meanwhile, which ends
      // the process too. Lists go as text (`anyOf` in db/client.ts).
      fetch_types: false,
      // The driver counts each of a pool's lost connections as one more failed try: after a restart of the database it
      // would not connect again for up to 20 seconds.
      backoff: (losses: number) => Math.min(losses * 0.05, 1),
      connection: { ...parameters, options: BLANKS }
    },
    watch(body) {
      bodies.add(body)
      const over = () => bodies.delete(body)
      body.then(over, over)
      return body
    }
  }
}

/** The driver hands over hosts and ports as lists. */
interface Target {
  path?: string
  host: string[]
  port: number[]
}

function connectSocket(target: Target, transactionsOver: () => Promise<unknown>): Socket {
  const socket = new ReconnectingSocket(transactionsOver)
  return target.path
    ? socket.connect({ path: target.path })
    : socket.connect({ host: target.host[0]!, port: target.port[0]! })
}

/** Far longer than the driver needs, once a transaction's body has failed, for its rollback. */
const LINGER_MS = 250

/**
 * Bodies have failed long before this. The one that has not waits for an answer which the driver will never give, to a
 * statement that it sent after the failed one.
 */
const GIVE_UP_MS = 30_000

// ReadyForQuery outside a transaction: type Z, length 5, status I. Always the end of what the server sends at a time.
const IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/**
 * A socket that closes in the middle of work first fails what is under way, as an error that callers see, and says that
 * it is closed a moment later, when they are through with it.
 */
class ReconnectingSocket extends Socket {
  private busy = false
  private lost: Error | null = null

  /** @param transactionsOver settles when every transaction that is running now has had its last word. */
  constructor(private readonly transactionsOver: () => Promise<unknown>) {
    super()
    const send = this.send.bind(this)
    // Node itself replaces the method when the socket connects and when the other side ends.
    Object.defineProperty(this, 'write', { get: () => send, set: () => {} })
    this.on('data', (chunk: Buffer) => {
      this.busy = !chunk.subarray(-IDLE.length).equals(IDLE)
    })
  }

  private send(...args: unknown[]): boolean {
    this.busy = true
    if (!this.lost) return super.write(...(args as Parameters<Socket['write']>))
    queueMicrotask(() => this.fail())
    return false
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'error') this.lost ??= args[0] as Error
    if (event !== 'close' || !this.busy) return super.emit(event, ...args)
    this.lost ??= Object.assign(new Error('the database closed the connection'), { code: 'CONNECTION_CLOSED' })
    this.fail()
    const patience = new AbortController()
    Promise.race([
      this.transactionsOver(),
      delay(GIVE_UP_MS, undefined, { ref: false, signal: patience.signal }).catch(() => {})
    ]).then(() => {
      patience.abort()
      setTimeout(() => super.emit('close', ...args), LINGER_MS).unref()
    })
    return true
  }

  private fail(): void {
    // Without a listener an error event would be the very exception that this class avoids.
    if (this.listenerCount('error') > 0) super.emit('error', this.lost)
  }
}
