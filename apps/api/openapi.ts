// The OpenAPI document. Requests come from the schemas of the routes, which also validate; what is answered is added here for
// the document alone: success from answers/, errors and security from the access table. Nothing here changes an answer.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { TSchema } from 'typebox'
import { errorGuide } from '../../domain/error-guide.js'
import { type ErrorCode, errorCatalogue } from '../../domain/errors.js'
import { type Access, accessTable } from './http/access-table.js'
import { codesOf } from './http/error-responses.js'
import { honoursKey } from './http/idempotency.js'
import { type ResponseHeader, responseHeaders, type SuccessResponse } from './http/response-schema.js'
import { sessionCookieName } from './http/session.js'
import { answerSchemas, answerTable } from './response-table.js'
import { SERVICE_VERSION } from './version.js'

interface Operation {
  parameters?: { name: string; required?: boolean; schema?: { default?: unknown; [keyword: string]: unknown } }[]
  requestBody?: { content: Record<string, { schema?: BodySchema }> }
  responses: Record<string, object>
  security?: object[]
}

interface BodySchema {
  properties?: object
  // Of a body of one of two kinds.
  then?: BodySchema
  else?: BodySchema
}

interface Document {
  components: Record<string, object>
  paths: Record<string, Record<string, Operation>>
}

/** @param secure whether the session's cookie is bound to https. */
export const openapiOptions = ({ secure }: { secure: boolean }): FastifyDynamicSwaggerOptions => ({
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
  transformObject: (made) => withAnswers((made as { openapiObject: unknown }).openapiObject as Document)
})

/** Of every write that can be sent again (idempotency.ts). */
const idempotencyKey: NonNullable<Operation['parameters']>[number] & { in: 'header'; description: string } = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Of your own choice, a new one for each new request. The same request once more, byte for byte, changes nothing and answers what the first did, with the header `Idempotency-Replayed: true`; a secret that is shown once is null then.',
  schema: { type: 'string', minLength: 1, maxLength: 255 }
}

/** @throws Error for a route without answers. */
function withAnswers({ components, paths, ...rest }: Document): object {
  const refusals: Record<string, object> = {}
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item)) {
      const line = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
      const [access, answers] = [accessTable[line], answerTable[line]]
      if (!access || !answers) throw new Error(`${line} has no entry in apps/api/answers`)
      const codes = codesOf({ line, access, namesTeam: namesTeam(operation) }, answers.errors ?? [])
      for (const parameter of operation.parameters ?? [])
        if (parameter.schema?.default !== undefined) parameter.required = false
      for (const content of Object.values(operation.requestBody?.content ?? {}))
        content.schema = withDefaultsOptional(content.schema)
      if (honoursKey(line, access)) operation.parameters = [...(operation.parameters ?? []), idempotencyKey]
      operation.security = securityOf(access)
      operation.responses = {
        ...Object.fromEntries(Object.entries(answers.success).map(([status, answer]) => [status, success(answer)])),
        ...errorResponses(codes, refusals)
      }
    }
  return {
    ...rest,
    components: {
      ...components,
      schemas: { ...components.schemas, ...answerSchemas },
      responses: refusals,
      headers: responseHeaders
    },
    paths
  }
}

/** What is left out has been given its default before the schema is asked, which requires it therefore. */
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
  anybody: [],
  session: [{ session: [] }],
  caller: [{ session: [] }, { key: [] }],
  'platform admin': [{ session: [] }]
}
const securityOf = ({ who }: Access): object[] => securitySchemesOf[who]

function success({ description, body, also, headers = [] }: SuccessResponse): object {
  const main = typeof body === 'string' ? { [body]: {} } : body && json(body)
  const content = main && { ...main, ...(also && { [also]: {} }) }
  return { description, headers: headerRefs(headers), ...(content && { content }) }
}

/** By status; those that are alike share one entry of `known`, named after their codes. */
function errorResponses(codes: ErrorCode[], known: Record<string, object>): Record<string, object> {
  const statuses = new Set(codes.map((code) => String(errorCatalogue[code].http)))
  return Object.fromEntries(
    [...statuses].map((status) => {
      const alike = codes.filter((code) => String(errorCatalogue[code].http) === status)
      const name = alike.join('.')
      known[name] ??= {
        description: alike.map((code) => `\`${code}\`: ${errorGuide[code].means}`).join('\n\n'),
        headers: headerRefs(status === '429' ? ['Retry-After'] : []),
        content: json({ $ref: `#/components/schemas/${status === '402' ? 'BudgetError' : 'Error'}` })
      }
      return [status, { $ref: `#/components/responses/${name}` }]
    })
  )
}

const json = (schema: TSchema | object): object => ({ 'application/json': { schema } })

const headerRefs = (more: readonly ResponseHeader[]): object =>
  Object.fromEntries(
    (['X-Request-Id', 'X-Api-Version', ...more] as const).map((name) => [
      name,
      { $ref: `#/components/headers/${name}` }
    ])
  )
