// Who calls Azure: a service principal, by a token of Microsoft Entra ID, or a workspace's key. Nothing of the environment is
// read: no key, login or metadata service of this machine stands in for those of a team.
import { createHash } from 'node:crypto'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { ProviderFault } from '../adapter.js'
import { createProviderHttp, type ProviderCall, type ProviderHttp, type ProviderResponse } from '../http.js'
import { parsed } from '../json-answers.js'
import { signInRefusals } from './azure-faults.js'

const LOGIN = 'https://login.microsoftonline.com'
const scopes = {
  manager: 'https://management.azure.com/.default',
  quantum: 'https://quantum.microsoft.com/.default'
} as const
export type Scope = keyof typeof scopes

const TOKENS_MAX = 1000
/** A token is renewed this long before it expires. */
const EARLY_MS = 5 * 60_000
const LIFE_MS_MAX = 24 * 3_600_000
/** Longer than the tries of one submission lie apart. */
const REFUSED_MS = 5 * 60_000
const tokenPattern = /^[!-~]{1,16384}$/

/** What proves who calls, in the headers of a request; no message repeats `secret`. */
export interface Proof {
  headers: Record<string, string>
  secret: string
}

export interface Identity {
  proof(credentials: Credentials, scope: Scope, signal: AbortSignal): Promise<Proof>
  /** Makes the next proof from a new token. */
  forget(credentials: Credentials): void
  /**
   * Does the same after a refusal of a request that is sent once, whose next try comes later.
   * @returns whether that try may succeed: when the one before was refused, too, the credentials are refused and not the token.
   */
  renew(credentials: Credentials): boolean
  /** Notes that such a request was not refused. */
  served(credentials: Credentials): void
  /** A request that can be sent twice: with a new token, where the first one was revoked before its time. */
  call(
    http: ProviderHttp,
    credentials: Credentials,
    scope: Scope,
    call: Omit<ProviderCall, 'headers' | 'secrets'>
  ): Promise<ProviderResponse>
  close(): Promise<void>
}

/** Those of a service principal, which is preferred to a key. */
export const isPrincipal = ({ tenant_id, client_id, client_secret }: Credentials): boolean =>
  tenant_id !== undefined && client_id !== undefined && client_secret !== undefined

/** A name of the values in memory, which contains none of them. */
export const nameOf = (...values: (string | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('base64')

export function createIdentity(loginUrl = LOGIN, callTimeoutMs?: number): Identity {
  const http = createProviderHttp('Microsoft Entra ID', signInRefusals, callTimeoutMs)
  const tokens = new Map<string, { token: string; renewAt: number }>()
  /** When a token was refused that was replaced since, by credentials. */
  const refusedAt = new Map<string, number>()
  const ownerOf = ({ tenant_id, client_id, client_secret }: Credentials) => nameOf(tenant_id, client_id, client_secret)
  const keyOf = ({ tenant_id, client_id, client_secret }: Credentials, scope: Scope) =>
    nameOf(tenant_id, client_id, client_secret, scope)

  async function tokenOf(credentials: Credentials, scope: Scope, signal: AbortSignal): Promise<string> {
    const key = keyOf(credentials, scope)
    const kept = tokens.get(key)
    if (kept && performance.now() < kept.renewAt) return kept.token
    const began = performance.now()
    const { token, lifeMs } = await newToken(credentials, scope, signal)
    tokens.delete(key)
    tokens.set(key, { token, renewAt: began + lifeMs - EARLY_MS })
    if (tokens.size > TOKENS_MAX) tokens.delete(tokens.keys().next().value!)
    return token
  }

  async function newToken(
    { tenant_id, client_id, client_secret }: Credentials,
    scope: Scope,
    signal: AbortSignal
  ): Promise<{ token: string; lifeMs: number }> {
    const { text } = await http.call({
      method: 'POST',
      url: `${loginUrl.replace(/\/$/, '')}/${encodeURIComponent(tenant_id!)}/oauth2/v2.0/token`,
      headers: {},
      body: {
        form: {
          grant_type: 'client_credentials',
          client_id: client_id!,
          client_secret: client_secret!,
          scope: scopes[scope]
        }
      },
      secrets: [client_secret!],
      signal
    })
    const { access_token: token, expires_in } = parsed<{ access_token?: unknown; expires_in?: unknown }>(text) ?? {}
    if (typeof token !== 'string' || !tokenPattern.test(token))
      throw new ProviderFault('unclear', 'Microsoft Entra ID answered without a token')
    const seconds = typeof expires_in === 'number' && expires_in > 0 ? expires_in : 0
    return { token, lifeMs: Math.min(seconds * 1000, LIFE_MS_MAX) }
  }

  const identity: Identity = {
    async proof(credentials, scope, signal): Promise<Proof> {
      if (!isPrincipal(credentials)) {
        const key = credentials.api_key ?? ''
        return { headers: { 'x-ms-quantum-api-key': key }, secret: key }
      }
      const token = await tokenOf(credentials, scope, signal)
      return { headers: { authorization: `Bearer ${token}` }, secret: token }
    },

    forget(credentials) {
      for (const scope of Object.keys(scopes) as Scope[]) tokens.delete(keyOf(credentials, scope))
    },

    renew(credentials) {
      identity.forget(credentials)
      const owner = ownerOf(credentials)
      const before = refusedAt.get(owner)
      refusedAt.delete(owner)
      if (before !== undefined && performance.now() - before < REFUSED_MS) return false
      refusedAt.set(owner, performance.now())
      if (refusedAt.size > TOKENS_MAX) refusedAt.delete(refusedAt.keys().next().value!)
      return true
    },

    served: (credentials) => void refusedAt.delete(ownerOf(credentials)),

    async call(httpOfService, credentials, scope, call) {
      const attempt = async (answers: readonly number[]) => {
        const { headers, secret } = await identity.proof(credentials, scope, call.signal)
        return httpOfService.call({ ...call, headers, secrets: [secret], answers })
      }
      const { answers = [] } = call
      if (!isPrincipal(credentials)) return attempt(answers)
      const response = await attempt([...answers, 401])
      if (response.status !== 401) return response
      identity.forget(credentials)
      return attempt(answers)
    },

    close: () => http.close()
  }
  return identity
}
