// What the descriptions of answers are made of. They are for the document alone (openapi.ts): no answer is serialised by
// them. Objects stay open in the document, so that a later version may add fields; the tests close them.
import { type TSchema, Type } from 'typebox'
import type { ErrorCode } from '../../../domain/errors.js'

export type MediaType = '*/*' | 'text/plain' | 'text/csv' | 'text/event-stream'

export interface SuccessResponse {
  description: string
  /** The schema of a JSON body, or the media type of another one. Absent: there is no body. */
  body?: TSchema | MediaType
  /** The media type in which the same comes when it is asked for. */
  also?: MediaType
  /** Names of `headers` that come along. */
  headers?: readonly ResponseHeader[]
}

/** What a route answers beyond what follows from the access table and from its request. */
export interface RouteResponses {
  /** By status. */
  success: Readonly<Record<number, SuccessResponse>>
  errors?: readonly ErrorCode[]
}

/** Answers by the route's line in the access table, and the schemas that they name. */
export interface ResponseSet {
  answers: Readonly<Record<string, RouteResponses>>
  schemas: Readonly<Record<string, TSchema>>
}

export const responseHeaders = {
  'X-Request-Id': { required: true, description: 'Leads to the log entry of the request', schema: { type: 'string' } },
  'X-Api-Version': { required: true, description: 'Version of this interface', schema: { type: 'string' } },
  'Retry-After': {
    required: true,
    description: 'Seconds to wait',
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' }
  },
  ETag: { required: true, description: 'For If-None-Match', schema: { type: 'string' } },
  'Set-Cookie': { required: true, description: 'The session', schema: { type: 'string' } },
  Location: { required: true, description: 'Where to go on', schema: { type: 'string' } }
} as const
export type ResponseHeader = keyof typeof responseHeaders

export const ok = (description: string, body: TSchema): Record<200, SuccessResponse> => ({ 200: { description, body } })
export const created = (description: string, body: TSchema): Record<201, SuccessResponse> => ({
  201: { description, body }
})

/** A schema of the document by its name. */
export const ref = (name: string) => Type.Unsafe<unknown>({ $ref: `#/components/schemas/${name}` })
export const nullable = (schema: TSchema) => Type.Union([schema, Type.Null()])
export const oneOf = (values: readonly string[]) => Type.Unsafe<string>({ type: 'string', enum: [...values] })

export const uuid = Type.String({ format: 'uuid' })
export const text = Type.String()
export const time = Type.String({ format: 'date-time' })
export const count = Type.Integer({ minimum: 0 })
export const usd = Type.Number({ description: 'USD' })
export const anything = Type.Object({}, { additionalProperties: true })

/** A list under its name. */
export const listOf = (name: string, item: string) => Type.Object({ [name]: Type.Array(ref(item)) })

/** A page of a list (domain/json/page.ts). */
export const pageOf = (name: string, item: string, more: Record<string, TSchema> = {}) =>
  Type.Object({
    [name]: Type.Array(ref(item)),
    total: count,
    total_capped: Type.Optional(Type.Literal(true, { description: 'There are more than `total`' })),
    limit: Type.Integer({ minimum: 1 }),
    offset: count,
    ...more
  })

export const done = ok('It is done', ref('Done'))
