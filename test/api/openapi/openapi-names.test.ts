// What generators of clients need from the OpenAPI document: names, no `if`, and examples.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { eitherBody } from '../../../apps/api/http/validation/either-body.js'
import { NamedSchemas } from '../../../apps/api/openapi/named-schemas.js'
import { nativeExample, requestExamples } from '../../../apps/api/openapi/request-examples.js'
import { NativeSubmitBody } from '../../../domain/jobs/native/native-submission.js'
import { SubmitBody } from '../../../domain/jobs/submission.js'
import { startApi } from '../../support/api/api.js'
import type { ApiDocument, Operation } from '../../support/api/documented.js'

const api = await startApi('openapi_names')
afterAll(() => api.close())

type Content = Record<string, { schema: Record<string, unknown>; example?: unknown; examples?: object }>

let document: ApiDocument
let operations: [line: string, operation: Operation][]

beforeAll(async () => {
  await api.app.ready()
  document = JSON.parse(JSON.stringify(api.app.swagger()))
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation])
  )
})

/** The JSON bodies of requests and of successful responses. */
const jsonBodies = (): [place: string, Content[string]][] =>
  operations.flatMap(([line, { requestBody, responses }]) =>
    [
      [`the request of ${line}`, requestBody] as const,
      ...Object.entries(responses).map(([status, response]) => [`${status} of ${line}`, response] as const)
    ].flatMap(([place, part]) => {
      const content = (part as { content?: Content } | undefined)?.content?.['application/json']
      return content ? [[place, content] as [string, Content[string]]] : []
    })
  )

/** Every schema of the document with its place, `visit`ed from the outside to the inside. */
function visitSchemas(value: unknown, place: string, visit: (schema: Record<string, unknown>, place: string) => void) {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) visit(value as Record<string, unknown>, place)
  for (const [key, child] of Object.entries(value)) {
    if (key === 'example' || key === 'examples') continue
    // The keys of these are names of fields.
    if (key === 'properties')
      for (const [field, schema] of Object.entries(child as object)) visitSchemas(schema, `${place}.${field}`, visit)
    else visitSchemas(child, `${place}/${key}`, visit)
  }
}

describe('for generators of clients, the OpenAPI document', () => {
  test('gives each operation an id of its own: a verb and a noun', () => {
    const ids = operations.map(([, { operationId }]) => String(operationId))
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([])
    expect(new Set(ids).size).toBe(operations.length)
  })

  test('names each object in the components, and none by a title', () => {
    const faults: string[] = []
    const named = new Set<unknown>(Object.values(document.components.schemas))
    visitSchemas([document.components.schemas, document.components.responses, document.paths], '', (schema, place) => {
      if (typeof schema.title === 'string') faults.push(`${place} has a title`)
      if (schema.type !== 'object' || named.has(schema) || place.includes('/parameters/')) return
      if (Object.keys((schema.properties as object | undefined) ?? {}).length > 0) faults.push(`${place} has no name`)
    })
    expect(faults).toEqual([])
  })

  test('uses no if, then and else', () => {
    const faults: string[] = []
    visitSchemas(document, '', (schema, place) => {
      if (Object.keys(schema).some((key) => ['if', 'then', 'else'].includes(key))) faults.push(place)
    })
    expect(faults).toEqual([])
  })

  test('has names that are classes in any language', () => {
    expect(Object.keys(document.components.schemas).filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual([])
  })

  test('has an example of each JSON body, which its schema allows', () => {
    const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true })
    addFormats.default(ajv as never)
    ajv.addSchema(document, 'document')
    const faults = jsonBodies().flatMap(([place, { schema, example, examples }]) => {
      const values = examples ? Object.values(examples).map(({ value }) => value) : [example]
      const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')))
      return values.flatMap((value) => {
        if (value === undefined) return [`${place} has no example`]
        return validate(value) ? [] : [`${place}: ${ajv.errorsText(validate.errors)}`]
      })
    })
    expect(faults).toEqual([])
  })
})

describe('a choice between two kinds of body', () => {
  const schema = eitherBody('protocol_version', NativeSubmitBody, SubmitBody)
  const named = new NamedSchemas()
  const ajv = new Ajv({ strict: false })
  addFormats.default(ajv)
  const validator = ajv.compile(schema)
  const described = ajv.compile({
    ...(JSON.parse(JSON.stringify(named.written(schema, 'Body'))) as object),
    components: { schemas: JSON.parse(JSON.stringify(named.components)) }
  })

  test('is described as the validator decides it, whichever fields of the two are mixed', () => {
    const plain = { ...requestExamples.submitJob, team_id: nativeExample.team_id }
    const fields = { ...plain, ...nativeExample, unknown: 1 }
    const wrong = fc.constantFrom(0, 'x', null, {}, [])
    const body = fc
      .tuple(
        fc.constantFrom<Record<string, unknown>>(plain, nativeExample, {}),
        fc.subarray(Object.entries(fields)),
        fc.dictionary(fc.constantFrom(...Object.keys(fields)), wrong, { maxKeys: 1 })
      )
      .map(([base, more, spoilt]): Record<string, unknown> => ({ ...base, ...Object.fromEntries(more), ...spoilt }))
    const verdicts = new Set<boolean>()
    fc.assert(
      fc.property(body, (value) => {
        const decided = validator(value)
        verdicts.add(decided)
        expect([described(value), value]).toEqual([decided, value])
      }),
      { numRuns: 2_000, seed: 7, examples: [[plain], [nativeExample]] }
    )
    expect(verdicts).toEqual(new Set([true, false]))
  })
})
