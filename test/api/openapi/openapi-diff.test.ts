// The comparison of OpenAPI documents reports what clients notice, and nothing else.
import { describe, expect, test } from '@jest/globals'
import { openapiDifferences } from '../../../tools/openapi-diff.mjs'

const document = {
  info: { title: 'A service', version: '1' },
  paths: {
    '/things': {
      get: {
        summary: 'All things',
        parameters: [{ name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 100 } }],
        responses: {
          200: {
            description: 'They',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } }
          }
        }
      }
    }
  },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        required: ['id', 'title'],
        properties: { id: { type: 'string' }, title: { type: 'string', enum: ['one', 'two'] } }
      }
    }
  }
}

function changed(change: (copy: typeof document) => unknown): string[] {
  const copy = structuredClone(document)
  change(copy)
  return openapiDifferences(document, copy)
}

test('a document equals itself, whatever the order of its keys', () => {
  expect(openapiDifferences(document, JSON.parse(JSON.stringify(document)))).toEqual([])
  const { info, ...rest } = document
  expect(openapiDifferences(document, { ...rest, info })).toEqual([])
})

describe('texts and the order of sets are not reported:', () => {
  test.each<[string, (copy: typeof document) => unknown]>([
    ['a title', ({ info }) => (info.title = 'Another')],
    ['a summary', ({ paths }) => (paths['/things'].get.summary = 'Everything')],
    ['a description', ({ paths }) => (paths['/things'].get.responses[200].description = 'The things')],
    ['the order of required fields', ({ components }) => components.schemas.Thing.required.reverse()],
    ['the order of an enum', ({ components }) => components.schemas.Thing.properties.title.enum.reverse()]
  ])('%s', (_what, change) => {
    expect(changed(change)).toEqual([])
  })
})

describe('each change that a client notices is reported in one line:', () => {
  test.each<[string, (copy: typeof document) => unknown, string]>([
    [
      'a limit',
      ({ paths }) => (paths['/things'].get.parameters[0]!.schema.maximum = 50),
      '~ /paths/~1things/get/parameters/0/schema/maximum: 100 -> 50'
    ],
    [
      'a new status',
      ({ paths }) => Object.assign(paths['/things'].get.responses, { 404: {} }),
      '+ /paths/~1things/get/responses/404: {}'
    ],
    [
      'a removed field called title',
      ({ components }) => Reflect.deleteProperty(components.schemas.Thing.properties, 'title'),
      '- /components/schemas/Thing/properties/title: {"type":"string","enum":["one","two"]}'
    ],
    [
      'a new value of an enum',
      ({ components }) => components.schemas.Thing.properties.title.enum.push('three'),
      '~ /components/schemas/Thing/properties/title/enum: ["one","two"] -> ["one","two","three"]'
    ]
  ])('%s', (_what, change, line) => {
    expect(changed(change)).toEqual([line])
  })
})
