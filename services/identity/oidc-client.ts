// Sign-in through an identity provider: OpenID Connect, the authorization code flow with PKCE. openid-client makes and checks
// the messages; this file adds the state between the two requests of a browser.
//
// The state of a sign-in until the browser returns (state, nonce, PKCE verifier, access code, destination) is stored in no
// table: the browser keeps it as a cookie, sealed by the key ring. Such a cookie cannot be forged or changed, expires after ten
// minutes, and the provider accepts its code only once.
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
  /** The provider's issuer identifier, such as https://accounts.example.org; its metadata is found below it. */
  issuer: string
  clientId: string
  clientSecret: string
}

/** The parameters that a sign-in began with. */
export interface SignInRequest {
  /** Used at a first sign-in; `null` when none was given. */
  accessCode: string | null
  /** A local path. */
  returnTo: string
}

export interface OidcClient {
  /**
   * @returns the address for the browser, and the cookie that the browser has to send back.
   * @throws ServiceError when the provider cannot be reached or used.
   */
  begin(asked: SignInRequest): Promise<{ url: URL; sealedFlow: string }>
  /**
   * @param query of the callback's URL. @param sealedFlow the cookie that `begin` returned for this browser.
   * @throws ServiceError when the parts do not match, or the provider is unavailable or refuses.
   */
  finish(query: URLSearchParams, sealedFlow: string | null): Promise<SignInRequest & { identity: ProvidedIdentity }>
}

/** Long enough to look up a password; also the lifetime of the cookie. */
export const FLOW_SECONDS = 600
/** Limit for each response of the provider; a browser waits for up to four in a row. */
const PROVIDER_SECONDS = 5
/**
 * A provider's endpoints and methods change rarely, and a change must not need a restart. New keys are fetched when needed.
 */
const METADATA_MS = 3_600_000
/** The limit in the specification. */
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
 * @param options.redirectUri where the provider sends browsers back to; it has to be registered there.
 * @param options.now milliseconds since 1970. @param options.providerSeconds limit for each response of the provider.
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

  /** Fetched at the first sign-in, so that the api starts while the provider is unavailable, and again after each failure. */
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
      log.warn({ stage, ...about }, 'sign-in through the identity provider failed')
      throw fault
    }
  }

  function openFlow(sealedFlow: string | null): Flow {
    if (sealedFlow === null) throw startAgain('this browser has no sign-in in progress here')
    const flow = unseal(keyRing, sealedFlow)
    if (!flow) throw startAgain('the cookie of this sign-in was not made here')
    if (now() >= flow.expiresAt) throw startAgain(`this sign-in was started more than ${FLOW_SECONDS / 60} minutes ago`)
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

/** `enableNonRepudiationChecks` makes the library verify the signature of ID tokens from the provider's own endpoint too. */
async function discover({
  issuer,
  clientId,
  clientSecret,
  providerSeconds = PROVIDER_SECONDS
}: OidcSettings & { providerSeconds?: number }): Promise<Configuration> {
  const server = new URL(issuer)
  const execute = [enableNonRepudiationChecks]
  // Only for this machine: the configuration accepts no other address without TLS.
  if (server.protocol === 'http:') execute.push(allowInsecureRequests)
  return discovery(server, clientId, { client_secret: clientSecret }, authentication(clientSecret), {
    execute,
    timeout: providerSeconds
  })
}

/** In the body if the provider accepts that: providers disagree on the encoding of special characters in the header. */
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
  // Many providers leave the email address out of the token. Address and proof always come from the same place.
  const elsewhere = inToken.email === undefined && provider.serverMetadata().userinfo_endpoint !== undefined
  const { email, email_verified, name } = elsewhere ? await fetchUserInfo(provider, tokens.access_token, sub) : inToken
  if (sub.length > SUBJECT_MAX || textProblem(sub))
    throw new ServiceError('unauthorized', `The provider's subject for you must have 1 to ${SUBJECT_MAX} characters`)
  return {
    issuer: iss,
    subject: sub,
    email: typeof email === 'string' ? email : null,
    emailVerified: email_verified === true,
    displayName: typeof name === 'string' && name.trim() && !textProblem(name) ? shortened(name.trim()) : null
  }
}

/** Cuts by code points, so that no character is split. */
const shortened = (name: string): string => [...name].slice(0, NAME_MAX).join('')

function seal(keyRing: KeyRing, flow: Flow): string {
  const { ringKeyId, wrappedKey, sealedValue } = keyRing.seal(JSON.stringify(flow), sealContext)
  return [ringKeyId, wrappedKey.toString('base64url'), sealedValue.toString('base64url')].join('.')
}

/** `null` when the ring did not seal the value. */
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
