// The one catalogue of errors: code, HTTP status (`httpForKeys` where it differs for requests with an Authorization header),
// and whether the same request can succeed later. Each edge translates
// once: HTTP responses in apps/api/http/errors.ts, Temporal failures and job errors in
// activities/job/job-activities.ts.

export const errorCatalogue = {
  unauthorized: { http: 401, retryable: false },
  permission_denied: { http: 403, retryable: false },
  team_suspended: { http: 403, retryable: false },
  not_found: { http: 404, retryable: false },
  contents_removed: { http: 410, retryable: false },
  validation_error: { http: 400, retryable: false },
  not_available: { http: 400, retryable: false },
  payload_too_large: { http: 413, retryable: false },
  unsupported_media_type: { http: 415, retryable: false },
  conflict: { http: 409, retryable: false },
  slug_conflict: { http: 409, retryable: false },
  analysis_mismatch: { http: 409, retryable: false },
  storage_limit_exceeded: { http: 409, retryable: false },
  idempotency_conflict: { http: 409, retryable: false },
  request_under_way: { http: 503, retryable: true },
  service_busy: { http: 503, retryable: true },
  database_unavailable: { http: 503, retryable: true },
  content_store_unavailable: { http: 503, retryable: true },
  storage_full: { http: 503, retryable: true },
  budget_exceeded: { http: 402, retryable: false },
  spend_limit_exceeded: { http: 402, retryable: false },
  backend_unknown: { http: 400, httpForKeys: 422, retryable: false },
  backend_retired: { http: 400, httpForKeys: 422, retryable: false },
  backend_unavailable: { http: 400, httpForKeys: 422, retryable: true },
  provider_refused: { http: 502, retryable: false },
  provider_failed: { http: 502, retryable: true },
  provider_unreachable: { http: 502, retryable: true },
  provider_outcome_unknown: { http: 502, retryable: false },
  price_changed: { http: 409, retryable: false },
  language_not_detected: { http: 422, retryable: false },
  execution_error: { http: 422, retryable: false },
  unsupported_operation: { http: 422, retryable: false },
  rate_limited: { http: 429, retryable: true },
  worker_unreachable: { http: 502, retryable: true },
  worker_not_configured: { http: 503, retryable: false },
  execution_service_lost: { http: 502, retryable: true },
  executor_shut_down: { http: 502, retryable: true },
  worker_lost: { http: 502, retryable: true },
  dispatch_failed: { http: 503, retryable: true },
  internal_error: { http: 500, retryable: true }
} as const satisfies Record<string, { http: number; httpForKeys?: number; retryable: boolean }>

export type ErrorCode = keyof typeof errorCatalogue

export const errorCodes = Object.keys(errorCatalogue) as ErrorCode[]

/** @param withKey whether the request has an Authorization header. */
export function httpStatusOf(code: ErrorCode, withKey: boolean): number {
  const { http, httpForKeys = http }: { http: number; httpForKeys?: number } = errorCatalogue[code]
  return withKey ? httpForKeys : http
}

export const isErrorCode = (text: unknown): text is ErrorCode =>
  typeof text === 'string' && Object.hasOwn(errorCatalogue, text)

/**
 * A fault that is reported to the caller. `message` is public. `fields` are added to the body of the response, except
 * `retryAfterSeconds`, which becomes the Retry-After header. `cause` appears only in the log. Check the `code`, never
 * the class: classes differ between realms and packages.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly fields: Record<string, unknown> = {},
    options?: { cause?: unknown }
  ) {
    super(message, options)
  }
}

/** @param message says which field, what is wrong with it and what it must be: `shots: must be at least 1 (got 0)`. */
export const validationError = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('validation_error', message, {}, cause === undefined ? undefined : { cause })

/** The error that the record of a failed job shows. */
export interface JobError {
  code: ErrorCode
  message: string
}

/** The code of any thrown value, including one that crossed a realm or was rebuilt from JSON. */
export function codeOf(error: unknown): ErrorCode | null {
  const code = (error as { code?: unknown } | null)?.code
  return isErrorCode(code) ? code : null
}

export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}
