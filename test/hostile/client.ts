// HTTP requests of both teams. A caller has an address of its own, which the stack believes from its trusted proxy, so that
// limits by address count each caller alone.
import { Agent, request } from 'undici'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `status` 0: there was no response; `text` then says why. */
export interface Reply {
  status: number
  text: string
  cookie: string | null
  retryAfterSeconds: number | null
}

export interface Sent {
  base: string
  method: Method
  path: string
  /** The caller's address. */
  address: string
  headers?: Record<string, string>
  /** A JSON value, or bytes whose type `headers` states. */
  body?: unknown
  timeoutMs: number
}

// As many connections as requests: a slow response must not delay the next request of the measurement.
const agent = new Agent({ connections: null, headersTimeout: 0, bodyTimeout: 0 })

/** Never rejects: an attack continues, and a measurement counts what failed. */
export async function send({ base, method, path, address, headers, body, timeoutMs }: Sent): Promise<Reply> {
  const isBytes = body instanceof Uint8Array
  try {
    const response = await request(`${base}${path}`, {
      dispatcher: agent,
      method,
      headers: {
        'x-forwarded-for': address,
        ...(body !== undefined && !isBytes && { 'content-type': 'application/json' }),
        ...headers
      },
      body: body === undefined ? null : isBytes ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs)
    })
    const text = await response.body.text()
    const cookie = [response.headers['set-cookie']].flat()[0]?.split(';')[0] ?? null
    const wait = Number(response.headers['retry-after'])
    return { status: response.statusCode, text, cookie, retryAfterSeconds: Number.isFinite(wait) ? wait : null }
  } catch (error) {
    return { status: 0, text: (error as Error).message, cookie: null, retryAfterSeconds: null }
  }
}

export function fieldsOf({ text }: Reply): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
