// The access tokens of the emulated IAM: JSON Web Tokens that live by the emulated clock. As at IBM, a token outlives the
// revocation of the API key that it was made with.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { EmulatedClock } from '../../clock.js'
import type { Caller } from './accounts.js'

const hourSeconds = 3600

interface Claims {
  iam_id: string
  account: { bss: string }
  /** The number of the token. */
  jti: string
  /** Seconds since 1970. */
  iat: number
  exp: number
}

export class AccessTokens {
  private readonly secret = randomBytes(32)
  private issued = 0
  private firstValid = 0
  private lifeSeconds = hourSeconds

  constructor(private readonly clock: EmulatedClock) {}

  /** The body of IAM's response. */
  issue({ user, account }: Caller): Record<string, unknown> {
    const iat = Math.floor(this.clock.now() / 1000)
    const exp = iat + this.lifeSeconds
    const claims = {
      iam_id: user,
      id: user,
      sub: user,
      account: { valid: true, bss: account },
      iss: 'https://iam.cloud.ibm.com/identity',
      grant_type: 'urn:ibm:params:oauth:grant-type:apikey',
      scope: 'ibm openid',
      client_id: 'default',
      jti: String(this.issued++),
      iat,
      exp
    }
    const signed = `${part({ typ: 'JWT', alg: 'HS256' })}.${part(claims)}`
    return {
      access_token: `${signed}.${this.signature(signed).toString('base64url')}`,
      refresh_token: 'not_supported',
      token_type: 'Bearer',
      expires_in: this.lifeSeconds,
      expiration: exp,
      scope: 'ibm openid'
    }
  }

  /** Who holds this token; null if it was not issued here, or has expired. */
  read(token: string): Caller | null {
    const [header = '', body = '', signature = ''] = token.split('.')
    const given = Buffer.from(signature, 'base64url')
    const wanted = this.signature(`${header}.${body}`)
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Claims
    if (Number(claims.jti) < this.firstValid || this.clock.now() >= claims.exp * 1000) return null
    return { user: claims.iam_id, account: claims.account.bss }
  }

  /** Ends every token that was issued so far. */
  expireAll(): void {
    this.firstValid = this.issued
  }

  /** How long tokens live that are issued from now on. */
  setLife(seconds: number): void {
    this.lifeSeconds = seconds
  }

  /** Issued tokens stay valid: a client that keeps one need not know of the reset. */
  reset(): void {
    this.firstValid = 0
    this.lifeSeconds = hourSeconds
  }

  private signature(text: string): Buffer {
    return createHmac('sha256', this.secret).update(text).digest()
  }
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
