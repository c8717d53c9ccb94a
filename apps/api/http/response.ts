// The responses of a route, as values of its `schema.response`. They document the response, type the handler, and are what
// tests check responses against. They never serialise one (app.ts), so a response is sent as the handler wrote it. Objects stay
// open in the document, so that a later version may add fields; the tests close them.
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifySchema } from 'fastify'
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox'
import type { ErrorCode } from '../../../domain/errors.js'

declare module 'fastify' {
  interface FastifySchema {
    /** Codes of refusals beyond those that follow from the access table and from the request (error-responses.ts). */
    errors?: readonly ErrorCode[]
  }
}

export const responseHeaders = {
  'X-Request-Id': { required: true, description: 'Leads to the log entry of the request', schema: { type: 'string' } },
  'X-Api-Version': { required: true, description: 'Version of this interface', schema: { type: 'string' } },
  'X-Error-Code': { required: true, description: 'The code of the refusal', schema: { type: 'string' } },
  'Retry-After': {
    required: true,
    description: 'Seconds to wait',
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' }
  },
  'WWW-Authenticate': { required: true, description: 'How to sign in', schema: { type: 'string' } },
  ETag: { required: true, description: 'For If-None-Match', schema: { type: 'string' } },
  'Set-Cookie': { required: true, description: 'The session', schema: { type: 'string' } },
  Location: { required: true, description: 'The next address', schema: { type: 'string' } }
} as const
export type ResponseHeader = keyof typeof responseHeaders

/** One response of a route, in the shape that Fastify types replies by. */
export type ResponseOf<Content> = {
  description: string
  /** Beyond the two headers of every response. */
  responseHeaders: readonly ResponseHeader[]
  content: Content
}
export type JsonContent<Body extends TSchema> = { 'application/json': { schema: Body } }
type OtherMediaType = '*/*' | 'text/plain' | 'text/csv' | 'text/event-stream'

/** @param body a schema with an `$id` is shown once in the document, under that name. */
export const json = <Body extends TSchema>(
  description: string,
  body: Body,
  headers: readonly ResponseHeader[] = []
): ResponseOf<JsonContent<Body>> => ({
  description,
  responseHeaders: headers,
  content: { 'application/json': { schema: body } }
})

/** A response without a body. */
// biome-ignore lint/complexity/noBannedTypes: Fastify reads an empty object as no content.
export const empty = (description: string, headers: readonly ResponseHeader[] = []): ResponseOf<{}> => ({
  description,
  responseHeaders: headers,
  content: {}
})

/** A body that is not JSON. */
export const media = <MediaType extends OtherMediaType>(
  description: string,
  mediaType: MediaType,
  headers: readonly ResponseHeader[] = []
) => ({
  description,
  responseHeaders: headers,
  content: { [mediaType]: { schema: AnyMedia } } as Record<MediaType, { schema: TUnsafe<Bytes> }>
})

/** JSON, or another media type for callers who ask for that. */
export const jsonOr = <Body extends TSchema, MediaType extends OtherMediaType>(
  description: string,
  body: Body,
  mediaType: MediaType
) => {
  const response = json(description, body)
  return { ...response, content: { ...response.content, ...media('', mediaType).content } }
}

type Bytes = string | Uint8Array | Readable
/** The document shows the media type alone. */
const AnyMedia = Type.Unsafe<Bytes>({})

export const nullable = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

export const uuid = Type.String({ format: 'uuid' })
export const text = Type.String()
export const time = Type.String({ format: 'date-time' })
export const count = Type.Integer({ minimum: 0 })
export const usd = Type.Number({ description: 'USD' })
export const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
export const anything = Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true }))

/** The end of a page (domain/json/page.ts). */
export const pageEnd = {
  total: count,
  total_capped: Type.Optional(Type.Literal(true, { description: 'There are more than `total`' })),
  limit: Type.Integer({ minimum: 1 }),
  offset: count
}

/** The end of a page of a list that can be long. */
export const longPageEnd = {
  ...pageEnd,
  total_estimate: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'About how many there are, by the statistics of the database, where `total` is capped'
    })
  )
}

const Done = Type.Object({ success: Type.Literal(true) }, { $id: 'Done' })
export const done = json('It is done', Done)
export const success: Static<typeof Done> = { success: true }
export const accepted = (description: string) => json(description, Done)

type ResponsesOf<Schema> = Schema extends { response: infer Responses } ? Responses : never
type JsonBody<Response> = Response extends ResponseOf<JsonContent<infer Body>> ? Static<Body> : never

/** The body of any JSON response of a route. */
export type BodyOf<Schema> = JsonBody<ResponsesOf<Schema>[keyof ResponsesOf<Schema>]>

declare const written: unique symbol
/** JSON text of a body. Results of jobs are spliced into it as they are stored, and are never parsed. */
export type JsonText<Body> = string & { readonly [written]: Body }

export const jsonText = <Body>(body: Body): JsonText<Body> => JSON.stringify(body) as JsonText<Body>

/** The response of a write: a status of its route's schema with the body of that status, as a value or as JSON text. */
export type WriteResponse<Schema> = {
  [Status in keyof ResponsesOf<Schema>]: WriteResponseOf<Status, JsonBody<ResponsesOf<Schema>[Status]>>
}[keyof ResponsesOf<Schema>]

type WriteResponseOf<Status, Body> = (Status extends 200 ? { status?: Status } : { status: Status }) &
  ([Body] extends [never]
    ? { body?: undefined; kept?: undefined }
    : {
        body: Body | JsonText<Body>
        /** The response to a repeated request, where `body` shows a secret once. */
        kept?: Body
      })

/** The reply that a handler gets, typed by the schema of its route. */
export interface RouteReply<Schema> {
  readonly routeOptions: { readonly schema?: Schema }
}

/** Sends JSON text unchanged; an object would be serialised a second time. */
export const sendJson = <const Schema extends FastifySchema>(
  reply: RouteReply<Schema>,
  body: JsonText<BodyOf<Schema>>
): Sent => sent((reply as FastifyReply).type('application/json; charset=utf-8').send(body))

/**
 * A handler returns this after it has sent its response itself. It is the reply, for which Fastify waits; the type says that
 * there is no body to check.
 */
export type Sent = undefined
export const sent = (reply: unknown): Sent => reply as Sent
