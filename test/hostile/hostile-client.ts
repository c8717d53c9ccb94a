// What an attack has at hand: an account with several API keys, requests that never reject, and raw connections. It counts
// every response, and cancels every job of the attack at its end.
import { connect as connectSocket, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { isFinal, type JobStatus } from '../../domain/jobs/job-status.js'
import type { Account } from './accounts.js'
import { fieldsOf, type Method, type Reply, send } from './client.js'

const TIMEOUT_MS = 60_000
const CANCEL_LIMIT_MS = 15_000
const LOOKED_AT = 20
const FINAL_LIMIT_MS = 120_000
/** The sockets of one attack at a time; more would take this process's file descriptors, not the service's. */
export const SOCKETS_MAX = 800

/** What the runner has made for the attacks outside the service. */
export interface Surroundings {
  /** Accepts connections and never responds. */
  tarpitUrl: string
  /** Valid, and never spent: the address that it is used with is taken. */
  accessCode: string
  /** Credentials of the emulated provider. */
  ionq: Record<string, string>
}

export interface CallOptions {
  /** Default: the next API key of the team. */
  as?: 'session' | 'key' | 'nobody'
  idempotencyKey?: string
  headers?: Record<string, string>
  /** Default: the account's. */
  address?: string
}

export class Hostile {
  /** The number of responses by status; `none` = without a response. */
  readonly replies: Record<string, number> = {}
  /** Bytes that the service accepted with a 2xx. */
  acceptedBytes = 0
  readonly jobs: string[] = []
  private readonly sockets = new Set<Socket>()
  private turn = 0

  constructor(
    readonly base: string,
    readonly account: Account,
    readonly surroundings: Surroundings
  ) {}

  get teamId(): string {
    return this.account.teamId
  }

  async call(method: Method, path: string, body?: unknown, options: CallOptions = {}): Promise<Reply> {
    const { as = 'key', idempotencyKey, headers = {}, address = this.account.address } = options
    const reply = await send({
      base: this.base,
      method,
      path,
      address,
      headers: {
        ...(as === 'key' && { authorization: `Bearer ${this.nextKey()}` }),
        ...(as === 'session' && { cookie: this.account.cookie }),
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        ...headers
      },
      body,
      timeoutMs: TIMEOUT_MS
    })
    const name = reply.status === 0 ? 'none' : String(reply.status)
    this.replies[name] = (this.replies[name] ?? 0) + 1
    if (reply.status >= 200 && reply.status < 300 && body !== undefined)
      this.acceptedBytes += body instanceof Uint8Array ? body.length : JSON.stringify(body).length
    return reply
  }

  /** Each key has limits of its own, so an attack uses them in turn. */
  nextKey(): string {
    const { keys } = this.account
    return keys[this.turn++ % keys.length]!
  }

  /** @returns the job's id; `null` if it was refused. */
  async submit(body: Record<string, unknown>, options: CallOptions = {}): Promise<string | null> {
    const given = { backend: 'local', params: { shots: 10 }, team_id: this.teamId, ...body }
    const reply = await this.call('POST', '/api/jobs/submit', given, options)
    if (reply.status !== 201) return null
    const id = String(fieldsOf(reply).job_id)
    this.jobs.push(id)
    return id
  }

  /** A completed job to attack with. @throws Error if there is none. */
  async completedJob(body: Record<string, unknown>): Promise<string> {
    const id = await this.submit(body)
    if (id === null) throw new Error(`a job was refused: ${JSON.stringify(this.replies)}`)
    const deadline = Date.now() + FINAL_LIMIT_MS
    for (;;) {
      const reply = await this.call('GET', `/api/jobs/${id}/status?wait=20`)
      const status = fieldsOf(reply).status as JobStatus
      if (status === 'completed') return id
      if (isFinal(status) || Date.now() > deadline) throw new Error(`a job is ${status}: ${reply.text.slice(0, 300)}`)
      if (reply.status !== 200) await delay(1_000)
    }
  }

  /** Opens a connection of the attack's own and sends `head`. What arrives is read only with `reads`. */
  open(head: string | Buffer, { reads = false, onClose }: { reads?: boolean; onClose?: () => void } = {}): Socket {
    const { hostname, port } = new URL(this.base)
    const socket = connectSocket({ host: hostname, port: Number(port) })
    this.sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      this.sockets.delete(socket)
      onClose?.()
    })
    socket.write(head)
    if (reads) socket.resume()
    else socket.pause()
    return socket
  }

  /** The head of a request of this account on a raw connection. */
  head(method: string, path: string, headers: Record<string, string> = {}): string {
    const lines = Object.entries({
      host: new URL(this.base).host,
      authorization: `Bearer ${this.nextKey()}`,
      'x-forwarded-for': this.account.address,
      ...headers
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
  }

  get openSockets(): number {
    return this.sockets.size
  }

  /** How many of the first jobs have each status and error code, which shows whether the attack took place. */
  async outcomes(): Promise<Record<string, number>> {
    const outcomes: Record<string, number> = {}
    for (const id of this.jobs.slice(0, LOOKED_AT)) {
      const fields = fieldsOf(await this.call('GET', `/api/jobs/${id}`))
      const name = [fields.status, (fields.error as { code?: string } | null)?.code].filter(Boolean).join(' ')
      outcomes[name] = (outcomes[name] ?? 0) + 1
    }
    return outcomes
  }

  /** Stops the attack: closes its connections and cancels its jobs. */
  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    const deadline = Date.now() + CANCEL_LIMIT_MS
    const left = [...this.jobs]
    const cancel = async () => {
      for (let id = left.pop(); id !== undefined && Date.now() < deadline; id = left.pop())
        await this.call('POST', `/api/jobs/${id}/cancel`)
    }
    await Promise.all(Array.from({ length: 8 }, cancel))
  }
}

/** Runs `work` again and again, `lanes` times at once and at most `perSecond` times in all, until the abort. */
export async function repeat(
  until: AbortSignal,
  { lanes, perSecond = Number.POSITIVE_INFINITY }: { lanes: number; perSecond?: number },
  work: (turn: number) => Promise<unknown> | unknown
): Promise<void> {
  let turn = 0
  const began = performance.now()
  const lane = async () => {
    while (!until.aborted) {
      const own = turn++
      const early = began + (own * 1000) / perSecond - performance.now()
      if (early > 1) await pause(early, until)
      if (until.aborted) return
      await Promise.race([work(own), aborted(until)])
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

export const pause = (ms: number, until: AbortSignal): Promise<unknown> =>
  delay(ms, undefined, { signal: until }).catch(() => {})

const abortions = new WeakMap<AbortSignal, Promise<void>>()
export function aborted(until: AbortSignal): Promise<void> {
  let promise = abortions.get(until)
  if (!promise) {
    promise = new Promise((resolve) => {
      if (until.aborted) resolve()
      else until.addEventListener('abort', () => resolve(), { once: true })
    })
    abortions.set(until, promise)
  }
  return promise
}
