// A small identity provider on a local port: OpenID Connect with the authorization code flow, built with
// jose and without code of the product. It requires clients to follow the specification (registered address, PKCE, their
// secret, codes that work once), and has the one fault that a test requests.
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'

export const CLIENT = { clientId: 'quantum-job-service', clientSecret: 'a secret: of 50% +/ & the client' }

export interface Person {
  sub: string
  email?: unknown
  email_verified?: unknown
  name?: unknown
}

/** What the provider does wrong, or differently. */
export interface Fault {
  /** Instead of the right ones in the ID token; `undefined` leaves one out. */
  claims?: Record<string, unknown>
  signedBy?: 'another key' | 'the client secret' | 'nobody'
  /** The browser is sent back with this error. */
  denial?: string
  /** The response of the token endpoint. */
  tokenAnswer?: { status: number; body: string; type?: string }
  /** No response at all at this path. */
  silentAt?: string
  /** Subject that the userinfo endpoint returns. */
  userinfoSub?: string
  metadata?: Record<string, unknown>
  /** Instead of the right one; `undefined` leaves it out. */
  idToken?: string | undefined
  keys?: unknown
}

interface Grant {
  challenge: string
  redirectUri: string
  nonce: string
  person: Person
}

/** @param options.redirectUri the only address to which it sends browsers back. */
export async function startIdentityProvider(options: { redirectUri: string; port?: number }) {
  const signing = await generateKeyPair('RS256')
  const foreign = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(signing.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  const grants = new Map<string, Grant>()
  const accessTokens = new Map<string, Person>()
  const secrets: string[] = []
  const paths: string[] = []
  const state = {
    /** The person who is signed in at the provider. */
    person: { sub: 'nobody' } as Person,
    fault: {} as Fault,
    /** Whether the ID token contains the profile of the person, or only the userinfo endpoint does. */
    claimsIn: 'token' as 'token' | 'userinfo',
    authMethods: ['client_secret_basic', 'client_secret_post'] as string[]
  }
  let issuer = ''

  const metadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    token_endpoint_auth_methods_supported: state.authMethods,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    ...state.fault.metadata
  })

  function authorize(query: URLSearchParams): { status: number; location?: string; body: string } {
    const problem =
      query.get('client_id') !== CLIENT.clientId
        ? 'client_id'
        : query.get('redirect_uri') !== options.redirectUri
          ? 'redirect_uri'
          : query.get('response_type') !== 'code'
            ? 'response_type'
            : !query.get('scope')?.split(' ').includes('openid')
              ? 'scope'
              : query.get('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(query.get('code_challenge') ?? '')
                ? 'code_challenge'
                : (query.get('state') ?? '').length < 20 || (query.get('nonce') ?? '').length < 20
                  ? 'state or nonce'
                  : null
    if (problem) return { status: 400, body: `bad ${problem}` }
    const back = new URL(options.redirectUri)
    back.searchParams.set('state', query.get('state')!)
    back.searchParams.set('iss', issuer)
    if (state.fault.denial) back.searchParams.set('error', state.fault.denial)
    else {
      const code = newSecret()
      grants.set(code, {
        challenge: query.get('code_challenge')!,
        redirectUri: options.redirectUri,
        nonce: query.get('nonce')!,
        person: state.person
      })
      back.searchParams.set('code', code)
    }
    return { status: 302, location: back.href, body: '' }
  }

  function newSecret(): string {
    const secret = randomBytes(24).toString('base64url')
    secrets.push(secret)
    return secret
  }

  async function token(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const form = new URLSearchParams(await text(request))
    if (!isClient(request, form, state.authMethods)) return { status: 401, body: { error: 'invalid_client' } }
    const grant = grants.get(form.get('code') ?? '')
    grants.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (grant?.challenge !== challenge || form.get('redirect_uri') !== grant.redirectUri)
      return { status: 400, body: { error: 'invalid_grant' } }
    const accessToken = newSecret()
    accessTokens.set(accessToken, grant.person)
    const idToken = await idTokenFor(grant)
    secrets.push(idToken, form.get('code_verifier')!)
    return {
      status: 200,
      body: {
        access_token: accessToken,
        token_type: 'Bearer',
        expires_in: 60,
        id_token: idToken,
        ...('idToken' in state.fault && { id_token: state.fault.idToken })
      }
    }
  }

  async function idTokenFor({ person, nonce }: Grant): Promise<string> {
    const seconds = Math.floor(Date.now() / 1000)
    const { sub, ...others } = person
    const claims = {
      iss: issuer,
      aud: CLIENT.clientId,
      sub,
      nonce,
      iat: seconds,
      exp: seconds + 300,
      ...(state.claimsIn === 'token' ? others : {}),
      ...state.fault.claims
    }
    const { signedBy } = state.fault
    if (signedBy === 'nobody') return new UnsecuredJWT(claims).encode()
    if (signedBy === 'the client secret')
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(CLIENT.clientSecret))
    const key = signedBy === 'another key' ? foreign.privateKey : signing.privateKey
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(key)
  }

  function userinfo({ headers }: IncomingMessage): { status: number; body: unknown } {
    const person = accessTokens.get(headers.authorization?.replace(/^Bearer /, '') ?? '')
    if (!person) return { status: 401, body: { error: 'invalid_token' } }
    return { status: 200, body: { ...person, sub: state.fault.userinfoSub ?? person.sub } }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, issuer)
    paths.push(url.pathname)
    const json = ({ status, body }: { status: number; body: unknown }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (url.pathname === state.fault.silentAt) return
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return void json({ status: 200, body: metadata() })
      case '/jwks':
        return void json({ status: 200, body: { keys: state.fault.keys ?? [jwk] } })
      case '/authorize': {
        const { status, location, body } = authorize(url.searchParams)
        return void response.writeHead(status, location ? { location } : {}).end(body)
      }
      case '/token': {
        const { tokenAnswer } = state.fault
        if (!tokenAnswer) return void json(await token(request))
        const type = tokenAnswer.type ?? 'application/json'
        return void response.writeHead(tokenAnswer.status, { 'content-type': type }).end(tokenAnswer.body)
      }
      case '/userinfo':
        return void json(userinfo(request))
      default:
        return void response.writeHead(404).end()
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  issuer = `http://127.0.0.1:${port}`

  return {
    issuer,
    port,
    state,
    /** Paths requested so far. */
    paths,
    /** Codes, verifiers and tokens issued so far, which no log may contain. */
    secrets,
    /** What a browser does at the provider. @returns where it is sent next. */
    async visit(url: string): Promise<string> {
      const response = await fetch(url, { redirect: 'manual' })
      const location = response.headers.get('location')
      if (response.status !== 302 || !location)
        throw new Error(`the provider answered ${response.status}: ${await response.text()}`)
      return location
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>

/** Accepts the secret in the body, or in the header with both parts encoded as in a form. */
function isClient({ headers }: IncomingMessage, form: URLSearchParams, methods: string[]): boolean {
  const { clientId, clientSecret } = CLIENT
  if (methods.includes('client_secret_post') && form.has('client_secret'))
    return form.get('client_id') === clientId && form.get('client_secret') === clientSecret
  const [id, secret] = Buffer.from(headers.authorization?.replace(/^Basic /, '') ?? '', 'base64')
    .toString()
    .split(':')
    .map((part) => new URLSearchParams(`part=${part}`).get('part'))
  return methods.includes('client_secret_basic') && id === clientId && secret === clientSecret
}
