// A client of the service under chaos. It records every response, and also that a response was lost.
import { setTimeout as delay } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'

const RESPONSE_LIMIT_MS = 15_000
/** How often a request with a key is sent; each attempt waits for a response and then for the api to recover. */
export const TRIES_MAX = 300
export const TRY_AGAIN_MS = 1_000

/** `lost`: the connection broke, there was no response in time, or the outcome is unknown (5xx). */
export type ApiResponse =
  | { kind: 'response'; status: number; body: Record<string, unknown> }
  | { kind: 'lost'; why: string }

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface ChaosClient {
  /** @param body a JSON value, or bytes. */
  call(method: Method, path: string, body?: unknown, key?: string | null): Promise<ApiResponse>
  /** Retries until the status is 200 and returns the bytes; `null` if all attempts failed. */
  download(path: string): Promise<Buffer | null>
}

export interface ClientOptions {
  /** With the authorities that it trusts; default: undici's own. */
  dispatcher?: Dispatcher
  /** After which a response is lost. */
  responseLimitMs?: number
  /** Called for each response that was lost. */
  onLost?: (request: string, why: string) => void
}

/** @param cookie the session cookie of a user. */
export const createClient = (
  base: string,
  cookie: () => string,
  { dispatcher, responseLimitMs = RESPONSE_LIMIT_MS, onLost = () => {} }: ClientOptions = {}
): ChaosClient => ({
  async download(path) {
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      try {
        const { statusCode, body } = await request(`${base}${path}`, {
          ...(dispatcher && { dispatcher }),
          headers: { cookie: cookie() },
          signal: AbortSignal.timeout(responseLimitMs)
        })
        const bytes = Buffer.from(await body.arrayBuffer())
        if (statusCode === 200) return bytes
      } catch {
        // The connection broke: try again.
      }
      await delay(TRY_AGAIN_MS)
    }
    return null
  },

  async call(method, path, body, key = null) {
    const isBytes = body instanceof Buffer
    const lost = (why: string): ApiResponse => {
      onLost(`${method} ${path}`, why)
      return { kind: 'lost', why }
    }
    try {
      const { statusCode, body: text } = await request(`${base}${path}`, {
        method,
        ...(dispatcher && { dispatcher }),
        headers: {
          cookie: cookie(),
          ...(key && { 'idempotency-key': key }),
          ...(body !== undefined && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' })
        },
        body: body === undefined ? null : isBytes ? body : JSON.stringify(body),
        signal: AbortSignal.timeout(responseLimitMs)
      })
      const response = (await text.json()) as Record<string, unknown>
      if (statusCode < 500) return { kind: 'response', status: statusCode, body: response }
      return lost(`${statusCode} ${JSON.stringify(response)}`)
    } catch (error) {
      return lost((error as Error).message)
    }
  }
})

/** Sends a request, a change with its key, until there is a response. */
export async function retryUntilResponse(
  client: ChaosClient,
  method: Method,
  path: string,
  body?: unknown,
  key: string | null = null
): Promise<ApiResponse> {
  let response: ApiResponse = { kind: 'lost', why: 'it was never sent' }
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    response = await client.call(method, path, body, key)
    if (response.kind === 'response') break
    await delay(TRY_AGAIN_MS)
  }
  return response
}

/** Signs up with an access code and returns the Cookie header. Only for a stack without kills. */
export async function signUp(base: string, email: string, code: string, dispatcher?: Dispatcher): Promise<string> {
  const { statusCode, headers, body } = await request(`${base}/api/auth/sign-up`, {
    method: 'POST',
    ...(dispatcher && { dispatcher }),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: 'a password under chaos', code })
  })
  const text = await body.text()
  if (statusCode !== 201) throw new Error(`sign-up returned ${statusCode}: ${text}`)
  return String([headers['set-cookie']].flat()[0]).split(';')[0]!
}
