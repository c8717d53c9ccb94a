// Sign-in through a provider of identities: OpenID Connect, the authorization code flow with PKCE. openid-client makes and
// checks the messages; this file adds what lies between the two requests of a browser.
//
// What a sign-in must remember until the browser comes back (state, nonce, PKCE verifier, the access code, where to go) is
// kept in no table: it goes to the browser as a cookie, sealed by the key ring. Nobody can make or change such a cookie, it
// is worth nothing after ten minutes, and the provider takes the code that belongs to it only once.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState
} from 'openid-client'
import type { Logger } from 'pino'
import type { ProvidedIdentity } from '../../db/accounts/identities.js'
import { ServiceError } from '../../domain/errors.js'
import { textProblem } from '../../domain/json/json-guard.js'
import { type KeyRing, UnopenableError } from '../keys/key-ring.js'
import { type OidcStage, providerFault } from './oidc-faults.js'

export interface OidcSettings {
  /** The provider's name for itself, such as https://accounts.example.org; its metadata is found below it. */
  issuer: string
  clientId: string
  clientSecret: string
}

/** What whoever signs in brought along. */
export interface SignInRequest {
  /** For a first sign-in; `null` when none was given. */
  accessCode: string | null
  /** A local path. */
  returnTo: string
}

export interface OidcClient {
  /**
   * @returns where to send the browser, and what it has to bring back.
   * @throws ServiceError when the provider cannot be reached, or not be used.
   */
  begin(asked: SignInRequest): Promise<{ url: URL; sealedFlow: string }>
  /**
   * @param query of the callback's URL. @param sealedFlow as `begin` gave it to this browser.
   * @throws ServiceError for whatever does not fit together, and for a provider that is away or refuses.
   */
  finish(query: URLSearchParams, sealedFlow: string | null): Promise<SignInRequest & { identity: ProvidedIdentity }>
}

/** For whoever has to look up a password first; also the life of the cookie. */
export const FLOW_SECONDS = 600
/** A browser waits for up to four answers of the provider, one after the other. */
const PROVIDER_SECONDS = 5
/** Endpoints and methods of a provider change rarely, and must not need a restart. Its keys are fetched when they are new. */
const METADATA_MS = 3_600_000
/** The most that a provider may use, by the specification. */
const SUBJECT_MAX = 255
const NAME_MAX = 100
const sealContext = ['oidc-flow']

interface Flow extends SignInRequest {
  state: string
  nonce: string
  verifier: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

/**
 * @param options.redirectUri where the provider sends browsers back to; the provider has to know it.
 * @param options.now milliseconds since 1970. @param options.providerSeconds how long each of its answers may take.
 */
export function createOidcClient(
  options: OidcSettings & {
    redirectUri: string
    keyRing: KeyRing
    log: Pick<Logger, 'warn'>
    now?: () => number
    providerSeconds?: number
  }
): OidcClient {
  const { redirectUri, keyRing, log, now = Date.now } = options
  let known: { provider: Promise<Configuration>; until: number } | null = null

  /** Asked for at the first sign-in, so that the api boots while the provider is away, and again after each failure. */
  function findProvider(): Promise<Configuration> {
    if (known && now() < known.until) return known.provider
    const provider = discover(options)
    const asked = { provider, until: now() + METADATA_MS }
    known = asked
    provider.catch(() => {
      if (known === asked) known = null
    })
    return provider
  }

  async function atProvider<T>(stage: OidcStage, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      const { fault, about } = providerFault(error, stage)
      log.warn({ stage, ...about }, 'sign-in through the provider of identities failed')
      throw fault
    }
  }

  function openFlow(sealedFlow: string | null): Flow {
    if (sealedFlow === null)
      throw startAgain('this browser brings no sign-in that was begun here, or has finished it already')
    const flow = unseal(keyRing, sealedFlow)
    if (!flow) throw startAgain('the cookie of this sign-in was not made here')
    if (now() >= flow.expiresAt) throw startAgain(`this sign-in was begun more than ${FLOW_SECONDS / 60} minutes ago`)
    return flow
  }

  return {
    async begin(asked) {
      const flow: Flow = {
        accessCode: asked.accessCode,
        returnTo: asked.returnTo,
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
        expiresAt: now() + FLOW_SECONDS * 1000
      }
      const challenge = await calculatePKCECodeChallenge(flow.verifier)
      const url = await atProvider('discovery', async () =>
        buildAuthorizationUrl(await findProvider(), {
          redirect_uri: redirectUri,
          scope: 'openid email profile',
          state: flow.state,
          nonce: flow.nonce,
          code_challenge: challenge,
          code_challenge_method: 'S256'
        })
      )
      return { url, sealedFlow: seal(keyRing, flow) }
    },

    async finish(query, sealedFlow) {
      const flow = openFlow(sealedFlow)
      if (query.get('state') !== flow.state)
        throw startAgain('state: belongs to another sign-in than the one that this browser began last')
      if (!query.has('code') && !query.has('error')) throw startAgain('code: is required')
      const provider = await atProvider('discovery', findProvider)
      const answer = new URL(redirectUri)
      answer.search = query.toString()
      const identity = await atProvider('token', () => identityFrom(provider, answer, flow))
      return { identity, accessCode: flow.accessCode, returnTo: flow.returnTo }
    }
  }
}

const startAgain = (reason: string) =>
  new ServiceError('validation_error', `${reason}; begin again at /api/auth/oidc/start`)

/** Without the second line the library takes an ID token from the provider's own endpoint without looking at its signature. */
async function discover({
  issuer,
  clientId,
  clientSecret,
  providerSeconds = PROVIDER_SECONDS
}: OidcSettings & { providerSeconds?: number }): Promise<Configuration> {
  const server = new URL(issuer)
  const execute = [enableNonRepudiationChecks]
  // Only of this machine: the configuration takes no other address without TLS.
  if (server.protocol === 'http:') execute.push(allowInsecureRequests)
  return discovery(server, clientId, { client_secret: clientSecret }, authentication(clientSecret), {
    execute,
    timeout: providerSeconds
  })
}

/** Where a provider takes both, in the body: in the header, providers disagree on how to write special characters. */
function authentication(clientSecret: string): ClientAuth {
  const inBody = ClientSecretPost(clientSecret)
  const inHeader = ClientSecretBasic(clientSecret)
  return (provider, ...rest) =>
    (provider.token_endpoint_auth_methods_supported?.includes('client_secret_post') ? inBody : inHeader)(
      provider,
      ...rest
    )
}

async function identityFrom(provider: Configuration, answer: URL, flow: Flow): Promise<ProvidedIdentity> {
  const tokens = await authorizationCodeGrant(provider, answer, {
    expectedState: flow.state,
    expectedNonce: flow.nonce,
    pkceCodeVerifier: flow.verifier,
    idTokenExpected: true
  })
  const { iss, sub, ...inToken } = tokens.claims()!
  // Many providers keep the address out of the token. Address and proof always come from the same place.
  const elsewhere = inToken.email === undefined && provider.serverMetadata().userinfo_endpoint !== undefined
  const { email, email_verified, name } = elsewhere ? await fetchUserInfo(provider, tokens.access_token, sub) : inToken
  if (sub.length > SUBJECT_MAX || textProblem(sub))
    throw new ServiceError('unauthorized', `The provider's name for you is no subject: 1 to ${SUBJECT_MAX} characters`)
  return {
    issuer: iss,
    subject: sub,
    email: typeof email === 'string' ? email : null,
    emailVerified: email_verified === true,
    displayName: typeof name === 'string' && name.trim() && !textProblem(name) ? shortened(name.trim()) : null
  }
}

/** By code points, so that no character is cut in two. */
const shortened = (name: string): string => [...name].slice(0, NAME_MAX).join('')

function seal(keyRing: KeyRing, flow: Flow): string {
  const { ringKeyId, wrappedKey, sealedValue } = keyRing.seal(JSON.stringify(flow), sealContext)
  return [ringKeyId, wrappedKey.toString('base64url'), sealedValue.toString('base64url')].join('.')
}

/** `null` for what the ring did not seal. */
function unseal(keyRing: KeyRing, sealedFlow: string): Flow | null {
  const [ringKeyId = '', wrappedKey = '', sealedValue = ''] = sealedFlow.split('.')
  try {
    const sealed = {
      ringKeyId,
      wrappedKey: Buffer.from(wrappedKey, 'base64url'),
      sealedValue: Buffer.from(sealedValue, 'base64url')
    }
    return JSON.parse(keyRing.open(sealed, sealContext)) as Flow
  } catch (error) {
    if (error instanceof UnopenableError) return null
    throw error
  }
}
