// The OpenAPI document. Requests and successful responses come from the schemas of the routes; errors and security follow
// from the access table and the error catalogue.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifySchema, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { errorGuide } from '../../domain/error-guide.js'
import { type ErrorCode, errorCatalogue } from '../../domain/errors.js'
import { type Access, accessTable } from './http/access-table.js'
import { BudgetErrorBody, codesOf, ErrorBody } from './http/error-responses.js'
import { honoursKey } from './http/idempotency.js'
import { type ResponseHeader, type ResponseOf, responseHeaders } from './http/response.js'
import { sessionCookieName } from './http/session.js'
import { SERVICE_VERSION } from './version.js'

interface Operation {
  parameters?: { name: string; required?: boolean; schema?: { default?: unknown; [keyword: string]: unknown } }[]
  requestBody?: { content: Record<string, { schema?: BodySchema }> }
  responses: Record<string, object>
  security?: object[]
}

interface BodySchema {
  properties?: object
  // A body of one of two kinds has its fields in these.
  then?: BodySchema
  else?: BodySchema
}

interface Document {
  components: Record<string, object>
  paths: Record<string, Record<string, Operation>>
}

/** The responses that the schema of a route declares. */
interface RouteResponses {
  response: Readonly<Record<string, ResponseOf<Record<string, { schema: TSchema }>>>>
  errors: readonly ErrorCode[]
}

/** @param secure whether the session's cookie is bound to https. */
export function openapiOptions({ secure }: { secure: boolean }): FastifyDynamicSwaggerOptions {
  /** Derived from the route's line in the access table. */
  const routes = new Map<string, RouteResponses>()
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Quantum Job Service',
        version: SERVICE_VERSION,
        description:
          'Submit quantum circuits as durable, budgeted jobs. Errors are { "error": "message" } for sessions and { "error": { "code", "message", "status" } } for requests with an Authorization header; docs/errors.md lists the codes.'
      },
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'cookie', name: sessionCookieName(secure) },
          key: { type: 'http', scheme: 'bearer', description: 'An API key: marqey_live_... or marqey_test_...' }
        }
      }
    },
    // @fastify/swagger knows neither our headers nor schemas with names: it gets the requests alone.
    transform: ({ schema, url, route }) => {
      if (schema && !isHidden(schema)) routes.set(lineOf(route, url), responsesOf(schema))
      const { response: _, errors: __, ...request } = schema ?? {}
      return { schema: schema && request, url }
    },
    transformObject: (made) => withResponses((made as { openapiObject: unknown }).openapiObject as Document, routes)
  }
}

const isHidden = (schema: FastifySchema): boolean => (schema as { hide?: boolean }).hide === true

const lineOf = ({ method }: Pick<RouteOptions, 'method'>, url: string): string => `${[method].flat()[0]} ${url}`

const responsesOf = ({ response = {}, errors = [] }: FastifySchema): RouteResponses => ({
  response: response as RouteResponses['response'],
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

/** @throws Error for a route that has no `schema.response`, or is not in the access table. */
function withResponses({ components, paths, ...rest }: Document, routes: Map<string, RouteResponses>): object {
  const refusals: Record<string, object> = {}
  const named = new NamedSchemas()
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item)) {
      const line = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
      const [access, route] = [accessTable[line], routes.get(line)]
      if (!access) throw new Error(`${line} is not in apps/api/http/access-table.ts`)
      if (!route || Object.keys(route.response).length === 0) throw new Error(`${line} has no schema.response`)
      const codes = codesOf({ line, access, namesTeam: namesTeam(operation) }, route.errors)
      for (const parameter of operation.parameters ?? [])
        if (parameter.schema?.default !== undefined) parameter.required = false
      for (const content of Object.values(operation.requestBody?.content ?? {}))
        content.schema = withDefaultsOptional(content.schema)
      if (honoursKey(line, access)) operation.parameters = [...(operation.parameters ?? []), idempotencyKey]
      operation.security = securityOf(access)
      operation.responses = {
        ...Object.fromEntries(
          Object.entries(route.response).map(([status, response]) => [status, described(response, named)])
        ),
        ...errorResponses(codes, refusals, named)
      }
    }
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

/** Schemas with an `$id`: each is a component of the document, and a reference wherever it is used. */
class NamedSchemas {
  readonly components: Record<string, object> = {}
  readonly #sources = new Map<string, object>()

  /** @throws Error for two schemas of one name. */
  written(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.written(item))
    if (schema === null || typeof schema !== 'object') return schema
    const { $id: name, ...keywords } = schema as { $id?: string }
    const plain = () =>
      Object.fromEntries(Object.entries(keywords).map(([key, value]): [string, unknown] => [key, this.written(value)]))
    if (name === undefined) return plain()
    const known = this.#sources.get(name)
    if (known && known !== schema) throw new Error(`two schemas have the $id ${name}`)
    if (!known) {
      this.#sources.set(name, schema)
      this.components[name] = plain()
    }
    return { $ref: `#/components/schemas/${name}` }
  }
}

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

function namesTeam({ parameters = [], requestBody }: Operation): boolean {
  const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => [schema, schema?.then, schema?.else])
  return (
    parameters.some(({ name }) => name === 'team_id') ||
    bodies.some((schema) => Object.hasOwn(schema?.properties ?? {}, 'team_id'))
  )
}

const securitySchemesOf: Record<Access['who'], object[]> = {
  public: [],
  session: [{ session: [] }],
  caller: [{ session: [] }, { key: [] }],
  'platform admin': [{ session: [] }]
}
const securityOf = ({ who }: Access): object[] => securitySchemesOf[who]

/** Shows the content of a response; of a body that is not JSON, the media type alone. */
function described({ description, responseHeaders, content }: RouteResponses['response'][string], named: NamedSchemas) {
  const shown = Object.entries(content).map(([mediaType, { schema }]) => [
    mediaType,
    mediaType === 'application/json' ? { schema: named.written(schema) } : {}
  ])
  return {
    description,
    headers: headerRefs(responseHeaders),
    ...(shown.length > 0 && { content: Object.fromEntries(shown) })
  }
}

/** The error responses by status. Responses with the same codes share one entry of `known`, named after the codes. */
function errorResponses(
  codes: ErrorCode[],
  known: Record<string, object>,
  named: NamedSchemas
): Record<string, object> {
  const statuses = new Set(codes.map((code) => String(errorCatalogue[code].http)))
  return Object.fromEntries(
    [...statuses].map((status) => {
      const alike = codes.filter((code) => String(errorCatalogue[code].http) === status)
      const name = alike.join('.')
      known[name] ??= {
        description: alike.map((code) => `\`${code}\`: ${errorGuide[code].means}`).join('\n\n'),
        headers: headerRefs(status === '429' ? ['Retry-After'] : []),
        content: { 'application/json': { schema: named.written(status === '402' ? BudgetErrorBody : ErrorBody) } }
      }
      return [status, { $ref: `#/components/responses/${name}` }]
    })
  )
}

const headerRefs = (more: readonly ResponseHeader[]): object =>
  Object.fromEntries(
    (['X-Request-Id', 'X-Api-Version', ...more] as const).map((name) => [
      name,
      { $ref: `#/components/headers/${name}` }
    ])
  )
