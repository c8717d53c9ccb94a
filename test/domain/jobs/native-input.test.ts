// Which inputs of native submissions are accepted and which are refused.
import { describe, expect, test } from '@jest/globals'
import { readNativeInput } from '../../../domain/jobs/native/native-input.js'

const call = (args: string, kwargs = '{}') => `{"entrypoint": "wf", "args": ${args}, "kwargs": ${kwargs}}`
const lists = (depth: number, innermost = '') => '['.repeat(depth) + innermost + ']'.repeat(depth)
const objects = (depth: number) => `${'{"a": '.repeat(depth)}1${'}'.repeat(depth)}`

const refusal = (text: string): string => {
  try {
    readNativeInput(text)
  } catch (error) {
    expect((error as { code: string }).code).toBe('validation_error')
    return (error as Error).message
  }
  throw new Error(`was taken: ${text.slice(0, 200)}`)
}

describe('the input of a native submission is accepted with', () => {
  test.each([
    ['no arguments', call('[]')],
    ['the order of the members is free', '{"kwargs":{},"args":[],"entrypoint":"wf"}'],
    ['spaces and lines', ' {\n"entrypoint" :\t"wf" , "args":[ 1 , 2 ],"kwargs": { "a" : 3 } }\r\n'],
    ['an escaped name of a member', '{"entry\\u0070oint":"wf","args":[],"kwargs":{}}'],
    ['an integer of 4,300 digits', call(`[${'9'.repeat(4_300)}, -${'9'.repeat(4_300)}]`)],
    ['the largest number', call('[1.7976931348623157e308, -1E-400]')],
    ['a string that looks like a number with too many digits', call(`["${'9'.repeat(5_000)}"]`)],
    ['a text with brackets, quotes and colons', call('["[[[{\\"a\\": ]}", "\\\\"]', '{"a:\\"{": ":"}')],
    ['a text with a NUL', call('["\\u0000"]')],
    ['a pair of surrogates', call('["\\ud83d\\ude00"]')],
    ['keys that reach prototypes', call('[]', '{"__proto__": 1, "constructor": {"__proto__": 2}}')],
    ['30 lists around a number, in an argument by name', call('[]', `{"a": ${lists(30, '1')}}`)],
    ['31 lists, the innermost empty', call('[]', `{"a": ${lists(31)}}`)],
    ['31 lists around a number, args the first of them', call(lists(31, '1'))],
    ['31 objects around a number, kwargs the first of them', call('[]', objects(31))],
    ['a name of 128 characters', call('[]').replace('wf', `_${'a'.repeat(127)}`)],
    ['half a megabyte of lists', call(`[${'[],'.repeat(180_000)}[]]`)]
  ])('%s', (_name, text) => {
    expect(readNativeInput(text)).toMatch(/^(wf|_a+)$/)
  })
})

describe('the input of a native submission is refused with', () => {
  test.each([
    ['nothing', '', /JSON/],
    ['no JSON', 'wf()', /JSON/],
    ['more than JSON', `${call('[]')} x`, /JSON/],
    ['NaN', call('[NaN]'), /JSON/],
    ['Infinity', call('[-Infinity]'), /JSON/],
    ['a list', '[]', /object/],
    ['null', 'null', /object/],
    ['no arguments', '{"entrypoint":"wf","kwargs":{}}', /args is missing/],
    ['one member too many', '{"entrypoint":"wf","args":[],"kwargs":{},"x":1}', /each once/],
    ['a member twice', '{"entrypoint":"wf","args":[],"kwargs":{},"entrypoint":"wf"}', /each once/],
    ['a member twice, written differently', '{"args":[1],"entrypoint":"wf","arg\\u0073":[],"kwargs":{}}', /each once/],
    ['__proto__ in place of a member', '{"entrypoint":"wf","args":[],"__proto__":{}}', /kwargs is missing/],
    ['args that are an object', call('{}'), /args must be a list/],
    ['kwargs that are a list', call('[]', '[]'), /kwargs must be an object/],
    ['kwargs that are null', call('[]', 'null'), /kwargs must be an object/],
    ['an entrypoint that is a number', call('[]').replace('"wf"', '1'), /identifier/],
    ['an entrypoint that is empty', call('[]').replace('wf', ''), /identifier/],
    ['an entrypoint with a dot', call('[]').replace('wf', 'a.b'), /identifier/],
    ['an entrypoint with a line end', call('[]').replace('wf', 'wf\\n'), /identifier/],
    ['an entrypoint that begins with a digit', call('[]').replace('wf', '1a'), /identifier/],
    ['an entrypoint beyond ASCII', call('[]').replace('wf', 'é'), /identifier/],
    ['an entrypoint of 129 characters', call('[]').replace('wf', 'a'.repeat(129)), /identifier/],
    ['an integer of 4,301 digits', call(`[${'9'.repeat(4_301)}]`), /4300 digits/],
    ['a negative one', call('[]', `{"a": [-1${'0'.repeat(4_300)}]}`), /4300 digits/],
    ['a number beyond a double', call('[1e309]'), /1e309/],
    ['31 lists around a number, in an argument by name', call('[]', `{"a": ${lists(31, '1')}}`), /deeper than 32/],
    ['32 lists around a number, args the first of them', call(lists(32, '1')), /deeper than 32/],
    ['32 objects', call('[]', objects(32)), /deeper than 32/],
    ['a text that does not end', '{"entrypoint": "wf', /JSON/],
    ['an escape that does not end', '{"entrypoint": "wf\\', /JSON/],
    ['a minus', '{"entrypoint": -', /JSON/],
    ['half a million lists', call(lists(500_000)), /deeper than 32/],
    ['a lone surrogate', call('["\\ud83d"]'), /surrogate/],
    ['a lone surrogate in a key', call('[]', '{"\\udc00": 1}'), /surrogate/]
  ])('%s', (_name, text, message) => {
    expect(refusal(text)).toMatch(/^input: /)
    expect(refusal(text)).toMatch(message)
    expect(refusal(text).length).toBeLessThan(300)
  })
})
