// What went wrong at a provider of identities, as an answer to whoever signs in and as a line for the log. Errors of the
// library carry answers of the provider, tokens among them: neither the answer nor the log takes more than codes from them.
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError
} from 'openid-client'
import { type ErrorCode, ServiceError } from '../../domain/errors.js'

export type OidcStage = 'discovery' | 'token'

export interface ProviderFault {
  fault: ServiceError
  /** What the log may say. */
  about: { reason: string; providerError?: string }
}

/** @throws the error itself when it comes from no provider. */
export function providerFault(error: unknown, stage: OidcStage): ProviderFault {
  if (error instanceof ServiceError) return { fault: error, about: { reason: error.code } }
  if (error instanceof AuthorizationResponseError) return answerFault(error)
  if (error instanceof ResponseBodyError) return refusalFault(error.error, error.code)
  if (error instanceof WWWAuthenticateChallengeError)
    return refusalFault(error.cause[0]?.parameters.error ?? 'invalid_client', error.code)
  const reason = codeOfFailure(error)
  if (reason === null) throw error
  if (isAway(reason))
    return {
      fault: faultOf('worker_unreachable', 'cannot be reached or is out of order; try again later'),
      about: { reason }
    }
  if (stage === 'discovery')
    return {
      fault: faultOf(
        'worker_not_configured',
        `describes itself in a way that cannot be used (${reason}); whoever runs this service has to check OIDC_ISSUER`
      ),
      about: { reason }
    }
  return {
    fault: faultOf('unauthorized', `gave an answer that cannot be trusted (${reason}); nobody was signed in`),
    about: { reason }
  }
}

const faultOf = (code: ErrorCode, what: string) => new ServiceError(code, `The provider of identities ${what}`)

/** The browser came back with an error instead of a code. */
function answerFault({ error, code }: AuthorizationResponseError): ProviderFault {
  const providerError = shown(error)
  const later = error === 'temporarily_unavailable' || error === 'server_error'
  return {
    fault: later
      ? faultOf('worker_unreachable', `cannot sign anybody in now (${providerError}); try again later`)
      : faultOf('permission_denied', `did not sign you in (${providerError}); begin again at /api/auth/oidc/start`),
    about: { reason: code, providerError }
  }
}

/** The provider refused to give tokens. */
function refusalFault(error: string, reason: string): ProviderFault {
  const about = { reason, providerError: shown(error) }
  if (error === 'invalid_grant')
    return {
      fault: new ServiceError(
        'validation_error',
        'code: was used already, has expired or is not of this sign-in; begin again at /api/auth/oidc/start'
      ),
      about
    }
  return {
    fault: faultOf(
      'worker_not_configured',
      `refuses this service (${about.providerError}); whoever runs it has to check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET`
    ),
    about
  }
}

/** Codes of the specifications look like this; anything else is somebody's text. */
const shown = (error: string): string => (/^[a-z_]{1,40}$/.test(error) ? error : 'an unknown error')

/** `null` for what is no failure of the library's or of the network's. */
function codeOfFailure(error: unknown): string | null {
  const { code, cause, message } = (error ?? {}) as { code?: unknown; cause?: unknown; message?: unknown }
  // fetch() rejects with this, whatever happened to the connection.
  if (message === 'fetch failed') return networkCode(cause)
  if (typeof code === 'string' && code.startsWith('OAUTH_')) return code
  return error instanceof ClientError ? (codeOfFailure(cause) ?? 'OAUTH_FAILED') : null
}

/** Such as ECONNREFUSED, ENOTFOUND or CERT_HAS_EXPIRED. */
function networkCode(cause: unknown): string {
  const { code } = (cause ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : 'FETCH_FAILED'
}

const awayCodes = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  // Another status than the specification has, or a page instead of JSON: a proxy answered, or the provider is ill.
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON'
]
const isAway = (reason: string): boolean => !reason.startsWith('OAUTH_') || awayCodes.includes(reason)
