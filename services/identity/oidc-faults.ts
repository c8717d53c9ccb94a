// Turns a failure at an identity provider into a response for the user and a line for the log. Errors of the library contain
// responses of the provider, tokens included, so only their codes are used.
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
  /** Safe for the log. */
  about: { reason: string; providerError?: string }
}

/** @throws the error itself when it does not come from a provider. */
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
        `describes itself in a way that cannot be used (${reason}); the operator of this service has to check OIDC_ISSUER`
      ),
      about: { reason }
    }
  return {
    fault: faultOf('unauthorized', `gave a response that cannot be trusted (${reason}); you are not signed in`),
    about: { reason }
  }
}

const faultOf = (code: ErrorCode, what: string) => new ServiceError(code, `The identity provider ${what}`)

/** The browser came back with an error instead of a code. */
function answerFault({ error, code }: AuthorizationResponseError): ProviderFault {
  const providerError = shown(error)
  const later = error === 'temporarily_unavailable' || error === 'server_error'
  return {
    fault: later
      ? faultOf('worker_unreachable', `cannot sign users in now (${providerError}); try again later`)
      : faultOf('permission_denied', `did not sign you in (${providerError}); begin again at /api/auth/oidc/start`),
    about: { reason: code, providerError }
  }
}

/** The provider refused to issue tokens. */
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
      `refuses this service (${about.providerError}); its operator has to check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET`
    ),
    about
  }
}

/** The codes of the specifications have this form; any other text is not shown. */
const shown = (error: string): string => (/^[a-z_]{1,40}$/.test(error) ? error : 'an unknown error')

/** `null` when neither the library nor the network has failed. */
function codeOfFailure(error: unknown): string | null {
  const { code, cause, message } = (error ?? {}) as { code?: unknown; cause?: unknown; message?: unknown }
  // fetch() rejects with this message for every failure of the connection.
  if (message === 'fetch failed') return networkCode(cause)
  if (typeof code === 'string' && code.startsWith('OAUTH_')) return code
  return error instanceof ClientError ? (codeOfFailure(cause) ?? 'OAUTH_FAILED') : null
}

/** An error code such as ECONNREFUSED, ENOTFOUND or CERT_HAS_EXPIRED. */
function networkCode(cause: unknown): string {
  const { code } = (cause ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : 'FETCH_FAILED'
}

const awayCodes = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  // An unexpected status, or a page instead of JSON: a proxy responded, or the provider is broken.
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON'
]
const isAway = (reason: string): boolean => !reason.startsWith('OAUTH_') || awayCodes.includes(reason)
