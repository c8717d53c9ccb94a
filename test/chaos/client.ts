// A caller of the service under chaos: it takes every answer down, and an answer that never came as well.
import { request } from 'undici'

const ANSWER_LIMIT_MS = 15_000

/** `lost`: the connection broke, nothing came in time, or the service said that it does not know (5xx). */
export type Answer = { kind: 'answer'; status: number; body: Record<string, unknown> } | { kind: 'lost'; why: string }

export interface ChaosClient {
  call(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown, key?: string | null): Promise<Answer>
}

/** @param cookie of a user who is signed in. */
export const createClient = (base: string, cookie: () => string): ChaosClient => ({
  async call(method, path, body, key = null) {
    try {
      const { statusCode, body: text } = await request(`${base}${path}`, {
        method,
        headers: {
          cookie: cookie(),
          ...(key && { 'idempotency-key': key }),
          ...(body !== undefined && { 'content-type': 'application/json' })
        },
        body: body === undefined ? null : JSON.stringify(body),
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
