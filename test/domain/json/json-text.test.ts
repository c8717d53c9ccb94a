import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { jsonFields, jsonObject } from '../../../domain/json/json-text.js'

const valuesOf = (text: string) =>
  Object.fromEntries([...jsonFields(text)].map(([name, value]) => [name, JSON.parse(value)]))

describe('the fields of a JSON object', () => {
  test('keep the exact text of their values', () => {
    const text = '{ "n" : 123456789012345678901234567890 , "x":[1.10, {"n": 1e2}],\n"s":"\\u0041 \\" , } ]" }'
    expect([...jsonFields(text)]).toEqual([
      ['n', '123456789012345678901234567890'],
      ['x', '[1.10, {"n": 1e2}]'],
      ['s', '"\\u0041 \\" , } ]"']
    ])
  })

  test('are those that JSON.parse finds', () => {
    const objects = [
      {},
      { '': '' },
      { 'a"b\\': '\\"}{][,:' },
      { deep: { er: [[[{ and: 'deeper' }]], []] }, after: null },
      { '1': true, '0': false, ключ: '🔑\u2028' }
    ]
    for (const object of objects)
      for (const indent of [undefined, 2, '\t']) expect(valuesOf(JSON.stringify(object, null, indent))).toEqual(object)
  })

  test('end where their strings end, however many quotes and backslashes these hold', () => {
    const hostile = fc.string({ unit: fc.constantFrom('"', '\\', 'u', '{', '}', ',', ':', 'x'), maxLength: 12 })
    const object = fc.dictionary(hostile, fc.oneof(hostile, fc.array(hostile, { maxLength: 3 })), {
      noNullPrototype: true
    })
    fc.assert(
      fc.property(object, (value) => expect(valuesOf(JSON.stringify(value))).toEqual(value)),
      { numRuns: 2_000 }
    )
  })

  test('hold the last value of a repeated name', () => {
    expect(valuesOf('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 })
  })

  test.each(['', '[]', '"{}"', '1', '{"a":1', '{"a', '{"a":"b', '{a:1}', '{"a" 1}'])(
    'are not read from %j, which is not an object',
    (text) => {
      expect(() => jsonFields(text)).toThrow('a JSON object was expected')
    }
  )

  test('joined again equal the object', () => {
    const text = '{"a":1.10,"b":[1, 2],"c\\n":{"d":"e"}}'
    expect(jsonObject(jsonFields(text))).toBe(text)
    expect(jsonObject([['a', undefined]])).toBe('{}')
  })
})
