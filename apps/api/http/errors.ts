// The one place where errors become HTTP responses. There are two bodies from one catalogue: `{ error: "text" }` for sessions,
// `{ error: { code, message, status } }` for requests that carry an Authorization header. Internal details are never shown.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isDatabaseAway } from '../../../db/database-away.js'
import { codeOf, type ErrorCode, httpStatusOf, ServiceError } from '../../../domain/errors.js'
import type { DiskSpace } from '../../../services/disk/disk-space.js'
import type { Fault } from './validation/validation-faults.js'
import { validationMessages } from './validation/validation-message.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request was refused, once its response is written; `cause` is never shown. */
    fault: { code: ErrorCode; cause: unknown } | null
  }
}

export default fp(
  async (app: FastifyInstance, { disk }: { disk: DiskSpace }) => {
    app.decorateRequest('fault', null)
    app.setErrorHandler((error, request, reply) => sendFault(outageOf(error, disk) ?? error, request, reply))
  },
  { name: 'errors' }
)

/** What stops every request of its kind, whatever it asks for; `null` for other errors. */
function outageOf(error: unknown, disk: DiskSpace): ServiceError | null {
  if (codeOf(error) !== null) return null
  if (disk.causes(error)) return storageFull(error)
  return isDatabaseAway(error) ? databaseUnavailable(error) : null
}

const STORAGE_FULL_SECONDS = 30
/** A restart, or the failover of a managed database, takes longer; a lost connection does not. */
const DATABASE_UNAVAILABLE_SECONDS = 5

const databaseUnavailable = (cause: unknown): ServiceError =>
  new ServiceError(
    'database_unavailable',
    'The database of this service does not respond; whether a write was stored is not known. Try again in a few seconds',
    { retryAfterSeconds: DATABASE_UNAVAILABLE_SECONDS },
    { cause }
  )

const storageFull = (cause: unknown): ServiceError =>
  new ServiceError(
    'storage_full',
    'The disk of this service is full, and nothing was stored; try again when its operator has made space',
    { retryAfterSeconds: STORAGE_FULL_SECONDS },
    { cause }
  )

/** Responds to a request that no route takes. */
export const sendNoRoute = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  sendError(request, reply, {
    code: 'not_found',
    message: `no route ${request.method} ${request.url.split('?')[0]}`
  })

/** Responds to whatever was thrown. */
export function sendFault(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = translate(error)
  request.fault = { code: known.code, cause: (error as { cause?: unknown } | null)?.cause }
  if (known.code === 'database_unavailable') request.log.warn({ err: error }, 'the database does not respond')
  if (known.code === 'internal_error') request.log.error({ err: error }, 'request failed with an internal error')
  return sendError(request, reply, known)
}

interface KnownError {
  code: ErrorCode
  message: string
  fields?: Record<string, unknown>
}

function sendError(request: FastifyRequest, reply: FastifyReply, error: KnownError): FastifyReply {
  const { code, message, fields = {} } = error
  const structured = request.headers.authorization !== undefined
  const status = httpStatusOf(code, structured)
  const { code: sessionCode, retryAfterSeconds, ...figures } = fields
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  if (status === 401) reply.header('www-authenticate', signInHint(structured))
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .header('x-error-code', code)
    .send(
      structured
        ? { error: { code, message, status, ...figures } }
        : { error: message, ...figures, ...(sessionCode === undefined ? {} : { code: sessionCode }) }
    )
}

/** The body of a 401 is fixed by the specification; the header has what is missing and how to sign in (RFC 6750). */
const signInHint = (structured: boolean): string =>
  [
    'Bearer realm="quantum-job-service"',
    ...(structured ? ['error="invalid_token"'] : []),
    `error_description="Sign in with POST /api/auth/sign-in or 'qjob login', or send an API key: Authorization: Bearer KEY"`
  ].join(', ')

function translate(error: unknown): KnownError {
  const code = codeOf(error)
  if (code) {
    const { message, fields } = error as { message: string; fields?: Record<string, unknown> }
    return { code, message, ...(fields ? { fields } : {}) }
  }
  const fault = error as {
    code?: string
    statusCode?: number
    validation?: Fault[]
    validationContext?: string
    message?: string
  }
  if (fault.validation?.[0])
    return {
      code: 'validation_error',
      message: validationMessages(fault.validation, fault.validationContext ?? 'body')
    }
  const byStatus = fastifyErrors[fault.code ?? '']
  if (byStatus) return byStatus
  if (fault.statusCode && fault.statusCode >= 400 && fault.statusCode < 500)
    return { code: 'validation_error', message: fault.message ?? 'bad request' }
  return {
    code: 'internal_error',
    message: 'Internal server error; the X-Request-Id of this answer leads to its log entry'
  }
}

const fastifyErrors: Record<string, KnownError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'payload_too_large', message: 'body: is larger than this route takes' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    message: 'Content-Type: must be application/json'
  },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'validation_error', message: 'body: is empty; send a JSON object' },
  FST_ERR_BAD_URL: { code: 'validation_error', message: 'url: holds a % that begins no character' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'validation_error', message: 'url: a part of the path is too long' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { code: 'validation_error', message: 'Content-Length: does not match the body' }
}
