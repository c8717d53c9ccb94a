// The client of the service's HTTP API. Failed requests are repeated: reads unchanged, writes with the same Idempotency-Key,
// so that the service does not carry out a write twice when its response was lost.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { CliError } from '../terminal/cli-error.js'
import { printNotice } from '../terminal/output.js'

/** The service responds to a waiting status request after at most 22 s. */
const REQUEST_LIMIT_MS = 30_000
/** For files of many MiB over a slow connection. */
const FILE_LIMIT_MS = 300_000
const RETRY_AFTER_MS = [200, 600, 1500]
const WRITE_RETRY_AFTER_MS = [500, 1500]
/** The longest wait for a rate limit, all waits of a request together. A limit per hour or day is reported instead. */
const WAIT_SECONDS_MAX = 180
/** Sent by the service while another request has the same key, or by a proxy. */
const transientStatuses = new Set([502, 503, 504])

export interface ServiceResponse<T> {
  value: T
  /** The body, exactly as received. */
  text: string
  /** `name=value` of the session cookie in the response. */
  cookie: string | null
}

/** A body that is not JSON. */
export interface FileBody {
  bytes: Buffer
  type: string
}

/** The caller's credential: a session cookie (`name=value`), or an API key. */
export type Credential = { cookie: string } | { key: string }

export class ApiClient {
  constructor(
    readonly url: string,
    readonly credential: Credential | null,
    private readonly notify: (text: string) => void = printNotice
  ) {}

  /**
   * @param options.patient whether the read waits for its rate limit.
   * @throws CliError `refused` for 4xx, `unreachable` without a usable response.
   */
  async get<T>(path: string, { patient = true } = {}): Promise<ServiceResponse<T>> {
    for (const pause of RETRY_AFTER_MS) {
      try {
        return await this.request<T>('GET', path, undefined, undefined, patient)
      } catch (error) {
        if (!(error instanceof CliError && error.kind === 'unreachable')) throw error
      }
      await delay(pause)
    }
    return this.request('GET', path, undefined, undefined, patient)
  }

  /** @param body a value, or JSON text that is sent unchanged. @throws CliError as `get`. */
  async post<T>(path: string, body?: object | string): Promise<ServiceResponse<T>> {
    // Sign-in routes have no caller yet, and so no Idempotency-Keys.
    if (path.startsWith('/api/auth/')) return this.request('POST', path, jsonText(body))
    return this.write('POST', path, body)
  }

  /** Posts a file unchanged. @throws CliError as `post`. */
  send<T>(path: string, file: FileBody): Promise<ServiceResponse<T>> {
    return this.write('POST', path, file)
  }

  /** Downloads a file with its name, without retries. @throws CliError as `get`. */
  async download(path: string): Promise<{ bytes: Buffer; name: string | null }> {
    const response = await this.sent(() => this.fetch('GET', path, undefined, undefined, FILE_LIMIT_MS))
    if (!response.ok) throw this.failure(path, response, await response.text())
    const bytes = await response.arrayBuffer().catch((error) => this.throwUnreachable('GET', error))
    const name = /filename="([^"]*)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
    return { bytes: Buffer.from(bytes), name: name || null }
  }

  /** @throws CliError as `post`. */
  patch<T>(path: string, body: object | string): Promise<ServiceResponse<T>> {
    return this.write('PATCH', path, body)
  }

  /** @throws CliError as `post`. */
  put<T>(path: string, body: object): Promise<ServiceResponse<T>> {
    return this.write('PUT', path, body)
  }

  /** @throws CliError as `post`. */
  delete<T>(path: string, body?: object): Promise<ServiceResponse<T>> {
    return this.write('DELETE', path, body)
  }

  /** The lines of a response that never ends. @throws what `fetch` throws, or CliError. */
  async *lines(path: string, signal: AbortSignal, headers: Record<string, string> = {}): AsyncGenerator<string> {
    const response = await fetch(this.url + path, {
      headers: { ...headers, ...this.credentialHeader() },
      redirect: 'manual',
      signal
    })
    if (!response.ok || !response.body) throw this.failure(path, response, await response.text())
    let rest = ''
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      yield* lines
    }
  }

  private async write<T>(method: string, path: string, body?: object | string | FileBody): Promise<ServiceResponse<T>> {
    const sent = isFile(body) ? body : jsonText(body)
    const key = randomUUID()
    for (const pause of WRITE_RETRY_AFTER_MS) {
      try {
        return await this.request<T>(method, path, sent, key)
      } catch (error) {
        const { kind, details } = error as Partial<CliError>
        const { status } = (details ?? {}) as { status?: number }
        if (kind !== 'unreachable' || (status !== undefined && !transientStatuses.has(status))) throw error
      }
      await delay(pause)
    }
    return this.request(method, path, sent, key)
  }

  private async request<T>(
    method: string,
    path: string,
    body?: string | FileBody,
    key?: string,
    patient = true
  ): Promise<ServiceResponse<T>> {
    const response = await this.sent(() => this.fetch(method, path, body, key), patient)
    const text = await response.text().catch((error) => this.throwUnreachable(method, error))
    if (!response.ok) throw this.failure(path, response, text)
    return { value: this.parse<T>(text, response.status), text, cookie: sessionCookie(response) }
  }

  /** Sends, and as long as the service asks for a wait that is bearable, waits and sends again. */
  private async sent(send: () => Promise<Response>, patient = true): Promise<Response> {
    for (let waited = 0; ; ) {
      const response = await send()
      const seconds = response.status === 429 && patient ? retryAfter(response) : null
      if (seconds === null || waited + seconds > WAIT_SECONDS_MAX) return response
      waited += seconds
      const { message } = errorOf(await response.text().catch(() => ''))
      this.notify(`${message ?? 'The service asks to wait.'} Waiting for ${seconds} s; Ctrl-C stops.`)
      await delay(seconds * 1000)
    }
  }

  private async fetch(
    method: string,
    path: string,
    body?: string | FileBody,
    key?: string,
    limitMs = isFile(body) ? FILE_LIMIT_MS : REQUEST_LIMIT_MS
  ): Promise<Response> {
    try {
      return await fetch(this.url + path, {
        method,
        headers: {
          accept: 'application/json',
          ...this.credentialHeader(),
          ...(body !== undefined && { 'content-type': isFile(body) ? body.type : 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key })
        },
        ...(body !== undefined && { body: isFile(body) ? new Uint8Array(body.bytes) : body }),
        // This API never redirects, and following a redirect would send the session to another address.
        redirect: 'manual',
        signal: AbortSignal.timeout(limitMs)
      })
    } catch (error) {
      return this.throwUnreachable(method, error)
    }
  }

  private credentialHeader(): Record<string, string> {
    if (!this.credential) return {}
    return 'key' in this.credential
      ? { authorization: `Bearer ${this.credential.key}` }
      : { cookie: this.credential.cookie }
  }

  private authenticationProblem(): string {
    if (!this.credential) return `not signed in to ${this.url}: run qjob login EMAIL, or set an API key in QJOB_KEY`
    return 'key' in this.credential
      ? `${this.url} rejects this API key: it is mistyped, revoked or expired (--key, QJOB_KEY)`
      : `the session at ${this.url} has expired: run qjob login EMAIL`
  }

  private throwUnreachable(method: string, error: unknown): never {
    const { cause, name, message } = error as Error & { cause?: { code?: string; message?: string } }
    const why = name === 'TimeoutError' ? 'timeout' : (cause?.code ?? cause?.message ?? message)
    const neverSent = cause?.code === 'ECONNREFUSED' || cause?.code === 'ENOTFOUND'
    const advice = 'start it with npm start, or set another address with --url or QJOB_URL'
    const unsure =
      method === 'GET' || neverSent ? '' : ' The request may have been carried out: check before you repeat it.'
    throw new CliError(
      'unreachable',
      `${this.url} does not respond (${why}): ${advice}.${unsure}`,
      {},
      { cause: error }
    )
  }

  private failure(path: string, response: Response, text: string): CliError {
    const { message, ...details } = errorOf(text)
    const requestId = response.headers.get('x-request-id')
    const facts = { status: response.status, ...details, ...(requestId && { request_id: requestId }) }
    if (response.status === 401 && !path.startsWith('/api/auth/sign-'))
      return new CliError('refused', this.authenticationProblem(), facts)
    if (message === null || response.status < 400) return this.unexpectedResponse(response.status)
    if (response.status >= 500)
      return new CliError(
        'unreachable',
        `the service failed: ${message}${requestId ? ` (request ${requestId})` : ''}`,
        facts
      )
    return new CliError('refused', message, facts)
  }

  private parse<T>(text: string, status: number): T {
    // 204
    if (text === '') return undefined as T
    try {
      return JSON.parse(text) as T
    } catch {
      throw this.unexpectedResponse(status)
    }
  }

  private unexpectedResponse(status: number): CliError {
    return new CliError(
      'unreachable',
      `${this.url} responded with HTTP ${status}, but not like this service: check --url and QJOB_URL`,
      { status }
    )
  }
}

/** In whole seconds, as the service sends it. */
function retryAfter(response: Response): number | null {
  const text = response.headers.get('retry-after') ?? ''
  return /^\d{1,9}$/.test(text) ? Math.max(1, Number(text)) : null
}

const isFile = (body: object | string | undefined): body is FileBody =>
  typeof body === 'object' && 'bytes' in body && Buffer.isBuffer(body.bytes)

const jsonText = (body: object | string | undefined): string | undefined =>
  typeof body === 'object' ? JSON.stringify(body) : body

/** Reads both error bodies of the service: `{ error: "text", ... }` and `{ error: { message, ... } }`. */
function errorOf(text: string): { message: string | null; [detail: string]: unknown } {
  try {
    const { error, ...rest } = JSON.parse(text) as { error?: unknown }
    if (typeof error === 'string') return { ...rest, message: error }
    if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string')
      return { ...error, message: error.message }
  } catch {
    // A body that is not JSON does not come from this service.
  }
  return { message: null }
}

const sessionCookie = (response: Response): string | null =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0]!)
    .find((pair) => /^(__Host-)?qjs_session=./.test(pair)) ?? null
