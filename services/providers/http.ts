// One HTTP call to a provider. Every failure is classified by the question that matters for paid work: can the request have
// arrived?
import { Agent, request } from 'undici'
import { ProviderFault, type ProviderFaultKind } from './adapter.js'

/** Limit for a whole call, its response included. */
export const CALL_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_MS = 5_000
const BODY_MAX = 32 * 1024 * 1024
const MESSAGE_MAX = 500
const RETRY_AFTER_MAX_MS = 10 * 60_000

export interface ProviderCall {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: { json: unknown } | { form: Record<string, string> } | { text: string; type: string }
  signal: AbortSignal
  /** Statuses beyond 200 to 299 that the caller reads itself. */
  answers?: readonly number[]
  /** What no message may repeat, even where the provider's answer does. */
  secrets?: readonly string[]
}

export interface ProviderResponse {
  status: number
  /** By lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
}

export interface ProviderHttp {
  /**
   * A response of 200 to 299, or with one of the call's `answers`. Rejects only with ProviderFault, or when the caller's own
   * signal aborts.
   */
  call(call: ProviderCall): Promise<ProviderResponse>
  close(): Promise<void>
}

/** How a provider words its refusals. */
export interface Refusals {
  /** The provider's message in a response, uncut: secrets are removed before it is cut. */
  messageOf(response: ProviderResponse): string | null
  /** What follows the provider's message, in our own words. */
  noteOf?(response: ProviderResponse): string
  /** What the response means where its status alone does not say it; `null` where it does. */
  kindOf?(response: ProviderResponse): ProviderFaultKind | null
}

export function createProviderHttp(provider: string, refusals: Refusals, timeoutMs = CALL_TIMEOUT_MS): ProviderHttp {
  const agent = new Agent({ connectTimeout: CONNECT_TIMEOUT_MS, maxResponseSize: BODY_MAX, connections: 64 })
  return {
    async call({ method, url, headers, body, signal, answers = [], secrets = [] }) {
      const late = AbortSignal.timeout(timeoutMs)
      try {
        const answer = await request(url, {
          method,
          headers: { accept: 'application/json', ...headers, ...(body && { 'content-type': typeOf(body) }) },
          body: body ? textOf(body) : null,
          dispatcher: agent,
          signal: AbortSignal.any([signal, late])
        })
        const response = { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
        const { status } = response
        if ((status >= 200 && status < 300) || answers.includes(status)) return response
        throw faultOf(provider, response, refusals, secrets)
      } catch (error) {
        if (error instanceof ProviderFault) throw error
        signal.throwIfAborted()
        if (late.aborted) throw new ProviderFault('unclear', `${provider} did not respond within ${timeoutMs / 1000} s`)
        throw lostConnection(provider, error)
      }
    },
    close: () => agent.destroy()
  }
}

type Body = NonNullable<ProviderCall['body']>

const typeOf = (body: Body): string =>
  'text' in body ? body.type : 'form' in body ? 'application/x-www-form-urlencoded' : 'application/json'

/** The bytes that are sent: a signature covers them, so they are made in one place. */
export const textOf = (body: Body): string =>
  'text' in body ? body.text : 'form' in body ? new URLSearchParams(body.form).toString() : JSON.stringify(body.json)

function faultOf(
  provider: string,
  response: ProviderResponse,
  { messageOf, noteOf, kindOf }: Refusals,
  secrets: readonly string[]
): ProviderFault {
  const said = withoutSecrets(messageOf(response) ?? '', secrets).slice(0, MESSAGE_MAX) + (noteOf?.(response) ?? '')
  const words = said && `: ${said}`
  const kind = kindOf?.(response) ?? kindOfStatus(response.status)
  const waits = kind === 'busy' || kind === 'offline' || kind === 'unclear'
  const retryAfter = waits ? retryAfterMs(response.headers['retry-after']) : null
  return new ProviderFault(kind, `${provider} returned ${response.status}${words}`, retryAfter)
}

/** A message can end inside a secret, which so many of its characters still show. */
const RECOGNIZED = 8

/** Before the message is cut, so that no part of a secret is left. */
function withoutSecrets(words: string, secrets: readonly string[]): string {
  let rest = words
  for (const secret of secrets.filter((text) => text !== '')) {
    rest = rest.replaceAll(secret, '...')
    const partAt = rest.indexOf(secret.slice(0, RECOGNIZED))
    if (partAt !== -1) rest = `${rest.slice(0, partAt)}...`
  }
  return rest
}

function kindOfStatus(status: number): ProviderFaultKind {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 404 || status === 410) return 'not_found'
  if (status === 429) return 'busy'
  // After a time-out or a conflict, an earlier part of the same request may still have had an effect.
  return status >= 500 || status === 408 || status === 409 || status < 400 ? 'unclear' : 'refused'
}

/** Failures before the connection exists: nothing can have arrived. */
const failuresBeforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID'
])

function lostConnection(provider: string, error: unknown): ProviderFault {
  const { code, message } = error as { code?: string; message?: string }
  const reason = code ?? message ?? 'unknown cause'
  const kind = code && failuresBeforeSending.has(code) ? 'unreachable' : 'unclear'
  return new ProviderFault(kind, `${provider} could not be reached (${reason})`)
}

/** Whole seconds, or an HTTP date. */
function retryAfterMs(header: string | string[] | undefined): number | null {
  if (typeof header !== 'string') return null
  const ms = /^\d{1,6}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, RETRY_AFTER_MAX_MS) : null
}
