// A caller of the service under chaos: it takes every answer down, and an answer that never came as well.
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'

const ANSWER_LIMIT_MS = 15_000
/** A request with a key is sent again so often; each try waits for an answer and then for the api to be back. */
export const TRIES_MAX = 300
export const TRY_AGAIN_MS = 1_000

/** `lost`: the connection broke, nothing came in time, or the service said that it does not know (5xx). */
export type Answer = { kind: 'answer'; status: number; body: Record<string, unknown> } | { kind: 'lost'; why: string }

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface ChaosClient {
  /** @param body JSON, or bytes. */
  call(method: Method, path: string, body?: unknown, key?: string | null): Promise<Answer>
  /** The bytes that are answered with 200; `null`: none were, however often they were asked for. */
  download(path: string): Promise<Buffer | null>
}

/** @param cookie of a user who is signed in. */
export const createClient = (base: string, cookie: () => string): ChaosClient => ({
  async download(path) {
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      try {
        const { statusCode, body } = await request(`${base}${path}`, {
          headers: { cookie: cookie() },
          signal: AbortSignal.timeout(ANSWER_LIMIT_MS)
        })
        const bytes = Buffer.from(await body.arrayBuffer())
        if (statusCode === 200) return bytes
      } catch {
        // Broken off: once more.
      }
      await delay(TRY_AGAIN_MS)
    }
    return null
  },

  async call(method, path, body, key = null) {
    const isBytes = body instanceof Buffer
    try {
      const { statusCode, body: text } = await request(`${base}${path}`, {
        method,
        headers: {
          cookie: cookie(),
          ...(key && { 'idempotency-key': key }),
          ...(body !== undefined && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' })
        },
        body: body === undefined ? null : isBytes ? body : JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS)
      })
      const answer = (await text.json()) as Record<string, unknown>
      return statusCode >= 500
        ? { kind: 'lost', why: `${statusCode} ${JSON.stringify(answer)}` }
        : { kind: 'answer', status: statusCode, body: answer }
    } catch (error) {
      return { kind: 'lost', why: (error as Error).message }
    }
  }
})

/** Sends a request again and again, a change under its key, until it is answered. */
export async function insist(
  client: ChaosClient,
  method: Method,
  path: string,
  body?: unknown,
  key: string | null = null
): Promise<Answer> {
  let answer: Answer = { kind: 'lost', why: 'it was never sent' }
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    answer = await client.call(method, path, body, key)
    if (answer.kind === 'answer') break
    await delay(TRY_AGAIN_MS)
  }
  return answer
}

/** Signs up with an access code; answers the Cookie header. Only for a stack that is calm. */
export async function signUp(base: string, email: string, code: string): Promise<string> {
  const { statusCode, headers, body } = await request(`${base}/api/auth/sign-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: 'a password under chaos', code })
  })
  const text = await body.text()
  if (statusCode !== 201) throw new Error(`sign-up answered ${statusCode}: ${text}`)
  return String([headers['set-cookie']].flat()[0]).split(';')[0]!
}
