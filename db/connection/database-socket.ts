// What the driver takes for its socket: one connection to the first usable host of the list. It fails work in progress with
// an error that callers see when the connection is lost, over TCP and TLS alike, and emits its close event a moment later,
// when they have finished (db/connection/connection-loss.ts says why).
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type DatabaseHost, hostNames, type SessionAttributes } from './database-address.js'
import { openTransport } from './database-transport.js'
import { refusalOf, Startup, startupMessage } from './startup-messages.js'

/** For one host: the network, TLS, the sign-in. */
const CONNECT_MS = 5_000

/** Far longer than the driver needs for a rollback after a transaction's body has failed. */
const LINGER_MS = 250

/**
 * Bodies have failed long before this. A remaining one waits for a response that the driver will never give, to a
 * statement that it sent after the failed one.
 */
const GIVE_UP_MS = 30_000

// ReadyForQuery outside a transaction: type Z, length 5, status I. It always ends what the server sends at a time.
const IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

export interface SocketOptions {
  /** In the order in which they are tried. */
  hosts: readonly DatabaseHost[]
  sessionAttributes: SessionAttributes
  /** Settles when every currently running transaction of the pool has finished. */
  transactionsOver(): Promise<unknown>
  /** The session is open at this host. */
  onOpen(host: DatabaseHost): void
  /** No host could be used. */
  onFailure(error: Error): void
}

export class DatabaseSocket extends EventEmitter {
  /** Part of the driver's messages. */
  host: string
  port: number
  /** The driver reads it. It sends its goodbye only to an open socket. */
  readyState: 'open' | 'closed' = 'open'
  private transport: Socket | null = null
  /** The sign-in is over. */
  private isOpen = false
  /** The driver's first message, which every tried host gets. */
  private readonly startup: Promise<Buffer>
  private setStartup: ((message: Buffer) => void) | null = null
  private busy = false
  private retiring = false
  private lost: Error | null = null
  private readonly giveUp = new AbortController()

  constructor(private readonly options: SocketOptions) {
    super()
    this.host = options.hosts.map(({ host }) => host).join(',')
    this.port = options.hosts[0]!.port
    this.startup = new Promise((resolve) => {
      this.setStartup = resolve
    })
    void this.open()
  }

  /** Closes the connection as soon as it is idle. */
  retire(): void {
    this.retiring = true
    this.closeIfRetired()
  }

  write(bytes: Buffer, sent?: () => void): boolean {
    this.busy = true
    if (this.lost) {
      queueMicrotask(() => this.fail())
      return false
    }
    if (!this.setStartup) return this.transport?.write(bytes, sent) ?? false
    this.setStartup(startupMessage(bytes))
    this.setStartup = null
    return true
  }

  end(bytes: Buffer): void {
    if (this.isOpen) this.transport?.end(bytes)
    else this.destroy()
  }

  destroy(): void {
    // A statement that the driver still sends fails as one that has lost its connection.
    this.lost ??= closedError()
    this.giveUp.abort(this.lost)
    this.transport?.destroy()
  }

  pause(): void {
    this.transport?.pause()
  }

  resume(): void {
    this.transport?.resume()
  }

  private async open(): Promise<void> {
    const message = await this.startup
    const { hosts } = this.options
    const failures: { host: DatabaseHost; error: Error }[] = []
    for (const host of hosts) {
      const error = await this.failureOf(host, message, host === hosts.at(-1))
      if (!error) return
      if (this.giveUp.signal.aborted) break
      failures.push({ host, error })
    }
    this.lost ??= noHostError(failures)
    this.options.onFailure(this.lost)
    this.close(true)
  }

  /** Tries one host. @returns why it cannot be used; `null`: the connection is open. */
  private async failureOf(host: DatabaseHost, message: Buffer, isLast: boolean): Promise<Error | null> {
    const time = new AbortController()
    const signal = AbortSignal.any([this.giveUp.signal, time.signal])
    const timer = setTimeout(() => time.abort(slowError()), CONNECT_MS)
    try {
      const transport = await openTransport(host, signal)
      await this.signIn(host, transport, message, signal, isLast)
      return null
    } catch (error) {
      this.transport?.destroy()
      this.transport = null
      return signal.aborted ? signal.reason : (error as Error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Until the session is known to be usable, the driver sees only what it has to respond to. */
  private signIn(host: DatabaseHost, transport: Socket, message: Buffer, signal: AbortSignal, isLast: boolean) {
    this.transport = transport
    return new Promise<void>((resolve, reject) => {
      const startup = new Startup()
      let isLeft = false
      const leave = (error: Error) => {
        isLeft = true
        reject(error)
      }
      const onStartup = (chunk: Buffer) => {
        const { now, ended } = startup.read(chunk)
        if (now.length > 0) this.emit('data', now)
        if (!ended) return
        const refusal = refusalOf(startup, this.options.sessionAttributes, isLast)
        if (refusal) return leave(refusal)
        this.isOpen = true
        this.host = host.host
        this.port = host.port
        if (startup.error) this.options.onFailure(connectionError(startup.error))
        else this.options.onOpen(host)
        this.receive(startup.rest())
        resolve()
      }
      transport.on('data', (chunk: Buffer) => {
        if (isLeft) return
        if (this.isOpen) this.receive(chunk)
        else onStartup(chunk)
      })
      transport.on('drain', () => this.isOpen && !isLeft && this.emit('drain'))
      transport.on('error', (error: Error) => {
        if (isLeft) return
        if (!this.isOpen) return leave(error)
        this.lost ??= connectionError(error)
        this.fail()
      })
      transport.on('close', (hadError: boolean) => {
        if (isLeft) return
        if (!this.isOpen) return leave(closedError())
        this.closeWhenWorkHasFailed(hadError)
      })
      signal.addEventListener('abort', () => this.isOpen || leave(signal.reason), { once: true })
      transport.write(message)
      transport.resume()
    })
  }

  private receive(chunk: Buffer): void {
    this.busy = !chunk.subarray(-IDLE.length).equals(IDLE)
    this.emit('data', chunk)
    // The driver may send the next statement when it has read the response.
    if (this.retiring) setImmediate(() => this.closeIfRetired())
  }

  private closeIfRetired(): void {
    if (!this.busy) this.destroy()
  }

  private closeWhenWorkHasFailed(hadError: boolean): void {
    if (!this.busy) {
      this.close(hadError)
      return
    }
    this.lost ??= closedError()
    this.fail()
    const patience = new AbortController()
    Promise.race([
      this.options.transactionsOver(),
      delay(GIVE_UP_MS, undefined, { ref: false, signal: patience.signal }).catch(() => {})
    ]).then(() => {
      patience.abort()
      setTimeout(() => this.close(hadError), LINGER_MS).unref()
    })
  }

  private close(hadError: boolean): void {
    this.readyState = 'closed'
    // After an error, the driver forgets a statement that it was given in this turn: nothing would settle it.
    if (this.lost) this.fail()
    this.emit('close', hadError)
  }

  private fail(): void {
    // Without a listener, an error event would be an exception that nothing can catch.
    if (this.listenerCount('error') > 0) this.emit('error', this.lost)
  }
}

/** Tells a lost or refused connection to the database from one to another server. */
export const CONNECTION_ERROR = 'DatabaseConnectionError'

export function connectionError(error: { message: string; code?: string }, message = error.message): Error {
  const { code } = error
  return Object.assign(new Error(message, { cause: error }), { name: CONNECTION_ERROR, ...(code && { code }) })
}

const closedError = (): Error =>
  Object.assign(new Error('the database closed the connection'), { name: CONNECTION_ERROR, code: 'CONNECTION_CLOSED' })

const slowError = (): Error =>
  Object.assign(new Error(`no response within ${CONNECT_MS / 1_000} s`), { code: 'CONNECT_TIMEOUT' })

/** The last host's reason, with those of the others in its message. */
function noHostError(failures: readonly { host: DatabaseHost; error: Error }[]): Error {
  const last = failures.at(-1)!
  if (failures.length === 1) return connectionError(last.error)
  const reasons = failures.map(({ host, error }) => `${hostNames([host])} (${error.message})`)
  return connectionError(last.error, `no host of the database can be used: ${reasons.join('; ')}`)
}
