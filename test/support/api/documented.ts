// The OpenAPI document as tests use it: with closed objects, so that an undescribed field is a fault, and as a check of responses.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { ApiResponse } from './api.js'

type Node = Record<string, unknown>

export interface ApiDocument {
  components: { schemas: Node } & Node
  paths: Record<string, Record<string, Operation>>
  [key: string]: unknown
}

export interface Operation {
  parameters?: { name: string; in: string; schema: Node }[]
  requestBody?: { content: Record<string, { schema: Node }> }
  responses: Record<string, Node>
  security: Node[]
  [key: string]: unknown
}

/** A copy in which the objects of responses allow only their described fields, except objects that declare more. */
export function closed(document: ApiDocument): ApiDocument {
  const copy = structuredClone(document)
  const seen = new Set<Node>()
  for (const item of Object.values(copy.paths)) for (const { responses } of Object.values(item)) close(responses)
  return copy

  function close(value: unknown): void {
    if (typeof value !== 'object' || value === null || seen.has(value as Node)) return
    const node = value as Node
    seen.add(node)
    if (node.type === 'object' && node.additionalProperties === undefined) node.additionalProperties = false
    if (typeof node.$ref === 'string') close(referredTo(copy, node.$ref))
    for (const child of Object.values(node)) close(child)
  }
}

/** The object that a schema describes, or each of those that it gives a choice of. */
export function objectsOf(document: ApiDocument, schema: Node): Node[] {
  if (typeof schema.$ref === 'string') return objectsOf(document, referredTo(document, schema.$ref) as Node)
  const choice = (schema.anyOf ?? schema.oneOf) as Node[] | undefined
  return choice ? choice.flatMap((one) => objectsOf(document, one)) : schema.type === 'object' ? [schema] : []
}

const referredTo = (document: ApiDocument, reference: string): unknown => at(document, reference.slice(2).split('/'))

export interface ResponseChecker {
  /** What is wrong with a response; `null` when it matches the document. */
  faultOf(method: string, path: string, answer: ApiResponse): string | null
  /** The lines checked so far, such as `GET /api/jobs/{id} 200`. */
  seen: Set<string>
}

export function createResponseChecker(document: ApiDocument): ResponseChecker {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true })
  addFormats.default(ajv as never)
  ajv.addSchema(closed(document), 'document')
  const templates = Object.keys(document.paths).map((path) => ({ path, pattern: patternOf(path) }))
  const seen = new Set<string>()
  return {
    seen,
    faultOf(method, url, answer) {
      const asked = url.split('?')[0]!
      // A fixed part of a path is preferred to a parameter, as the router does.
      const template = templates
        .filter(({ path, pattern }) => pattern.test(asked) && document.paths[path]![method.toLowerCase()])
        .sort((one, other) => parametersIn(one.path) - parametersIn(other.path))[0]
      if (!template) return `${method} ${asked} is not described`
      const line = `${method} ${template.path} ${answer.status}`
      seen.add(line)
      const pointer = ['paths', template.path, method.toLowerCase(), 'responses', String(answer.status)]
      const found = at(document, pointer) as { $ref?: string } | undefined
      if (!found) return `${line} is not described: ${answer.text.slice(0, 300)}`
      const steps = found.$ref ? found.$ref.slice(2).split('/') : pointer
      const response = at(document, steps) as { content?: Record<string, unknown>; headers: Node }
      const missing = Object.keys(response.headers).filter((name) => answer.headers[name.toLowerCase()] === undefined)
      if (missing.length > 0) return `${line} lacks the headers ${missing.join(', ')}`
      if (!response.content) return answer.text === '' ? null : `${line} has a body`
      const [mediaType] = Object.keys(response.content)
      if (mediaType === '*/*') return null
      const given = String(answer.headers['content-type']).split(';')[0]
      if (given !== mediaType) return `${line} is ${given}, not ${mediaType}`
      if (mediaType !== 'application/json') return null
      const schema = [...steps, 'content', 'application/json', 'schema'].map(escaped).join('/')
      const validate = ajv.compile({ $ref: `document#/${schema}` })
      if (validate(answer.body)) return null
      return `${line}: ${ajv.errorsText(validate.errors, { dataVar: 'body' })} in ${answer.text.slice(0, 500)}`
    }
  }
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
const parametersIn = (path: string): number => path.split('{').length
const escaped = (step: string): string => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))

const at = (value: unknown, steps: string[]): unknown =>
  steps.reduce((node, step) => (node as Node | undefined)?.[step], value)
