// Responses with errors, in IonQ's form.
import type { FastifyReply } from 'fastify'
import type { Refusal } from './job-schema.js'

export function ionqError(status: number, message: string): Record<string, unknown> {
  const names: Record<number, string> = {
    400: 'Bad Request',
    401: 'Unauthorized Error',
    404: 'Not Found Error',
    409: 'Conflict',
    413: 'Request Entity Too Large',
    429: 'Too Many Requests',
    500: 'Internal Server Error',
    502: 'Bad Gateway',
    503: 'Service Unavailable'
  }
  return { statusCode: status, error: names[status] ?? 'Error', message }
}

export const fail = (reply: FastifyReply, status: number, message: string): FastifyReply =>
  reply.code(status).send(ionqError(status, message))

export const invalid = (reply: FastifyReply, { message, keys }: Refusal, source: 'payload' | 'query'): FastifyReply =>
  reply.code(400).send({ ...ionqError(400, message), validation: { keys, source } })

/** Replaces every `status` next to an `id` by a word that no client knows. */
export const withUnknownStatus = (payload: string): string =>
  JSON.stringify(
    JSON.parse(payload, (_key, value) =>
      value !== null && typeof value === 'object' && 'id' in value && 'status' in value
        ? { ...value, status: 'recalibrating' }
        : value
    )
  )
