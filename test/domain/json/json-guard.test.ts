import { describe, expect, test } from '@jest/globals'
import { findForbiddenJson, storableText } from '../../../domain/json/json-guard.js'

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

describe('the guard of JSON bodies', () => {
  test.each([
    ['__proto__ at the top', '{"__proto__":{"admin":true}}', '__proto__: this key is not allowed'],
    ['__proto__ far down', '{"a":[{"b":{"__proto__":1}}]}', 'a[0].b.__proto__: this key is not allowed'],
    ['__proto__ in escapes', '{"\\u005f_proto__":1}', '__proto__: this key is not allowed'],
    ['constructor', '{"params":{"constructor":{}}}', 'params.constructor: this key is not allowed'],
    ['prototype', '{"params":{"prototype":{}}}', 'params.prototype: this key is not allowed'],
    ['NUL in a text', '{"name":"a\\u0000b"}', 'name: holds a NUL character, which cannot be stored; remove it'],
    ['NUL in a key', '{"a\\u0000":1}', 'a: this key holds a NUL character, which cannot be stored; remove it'],
    [
      'a high surrogate alone',
      '{"a":"\\ud83d"}',
      'a: holds a lone surrogate (half of a character); send valid Unicode'
    ],
    ['a low surrogate alone', '["\\ude00"]', '[0]: holds a lone surrogate (half of a character); send valid Unicode'],
    [
      'surrogates in the wrong order',
      '"\\ude00\\ud83d"',
      'body: holds a lone surrogate (half of a character); send valid Unicode'
    ],
    ['1e400', '{"theta":1e400}', 'theta: is a number beyond what can be represented'],
    ['-1e400', '{"theta":-1e400}', 'theta: is a number beyond what can be represented'],
    [
      '2^53 + 1',
      '{"n":9007199254740993}',
      'n: an integer beyond 9007199254740991 cannot be carried exactly; send it as a string'
    ],
    ['33 levels', nested(33), `${'[0]'.repeat(32)}: is nested deeper than 32 levels`],
    ['a million levels', nested(1_000_000), `${'[0]'.repeat(32)}: is nested deeper than 32 levels`],
    ['20,001 values', JSON.stringify(Array(20_000).fill(0)), 'body: holds more than 20000 values']
  ])('%s is refused with its place', (_what, text, message) => {
    expect(findForbiddenJson(JSON.parse(text))).toBe(message)
  })

  test.each([
    ['32 levels', nested(32)],
    ['20,000 values', JSON.stringify(Array(19_999).fill(0))],
    ['2^53 - 1 and its negative', '[9007199254740991,-9007199254740991]'],
    ['a whole astral character', '"\\ud83d\\ude00"'],
    ['harmless keys like proto and toString', '{"proto":1,"toString":2,"hasOwnProperty":3}'],
    ['null', 'null'],
    ['the smallest number', '5e-324']
  ])('%s is accepted', (_what, text) => {
    expect(findForbiddenJson(JSON.parse(text))).toBeNull()
  })

  test('a body of two million commas is refused without visiting its values', () => {
    const body = JSON.parse(`[${'0,'.repeat(2_000_000)}0]`)
    const before = process.memoryUsage().heapUsed
    expect(findForbiddenJson(body)).toBe('body: holds more than 20000 values')
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50e6)
  })

  test('a message never repeats a key of a million characters', () => {
    const message = findForbiddenJson({ ['k'.repeat(1_000_000)]: '\ud800' })!
    expect(message.length).toBeLessThan(300)
  })

  test('a message is well formed even when the path is cut inside a character', () => {
    expect(findForbiddenJson({ [`${'k'.repeat(99)}😀`]: '\0' })!.isWellFormed()).toBe(true)
  })
})

describe('external text', () => {
  test('becomes storable: without NUL and lone surrogates, and at most a screen long', () => {
    expect(storableText('a\0b\ud800')).toBe('a\uFFFDb\uFFFD')
    expect(storableText('x'.repeat(100_000))).toHaveLength(4_003)
    expect(storableText(`${'x'.repeat(3_999)}😀`).isWellFormed()).toBe(true)
    expect(storableText('plain')).toBe('plain')
  })
})

test('large floats are accepted where the text shows that they are floats, and large integers are not', () => {
  const check = (text: string) => findForbiddenJson(JSON.parse(text), text)
  expect(check('{"x":[-1e300, 1.0e20, 12345678901234567890.0],"9007199254740993":"12345678901234567890"}')).toBeNull()
  expect(check('{"x":[-1e300],"y":9007199254740993}')).toMatch(/an integer beyond 9007199254740991/)
  expect(check('{"y":-12345678901234567890}')).toMatch(/^y: an integer beyond/)
})

test('a body full of large floats and a long text is read once', () => {
  const text = `{"long":"${'x'.repeat(3_900_000)}","floats":[${Array(15_000).fill('1e300').join(',')}]}`
  const value: unknown = JSON.parse(text)
  const began = process.cpuUsage()
  expect(findForbiddenJson(value, text)).toBeNull()
  // Once for each number would take minutes.
  expect(process.cpuUsage(began).user).toBeLessThan(5_000_000)
})
