// Repeated writes: what identifies a request with an Idempotency-Key, and what it gets when its key was used before. access.ts
// reads the header before any limit is taken; write-once.ts stores the responses.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Db } from '../../../db/client.js'
import { findStoredResponse, type IdempotentWrite, type StoredResponse } from '../../../db/service/idempotency-keys.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import type { Access } from './access-table.js'
import { text, uuid } from './response.js'

const KEY_MAX = 255
/** The largest response that is stored for repetitions. Larger ones contain what a GET returns as well. */
export const KEPT_BYTES_MAX = 64 * 1024

/** A request with a key. */
export interface IdempotentRequest extends Omit<IdempotentWrite, 'bodySha256'> {
  userId: string
  /** Principal and key together. */
  id: string
  /** The digest of the body's bytes; the parser that reads them sets it, and `null` until then. */
  bodySha256: string | null
  /** The response that was stored under the key when the request came in. */
  kept: StoredResponse | null
  /** Whether the request still has to take a slot of its route's limit. A repeated request never takes one. */
  slotDue: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** `null` without an Idempotency-Key, and on routes that ignore it. */
    keyed: IdempotentRequest | null
  }
}

/**
 * Writes that ignore the key: they have no lasting effect, or the caller cannot repeat them, or the body holds a password,
 * whose hash must not be stored.
 */
export const writesWithoutIdempotencyKey: ReadonlySet<string> = new Set([
  'POST /api/auth/validate-code',
  'POST /api/auth/sign-up',
  'POST /api/auth/sign-in',
  'POST /api/auth/sign-out',
  'POST /api/auth/forgot-password',
  'POST /api/auth/reset-password',
  'POST /api/auth/change-password',
  'DELETE /api/profile',
  'POST /api/team/secrets/test',
  'POST /api/jobs/compare',
  'POST /api/jobs/estimate',
  'POST /api/jobs/destinations',
  'POST /api/playground/run',
  'POST /api/playground/convert',
  'POST /api/playground/telemetry'
])

/** Whether a route, by its line in the access table, honours the header. */
export const honoursKey = (line: string, { who }: Access): boolean =>
  who !== 'public' && !/^(GET|HEAD|OPTIONS) /.test(line) && !writesWithoutIdempotencyKey.has(line)

/**
 * Reads the header of an authenticated request, and the response that is stored under its key.
 * @throws ServiceError `validation_error`.
 */
export async function readKey(db: Db, request: FastifyRequest, access: Access): Promise<IdempotentRequest | null> {
  const key = request.headers['idempotency-key']
  if (key === undefined || !request.actor) return null
  if (!honoursKey(`${request.method} ${request.routeOptions.url}`, access)) return null
  if (typeof key !== 'string' || key === '' || key.length > KEY_MAX)
    throw validationError(
      `Idempotency-Key: must have 1 to ${KEY_MAX} characters (got ${key.length}); leave the header out to send a request that is never repeated`
    )
  const { user, key: apiKey } = request.actor
  const write = {
    principal: apiKey ? `key:${apiKey.id}` : `user:${user.id}`,
    key,
    method: request.method,
    path: request.url
  }
  const kept = await findStoredResponse(db, write, user.id)
  const id = JSON.stringify([write.principal, write.key])
  return { ...write, userId: user.id, id, bodySha256: null, kept, slotDue: kept !== null }
}

export const digestOf = (body: Buffer | string): string => createHash('sha256').update(body).digest('hex')

/** Whether the request has a body that has not been read yet. */
export const isBodyAhead = ({ headers }: FastifyRequest, { bodySha256 }: IdempotentRequest): boolean =>
  bodySha256 === null && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)

/**
 * The write of a request whose body has been read.
 * @throws Error when the parser of the body set no digest: any two bodies would count as the same.
 */
export function keyedWrite(request: FastifyRequest, keyed: IdempotentRequest): IdempotentWrite {
  if (isBodyAhead(request, keyed))
    throw new Error(`the parser of ${request.method} ${request.routeOptions.url} set no digest of the body`)
  const { principal, key, method, path, bodySha256 } = keyed
  return { principal, key, method, path, bodySha256: bodySha256 ?? digestOf('') }
}

/** @throws ServiceError `idempotency_conflict` for another write than the first, `not_found` when its team was left. */
export function assertSameWrite(write: IdempotentWrite, kept: StoredResponse): void {
  if (kept.teamLeft)
    throw new ServiceError(
      'not_found',
      'Idempotency-Key: the response stored under this key is about a team that you no longer belong to'
    )
  const differs =
    kept.method !== write.method || kept.path !== write.path
      ? `for ${kept.method} ${kept.path}`
      : kept.bodySha256 !== write.bodySha256
        ? 'with another body'
        : null
  if (differs)
    throw new ServiceError(
      'idempotency_conflict',
      `Idempotency-Key: this key was used before ${differs}; a new request needs a new key`
    )
}

export interface TextResponse {
  status: number
  /** JSON text, or ''. */
  body: string
}

export const ShownOnce = Type.Object(
  { id: uuid, key: Type.Optional(Type.Null()), secret: Type.Optional(Type.Null()), message: text },
  { $id: 'ShownOnce' }
)

/** Builds the response to a repeated request when the first response showed a secret in its field `field`. */
export const shownOnce = (id: string, field: 'key' | 'secret'): Static<typeof ShownOnce> => ({
  id,
  [field]: null,
  message: `The ${field} was shown once, in the first response. If that was lost, delete this one and create another.`
})

/**
 * What is stored for repetitions of a write: its response, or for one above `KEPT_BYTES_MAX` a notice with its ids.
 * @param body JSON text.
 */
export function keptBody(body: string): string {
  if (Buffer.byteLength(body) <= KEPT_BYTES_MAX) return body
  const ids = Object.entries(JSON.parse(body) as object).filter(
    ([name, value]) => /^(.+_)?id$/.test(name) && typeof value === 'string'
  )
  return JSON.stringify({
    ...Object.fromEntries(ids),
    message: `This request was carried out before. Its response is larger than ${KEPT_BYTES_MAX / 1024} KiB and was not kept; GET returns the current state.`
  })
}

/** Sends the bytes of the first response. */
export const replay = (reply: FastifyReply, kept: StoredResponse): FastifyReply =>
  sendText(reply.header('idempotency-replayed', 'true'), kept)

export function sendText(reply: FastifyReply, { status, body }: TextResponse): FastifyReply {
  reply.code(status)
  return body === '' ? reply.send() : reply.type('application/json; charset=utf-8').send(body)
}

/**
 * The response to a request whose key belongs to one that has been in progress for too long. A repetition will find the stored
 * response.
 */
export const underWay = (): ServiceError =>
  new ServiceError(
    'request_under_way',
    'Idempotency-Key: the first request with this key is still in progress; send this one again in a second, with the same key',
    { retryAfterSeconds: 1 }
  )
