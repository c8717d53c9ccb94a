// The access tokens of the directory. A token holds all that it says, signed, so that a reset of the emulator leaves the tokens
// that clients keep in use; it expires by the emulated clock.
import { createHmac, randomUUID } from 'node:crypto'
import type { Application, Identity } from './identities.js'

/** The services that a token can be for, by the scope that is asked for. */
export const audiences = {
  'https://management.azure.com/.default': 'https://management.azure.com',
  'https://quantum.microsoft.com/.default': 'https://quantum.microsoft.com'
} as const

export type Audience = (typeof audiences)[keyof typeof audiences]

export interface TokenClaims {
  /** Which secret it was issued for. */
  identity: string
  audience: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

/** Not a secret: its tokens open only an emulator on this machine. */
const signingKey = 'emulated directory'

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const signatureOf = (text: string): string => createHmac('sha256', signingKey).update(text).digest('base64url')

export function issueToken(
  { id }: Identity,
  { tenant, client }: Application,
  audience: Audience,
  now: number,
  lifetimeMs: number
): string {
  const seconds = Math.floor(now / 1000)
  const claims = {
    aud: audience,
    iss: `https://sts.windows.net/${tenant}/`,
    iat: seconds,
    nbf: seconds,
    exp: Math.floor((now + lifetimeMs) / 1000),
    appid: client,
    tid: tenant,
    sid: id,
    uti: randomUUID()
  }
  const text = `${encoded({ typ: 'JWT', alg: 'HS256' })}.${encoded(claims)}`
  return `${text}.${signatureOf(text)}`
}

/** Null for a text that this directory has not issued. */
export function readToken(token: string): TokenClaims | null {
  const [header = '', payload = '', signature] = token.split('.')
  if (signature !== signatureOf(`${header}.${payload}`)) return null
  const { sid, aud, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
    sid: string
    aud: string
    exp: number
  }
  return { identity: sid, audience: aud, expiresAt: exp * 1000 }
}
