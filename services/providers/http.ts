// One HTTP call to a provider. Every failure is classified by the question that matters for paid work: can the request have
// arrived?
import { Agent, request } from 'undici'
import { ProviderFault } from './adapter.js'

/** Limit for a whole call, its response included. */
export const CALL_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_MS = 5_000
const BODY_MAX = 32 * 1024 * 1024
const MESSAGE_MAX = 500
const RETRY_AFTER_MAX_MS = 10 * 60_000

export interface ProviderCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: unknown
  signal: AbortSignal
}

export interface ProviderHttp {
  /** Returns the body of the response. Rejects only with ProviderFault, or when the caller's own signal aborts. */
  call(call: ProviderCall): Promise<string>
  close(): Promise<void>
}

/** @param readMessage finds the provider's message in the body of a refusal. */
export function createProviderHttp(
  provider: string,
  readMessage: (body: string) => string | null,
  timeoutMs = CALL_TIMEOUT_MS
): ProviderHttp {
  const agent = new Agent({ connectTimeout: CONNECT_TIMEOUT_MS, maxResponseSize: BODY_MAX, connections: 64 })
  return {
    async call({ method, url, headers, body, signal }) {
      const late = AbortSignal.timeout(timeoutMs)
      try {
        const response = await request(url, {
          method,
          headers: { accept: 'application/json', ...headers, ...(body !== undefined && jsonType) },
          body: body === undefined ? null : JSON.stringify(body),
          dispatcher: agent,
          signal: AbortSignal.any([signal, late])
        })
        const text = await response.body.text()
        if (response.statusCode >= 200 && response.statusCode < 300) return text
        throw faultOf(provider, response.statusCode, readMessage(text), retryAfterMs(response.headers['retry-after']))
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

const jsonType = { 'content-type': 'application/json' }

function faultOf(provider: string, status: number, said: string | null, retryAfter: number | null): ProviderFault {
  const words = said ? `: ${said.slice(0, MESSAGE_MAX)}` : ''
  const message = `${provider} returned ${status}${words}`
  if (status === 401 || status === 403) return new ProviderFault('unauthorized', message)
  if (status === 404 || status === 410) return new ProviderFault('not_found', message)
  if (status === 429) return new ProviderFault('busy', message, retryAfter)
  // After a time-out or a conflict, an earlier part of the same request may still have had an effect.
  if (status >= 500 || status === 408 || status === 409 || status < 400)
    return new ProviderFault('unclear', message, retryAfter)
  return new ProviderFault('refused', message)
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
