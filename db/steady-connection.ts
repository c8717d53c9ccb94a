// Options under which a connection that is lost costs no more than what was under way on it.
//
// The driver (postgres 3.4.9, porsager/postgres issues 1154 and 1208) forgets its socket when a connection closes, while a
// transaction may still hold that connection and send its rollback on it: an exception that nobody can catch, which ends
// the process. Whoever catches it all the same finds that the connection never comes back.
import { Socket } from 'node:net'

// The driver puts small messages off to the end of the turn. When the connection closes meanwhile it puts off all later
// ones for ever, but for those above 1024 bytes. So the first message of a connection is longer than that: an option of
// blanks, which means nothing to Postgres.
const BLANKS = ' '.repeat(1_024)

/** @param parameters startup parameters of each connection (`application_name`, ...). */
export const steady = (parameters: Record<string, string | number> = {}): object => ({
  socket: steadySocket,
  // The driver's own look-up of array types fails to nobody's ears when the connection is lost meanwhile, which ends the
  // process too. Lists go as text (`anyOf` in db/client.ts).
  fetch_types: false,
  connection: { ...parameters, options: BLANKS }
})

// The driver hands over hosts and ports as lists.
function steadySocket(options: { path?: string; host: string[]; port: number[] }): Socket {
  const socket = new SteadySocket()
  return options.path
    ? socket.connect({ path: options.path })
    : socket.connect({ host: options.host[0]!, port: options.port[0]! })
}

/** Far longer than a transaction needs to hear of the failure and give up; nothing waits for it. */
const LINGER_MS = 250

// ReadyForQuery outside a transaction: type Z, length 5, status I. Always the end of what the server sends at a time.
const IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/**
 * A socket that closes in the middle of work first fails what is under way, as an error that callers see, and says that
 * it is closed a moment later, when they are through with it.
 */
class SteadySocket extends Socket {
  private busy = false
  private lost: Error | null = null

  constructor() {
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
    setTimeout(() => super.emit('close', ...args), LINGER_MS).unref()
    return true
  }

  private fail(): void {
    // Without a listener an error event would be the very exception that this class avoids.
    if (this.listenerCount('error') > 0) super.emit('error', this.lost)
  }
}
