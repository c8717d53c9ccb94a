// The OpenAPI document. Requests and successful responses come from the schemas of the routes; errors and security follow
// from the access table and the error catalogue.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifySchema, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { errorGuide } from '../../../domain/error-guide.js'
import { type ErrorCode, httpStatusOf } from '../../../domain/errors.js'
import { type Access, accessTable } from '../http/access-table.js'
import { BudgetErrorBody, codesOf, ErrorBody } from '../http/error-responses.js'
import { honoursKey } from '../http/idempotency.js'
import { type ResponseHeader, type ResponseOf, responseHeaders } from '../http/response.js'
import { sessionCookieName } from '../http/session.js'
import { SERVICE_VERSION } from '../version.js'
import { NamedSchemas, pascal } from './named-schemas.js'
import { operationIdOf } from './operation-ids.js'
import { nativeExample, requestExamples } from './request-examples.js'
import { exampleOf, responseExamples } from './response-examples.js'

interface Operation {
  operationId: string
  parameters?: { name: string; required?: boolean; schema?: { default?: unknown; [keyword: string]: unknown } }[]
  requestBody?: { required?: boolean; content: Record<string, { schema?: unknown }> }
  responses: Record<string, object>
  security?: object[]
}

interface BodySchema {
  properties?: object
  // A body of one of two kinds has its fields in these (http/validation/either-body.ts).
  then?: BodySchema
  else?: BodySchema
  anyOf?: { type?: string }[]
}

interface Document {
  components: Record<string, object>
  paths: Record<string, Record<string, Operation>>
}

/** What the schema of a route declares beyond its parameters. */
interface RouteSchema {
  body?: BodySchema
  response: Readonly<Record<string, ResponseOf<Record<string, { schema: TSchema }>>>>
  errors: readonly ErrorCode[]
}

/** @param secure whether the session's cookie is bound to https. */
export function openapiOptions({ secure }: { secure: boolean }): FastifyDynamicSwaggerOptions {
  /** Derived from the route's line in the access table. */
  const routes = new Map<string, RouteSchema>()
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Quantum Job Service',
        version: SERVICE_VERSION,
        description:
          'Submit quantum circuits as durable, budgeted jobs. Errors are { "error": "message" } for sessions and { "error": { "code", "message", "status" } } for requests with an Authorization header; the header X-Error-Code has the code for both, and docs/errors.md lists the codes.'
      },
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'cookie', name: sessionCookieName(secure) },
          key: { type: 'http', scheme: 'bearer', description: 'An API key: marqey_live_... or marqey_test_...' }
        }
      }
    },
    // @fastify/swagger knows neither our headers nor schemas with names: it gets the parameters, and that there is a body.
    transform: ({ schema, url, route }) => {
      if (schema && !isHidden(schema)) routes.set(lineOf(route, url), routeSchemaOf(schema))
      const { response: _, errors: __, body, ...request } = schema ?? {}
      return { schema: schema && { ...request, ...(body ? { body: { type: 'object' } } : {}) }, url }
    },
    transformObject: (made) => completed((made as { openapiObject: unknown }).openapiObject as Document, routes)
  }
}

const isHidden = (schema: FastifySchema): boolean => (schema as { hide?: boolean }).hide === true

const lineOf = ({ method }: Pick<RouteOptions, 'method'>, url: string): string => `${[method].flat()[0]} ${url}`

const routeSchemaOf = ({ body, response = {}, errors = [] }: FastifySchema): RouteSchema => ({
  ...(body ? { body: body as BodySchema } : {}),
  response: response as RouteSchema['response'],
  errors
})

/** A parameter of every write that can be repeated (idempotency.ts). */
const idempotencyKey: NonNullable<Operation['parameters']>[number] & { in: 'header'; description: string } = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Of your own choice, a new one for each new request. The same request once more, byte for byte, changes nothing and returns the first response, with the header `Idempotency-Replayed: true`; a secret that is shown once is null then.',
  schema: { type: 'string', minLength: 1, maxLength: 255 }
}

/** @throws Error for a route that has no `schema.response` or no `operationId`, or is not in the access table. */
function completed({ components, paths, ...rest }: Document, routes: Map<string, RouteSchema>): object {
  const refusals: Record<string, object> = {}
  const named = new NamedSchemas()
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item)) {
      const line = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
      const [access, route] = [accessTable[line], routes.get(line)]
      if (!access) throw new Error(`${line} is not in apps/api/http/access-table.ts`)
      if (!route || Object.keys(route.response).length === 0) throw new Error(`${line} has no schema.response`)
      const codes = codesOf({ line, access, namesTeam: namesTeam(operation, route.body) }, route.errors)
      operation.operationId = operationIdOf(line)
      const name = pascal(operation.operationId)
      for (const parameter of operation.parameters ?? [])
        if (parameter.schema?.default !== undefined) parameter.required = false
      if (operation.requestBody) describeBody(operation, route.body, named)
      if (honoursKey(line, access)) operation.parameters = [...(operation.parameters ?? []), idempotencyKey]
      operation.security = securityOf(access)
      operation.responses = {
        ...Object.fromEntries(
          Object.entries(route.response).map(([status, response]) => [
            status,
            described(response, named, `${name}Response`)
          ])
        ),
        ...errorResponses(codes, access.who === 'caller', refusals, named)
      }
    }
  for (const item of Object.values(paths))
    for (const operation of Object.values(item)) addExamples(operation, named.components)
  return {
    ...rest,
    components: {
      ...components,
      schemas: { ...components.schemas, ...named.components },
      responses: refusals,
      headers: responseHeaders
    },
    paths
  }
}

function describeBody({ operationId, requestBody }: Operation, body: BodySchema | undefined, named: NamedSchemas) {
  const { content } = requestBody!
  // A client that sends no body sends none of its fields.
  requestBody!.required = !(body?.anyOf ?? []).some(({ type }) => type === 'null')
  for (const [mediaType, described] of Object.entries(content)) {
    described.schema = hasFields(mediaType)
      ? named.written(withDefaultsOptional(body), `${pascal(operationId)}Request`)
      : { type: 'string', format: 'binary' }
    if (mediaType === 'application/json') Object.assign(described, examplesOfBody(operationId))
  }
}

/** @throws Error for a body without an example. */
function examplesOfBody(operationId: string): object {
  const value = requestExamples[operationId]
  if (!value) throw new Error(`${operationId} has no example in apps/api/openapi/request-examples.ts`)
  if (operationId !== 'submitJob') return { example: value }
  return { examples: { circuit: { value }, native: { value: nativeExample } } }
}

/** Whether a body of this type has fields; any other is a file. */
const hasFields = (mediaType: string): boolean => ['application/json', 'multipart/form-data'].includes(mediaType)

/** The validator fills in defaults before it checks what is required; the document does not require such fields. */
function withDefaultsOptional<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(withDefaultsOptional) as Part
  if (part === null || typeof part !== 'object') return part
  const { required, properties } = part as { required?: unknown; properties?: Record<string, { default?: unknown }> }
  const fields = Object.entries(part).map(([key, value]) => [key, withDefaultsOptional(value)])
  if (Array.isArray(required) && properties)
    fields.push(['required', required.filter((name) => properties[name]?.default === undefined)])
  return Object.fromEntries(fields)
}

const namesTeam = ({ parameters = [] }: Operation, body?: BodySchema): boolean =>
  parameters.some(({ name }) => name === 'team_id') ||
  [body, body?.then, body?.else].some((schema) => Object.hasOwn(schema?.properties ?? {}, 'team_id'))

const securitySchemesOf: Record<Access['who'], object[]> = {
  public: [],
  session: [{ session: [] }],
  caller: [{ session: [] }, { key: [] }],
  'platform admin': [{ session: [] }]
}
const securityOf = ({ who }: Access): object[] => securitySchemesOf[who]

/** Shows the content of a response; of a body that is not JSON, the media type alone. */
function described(
  { description, responseHeaders, content }: RouteSchema['response'][string],
  named: NamedSchemas,
  name: string
) {
  const shown = Object.entries(content).map(([mediaType, { schema }]) => [
    mediaType,
    mediaType === 'application/json' ? { schema: named.written(schema, name) } : {}
  ])
  return {
    description,
    headers: headerRefs(responseHeaders),
    ...(shown.length > 0 && { content: Object.fromEntries(shown) })
  }
}

/** To successful responses, once all schemas have their names. */
function addExamples({ operationId, responses }: Operation, schemas: Record<string, object>): void {
  for (const response of Object.values(responses) as { content?: Record<string, { schema?: object }> }[]) {
    const json = response.content?.['application/json']
    if (!json?.schema) continue
    const example = responseExamples[operationId] ?? exampleOf(json.schema as Record<string, unknown>, schemas)
    Object.assign(json, { example })
  }
}

/** The error responses by status. Responses with the same codes share one entry of `known`, named after the codes. */
function errorResponses(
  codes: ErrorCode[],
  forKeys: boolean,
  known: Record<string, object>,
  named: NamedSchemas
): Record<string, object> {
  const statusesOf = (code: ErrorCode) =>
    (forKeys ? [false, true] : [false]).map((withKey) => String(httpStatusOf(code, withKey)))
  const statuses = new Set(codes.flatMap(statusesOf))
  return Object.fromEntries(
    [...statuses].map((status) => {
      const alike = codes.filter((code) => statusesOf(code).includes(status))
      const name = alike.join('.')
      known[name] ??= {
        description: alike.map((code) => `\`${code}\`: ${errorGuide[code].means}`).join('\n\n'),
        headers: headerRefs(['X-Error-Code', ...(headersOfRefusal[status] ?? [])]),
        content: {
          'application/json': { schema: named.written(status === '402' ? BudgetErrorBody : ErrorBody, 'Error') }
        }
      }
      return [status, { $ref: `#/components/responses/${name}` }]
    })
  )
}

const headersOfRefusal: Readonly<Record<string, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After']
}

const headerRefs = (more: readonly ResponseHeader[]): object =>
  Object.fromEntries(
    (['X-Request-Id', 'X-Api-Version', ...more] as const).map((name) => [
      name,
      { $ref: `#/components/headers/${name}` }
    ])
  )
