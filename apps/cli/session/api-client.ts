// The service's HTTP API, as commands use it. What fails on the way is tried again: reads as they are, writes under the same
// Idempotency-Key, by which the service knows that a lost answer was a done deed.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { CliError } from '../terminal/cli-error.js'

/** A held status request answers after 22 s at the latest. */
const REQUEST_LIMIT_MS = 30_000
/** For files of many MiB over a slow line. */
const FILE_LIMIT_MS = 300_000
const RETRY_AFTER_MS = [200, 600, 1500]
const WRITE_RETRY_AFTER_MS = [500, 1500]
/** From the service while another request has the same key, or from a proxy before it. */
const passing = new Set([502, 503, 504])

export interface Answer<T> {
  value: T
  /** The body as it came. */
  text: string
  /** `name=value` of a session cookie that came with it. */
  cookie: string | null
}

/** A body that is no JSON. */
export interface FileBody {
  bytes: Buffer
  type: string
}

/** Who asks: a person by the session's cookie (`name=value`), or a program by an API key. */
export type Credential = { cookie: string } | { key: string }

export class ApiClient {
  constructor(
    readonly url: string,
    readonly credential: Credential | null
  ) {}

  /** @throws CliError `refused` for 4xx, `unreachable` without a usable answer. */
  async get<T>(path: string): Promise<Answer<T>> {
    for (const pause of RETRY_AFTER_MS) {
      try {
        return await this.request<T>('GET', path)
      } catch (error) {
        if (!(error instanceof CliError && error.kind === 'unreachable')) throw error
      }
      await delay(pause)
    }
    return this.request('GET', path)
  }

  /** @param body a value, or JSON text that is sent as it is. @throws CliError as `get`. */
  async post<T>(path: string, body?: object | string): Promise<Answer<T>> {
    // Where one signs in, the service knows nobody yet, and no keys.
    if (path.startsWith('/api/auth/')) return this.request('POST', path, jsonText(body))
    return this.write('POST', path, body)
  }

  /** As `post`: a file as it is. */
  send<T>(path: string, file: FileBody): Promise<Answer<T>> {
    return this.write('POST', path, file)
  }

  /** A file, with the name that it came under. @throws CliError as `get`, without trying again. */
  async download(path: string): Promise<{ bytes: Buffer; name: string | null }> {
    const response = await this.fetch('GET', path, undefined, undefined, FILE_LIMIT_MS)
    if (!response.ok) throw this.failure(path, response, await response.text())
    const bytes = await response.arrayBuffer().catch((error) => this.throwUnreachable('GET', error))
    const name = /filename="([^"]*)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
    return { bytes: Buffer.from(bytes), name: name || null }
  }

  /** As `post`. */
  patch<T>(path: string, body: object | string): Promise<Answer<T>> {
    return this.write('PATCH', path, body)
  }

  /** As `post`. */
  delete<T>(path: string): Promise<Answer<T>> {
    return this.write('DELETE', path)
  }

  /** The lines of an answer that goes on for as long as its sender likes. @throws what `fetch` throws, or `refused`. */
  async *lines(path: string, signal: AbortSignal): AsyncGenerator<string> {
    const response = await fetch(this.url + path, { headers: this.credentialHeader(), redirect: 'manual', signal })
    if (!response.ok || !response.body) throw this.failure(path, response, await response.text())
    let rest = ''
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      yield* lines
    }
  }

  private async write<T>(method: string, path: string, body?: object | string | FileBody): Promise<Answer<T>> {
    const sent = isFile(body) ? body : jsonText(body)
    const key = randomUUID()
    for (const pause of WRITE_RETRY_AFTER_MS) {
      try {
        return await this.request<T>(method, path, sent, key)
      } catch (error) {
        const { kind, details } = error as Partial<CliError>
        const { status } = (details ?? {}) as { status?: number }
        if (kind !== 'unreachable' || (status !== undefined && !passing.has(status))) throw error
      }
      await delay(pause)
    }
    return this.request(method, path, sent, key)
  }

  private async request<T>(method: string, path: string, body?: string | FileBody, key?: string): Promise<Answer<T>> {
    const response = await this.fetch(method, path, body, key)
    const text = await response.text().catch((error) => this.throwUnreachable(method, error))
    if (!response.ok) throw this.failure(path, response, text)
    return { value: this.parse<T>(text, response.status), text, cookie: sessionCookie(response) }
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
        // A redirect is no answer of this API, and following one would show the session to another address.
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

  private notKnown(): string {
    if (!this.credential) return `not signed in to ${this.url}: run qjob login EMAIL, or give an API key in QJOB_KEY`
    return 'key' in this.credential
      ? `${this.url} does not know this API key: it is mistyped, revoked or expired (--key, QJOB_KEY)`
      : `not signed in to ${this.url} any more: run qjob login EMAIL`
  }

  private throwUnreachable(method: string, error: unknown): never {
    const { cause, name, message } = error as Error & { cause?: { code?: string; message?: string } }
    const why = name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? cause?.message ?? message)
    const neverSent = cause?.code === 'ECONNREFUSED' || cause?.code === 'ENOTFOUND'
    const mend = 'start it with npm start, or name another with --url or QJOB_URL'
    const unsure =
      method === 'GET' || neverSent
        ? ''
        : ' Whether the request was carried out is not known: look before you repeat it.'
    throw new CliError('unreachable', `${this.url} does not answer (${why}): ${mend}.${unsure}`, {}, { cause: error })
  }

  private failure(path: string, response: Response, text: string): CliError {
    const { message, ...details } = errorOf(text)
    const requestId = response.headers.get('x-request-id')
    const facts = { status: response.status, ...details, ...(requestId && { request_id: requestId }) }
    if (response.status === 401 && !path.startsWith('/api/auth/sign-'))
      return new CliError('refused', this.notKnown(), facts)
    if (message === null || response.status < 400) return this.strange(response.status)
    if (response.status >= 500)
      return new CliError(
        'unreachable',
        `the service cannot answer: ${message}${requestId ? ` (request ${requestId})` : ''}`,
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
      throw this.strange(status)
    }
  }

  private strange(status: number): CliError {
    return new CliError(
      'unreachable',
      `${this.url} answers (HTTP ${status}), but not as this service does: check --url and QJOB_URL`,
      { status }
    )
  }
}

const isFile = (body: object | string | undefined): body is FileBody =>
  typeof body === 'object' && 'bytes' in body && Buffer.isBuffer(body.bytes)

const jsonText = (body: object | string | undefined): string | undefined =>
  typeof body === 'object' ? JSON.stringify(body) : body

/** Either body of the service: `{ error: "text", ... }` or `{ error: { message, ... } }`. */
function errorOf(text: string): { message: string | null; [detail: string]: unknown } {
  try {
    const { error, ...rest } = JSON.parse(text) as { error?: unknown }
    if (typeof error === 'string') return { ...rest, message: error }
    if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string')
      return { ...error, message: error.message }
  } catch {
    // Not JSON: not this service.
  }
  return { message: null }
}

const sessionCookie = (response: Response): string | null =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0]!)
    .find((pair) => /^(__Host-)?qjs_session=./.test(pair)) ?? null
