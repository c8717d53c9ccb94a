// A refusal names every wrong field, in one sentence each, and stays short for a body with many.
import { describe, expect, test } from '@jest/globals'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { Type } from 'typebox'
import { eitherBody } from '../../../apps/api/http/validation/either-body.js'
import { createFaultFinder } from '../../../apps/api/http/validation/validation-faults.js'
import { validationMessages } from '../../../apps/api/http/validation/validation-message.js'

const options = { verbose: true, useDefaults: true, strictTypes: false } as const
const [ajv, lenient] = [new Ajv({ ...options, strict: true }), new Ajv({ ...options, strict: false })]
for (const one of [ajv, lenient]) addFormats.default(one)
const faultsOf = createFaultFinder(lenient)

const Plain = Type.Object(
  {
    backend: Type.String({ minLength: 1, maxLength: 100 }),
    mode: Type.String({ default: 'direct' }),
    shots: Type.Integer({ minimum: 1, maximum: 100 }),
    params: Type.Optional(Type.Object({ seed: Type.Optional(Type.Integer()), layers: Type.Optional(Type.Integer()) })),
    labels: Type.Optional(Type.Array(Type.String({ maxLength: 5 }), { maxItems: 3 })),
    script: Type.Optional(Type.Union([Type.String({ format: 'uuid' }), Type.Null()])),
    password: Type.Optional(Type.String({ minLength: 10 }))
  },
  { additionalProperties: false, maxProperties: 6 }
)
const Native = Type.Object(
  { protocol: Type.Literal('v1'), cap: Type.Integer() },
  { $id: 'Native', additionalProperties: false }
)

function messageOf(schema: object, value: unknown): string {
  const validate = ajv.compile(schema)
  expect(validate(value)).toBe(false)
  return validationMessages(faultsOf(schema, value, validate.errors!), 'body')
}

describe('a refused body', () => {
  test('has all its wrong fields named, at any depth', () => {
    const value = { shots: 0, params: { seed: 'x', layers: 1.5 }, labels: ['ok', 7, 'too long'], script: 'x', extra: 1 }
    expect(messageOf(Plain, value).split('; ')).toEqual([
      'backend: is required',
      'shots: must be an integer from 1 to 100 (got 0)',
      'params.seed: must be an integer (got "x")',
      'params.layers: must be an integer (got 1.5)',
      'labels[1]: must be a string of at most 5 characters (got 7)',
      'script: must be a valid uuid (got "x")',
      'extra: is not a field of this request'
    ])
  })

  test('with a secret that is refused does not have it repeated', () => {
    expect(messageOf(Plain, { backend: 'b', shots: 0, password: 'short' })).toBe(
      'shots: must be an integer from 1 to 100 (got 0); password: must be a string of at least 10 characters'
    )
  })

  test('with a choice has the faults of the variant that is of the type of its value named', () => {
    const Point = Type.Object({
      job_id: Type.String({ format: 'uuid' }),
      point: Type.Integer({ minimum: 0, maximum: 9 })
    })
    const schema = Type.Object({ a: Type.Union([Type.String({ format: 'uuid' }), Point, Type.Null()]) })
    expect(messageOf(schema, { a: { job_id: 'x', point: 10 } })).toBe(
      'a.job_id: must be a valid uuid (got "x"); a.point: must be an integer from 0 to 9 (got 10)'
    )
    expect(messageOf(schema, { a: 'x' })).toBe('a: must be a valid uuid (got "x")')
    expect(messageOf(schema, { a: 5 })).toBe('a: must be a string (got 5)')
  })

  test('of one of two kinds has only fields of its kind named', () => {
    const schema = eitherBody('protocol', Native, Plain)
    expect(messageOf(schema, { protocol: 'v1', shots: 0 })).toBe(
      'cap: is required; shots: is not a field of this request'
    )
    expect(messageOf(schema, { shots: 0 })).toMatch(/^backend: is required; shots: must be an integer/)
  })

  test.each([
    ['that is a list', [], 'body: must be an object (got a list of 0 items)'],
    ['that is missing', undefined, 'body: must be an object']
  ])('%s is described as a whole', (_what, value, message) => {
    expect(messageOf(Plain, value)).toBe(message)
  })

  test('with a rule about the whole that its fields keep is described by that rule', () => {
    const schema = Type.Object({ a: Type.Optional(Type.Integer()) }, { minProperties: 1 })
    expect(messageOf(schema, {})).toBe('body: must name at least one field (got an object)')
  })

  test('with many unknown fields has ten named and the others counted', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, 1]))
    const message = messageOf(Type.Object({}, { additionalProperties: false }), many)
    expect(message.split('; ')).toHaveLength(11)
    expect(message).toMatch(/^f0: is not a field .*f9: is not a field of this request; and 9990 more$/)
  })
})
