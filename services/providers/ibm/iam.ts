// Access tokens of IBM Cloud's IAM: one for each API key, until shortly before it expires. Keys are kept as digests only.
import { createHash } from 'node:crypto'
import { ProviderFault } from '../adapter.js'
import { createProviderHttp } from '../http.js'
import { TimedCache } from '../timed-cache.js'
import { answerOf, iamRefusals } from './answers.js'

const IAM_URL = 'https://iam.cloud.ibm.com'
const TOKENS_MAX = 1000
/** A token is replaced so long before it expires. */
const MARGIN_SECONDS = 5 * 60
/** IBM's tokens are valid for an hour. */
const VALID_SECONDS_MAX = 3600
/** What can stand in a header. */
const tokenPattern = /^[!-~]{1,8192}$/

export interface AccessToken {
  text: string
  lifeMs: number
}

export interface Iam {
  /** Asks for a new token, which also checks the key. */
  issue(apiKey: string, signal: AbortSignal): Promise<AccessToken>
  of(apiKey: string, signal: AbortSignal): Promise<AccessToken>
  /** Forgets a token that IBM Quantum no longer takes. */
  drop(apiKey: string, token: AccessToken): void
  close(): Promise<void>
}

export function createIam(url = IAM_URL, callTimeoutMs?: number): Iam {
  const http = createProviderHttp('IBM Cloud IAM', iamRefusals, callTimeoutMs)
  const tokens = new TimedCache<AccessToken>(TOKENS_MAX, ({ lifeMs }) => lifeMs)

  async function request(apiKey: string, signal: AbortSignal): Promise<AccessToken> {
    const form = { grant_type: 'urn:ibm:params:oauth:grant-type:apikey', apikey: apiKey }
    const call = { method: 'POST', url: `${withoutSlash(url)}/identity/token`, headers: {}, body: { form } } as const
    try {
      return tokenOf(answerOf(await http.call({ ...call, secrets: [apiKey], signal }), 'IBM Cloud IAM'))
    } catch (error) {
      throw unsent(error)
    }
  }

  async function issue(apiKey: string, signal: AbortSignal): Promise<AccessToken> {
    const token = await request(apiKey, signal)
    tokens.set(digest(apiKey), token)
    return token
  }

  return {
    issue,
    of: (apiKey, signal) => tokens.get(digest(apiKey), () => request(apiKey, signal)),
    drop: (apiKey, token) => tokens.drop(digest(apiKey), token),
    close: () => http.close()
  }
}

/** Names a key without containing it. */
export const digest = (apiKey: string): string => createHash('sha256').update(apiKey).digest('hex')

export const withoutSlash = (url: string): string => url.replace(/\/$/, '')

function tokenOf({ access_token, expires_in }: Readonly<Record<string, unknown>>): AccessToken {
  if (typeof access_token !== 'string' || !tokenPattern.test(access_token))
    throw new ProviderFault('unclear', 'IBM Cloud IAM answered without a token')
  const seconds = typeof expires_in === 'number' && expires_in > 0 ? Math.min(expires_in, VALID_SECONDS_MAX) : 0
  return { text: access_token, lifeMs: Math.max(0, seconds - MARGIN_SECONDS) * 1000 }
}

/** Without a token nothing is sent to IBM Quantum, so that no job can have arrived there. */
const unsent = (error: unknown): unknown =>
  error instanceof ProviderFault && error.kind === 'unclear'
    ? new ProviderFault('unreachable', error.message, error.retryAfterMs)
    : error
