// The form of a script's parameters, and what of it is sent.
import { describe, expect, test } from '@jest/globals'
import { stringify } from 'lossless-json'
import {
  circuitsIn,
  faultIn,
  helpOf,
  paramsOf,
  type RunField,
  runFields,
  type TemplateParameter
} from '../../../apps/console/scripts/run/parameters.js'

const described = (parameter: Partial<TemplateParameter> & Pick<TemplateParameter, 'type'>): RunField => {
  const whole = { name: 'x', default: null, description: 'What it means', ...parameter }
  return { name: whole.name, described: whole }
}
const named: RunField = { name: 'x', described: null }

test('a template has the fields that it describes, and the names that reading it found for the rest', () => {
  const parameters = [{ name: 'size', type: 'integer' as const, default: 3, description: 'd' }]
  const entry = (names: string[]) => [
    { name: 'main', parameters: names, is_task: false, is_workflow: false, retries: null, timeout: null },
    { name: 'other', parameters: ['never'], is_task: false, is_workflow: false, retries: null, timeout: null }
  ]
  const metadata = { framework: null, imports: [], entry_point: 'main', source_sha256: '' }
  const names = (given: Parameters<typeof runFields>[0]) => runFields(given).map(({ name }) => name)
  const functions = entry(['shots', 'size', 'noise_model', 'seed', 'backend', '*rest', '**more'])
  expect(names({ ...metadata, functions, parameters })).toEqual(['size', 'noise_model'])
  expect(names({ ...metadata, functions })).toEqual(['size', 'noise_model'])
  expect(names({ ...metadata, entry_point: 'circuit', functions })).toEqual([])
})

test('a field says what the parameter means, its range and its default', () => {
  expect(helpOf(described({ type: 'integer', minimum: 2, maximum: 9, default: 3 }))).toBe(
    'What it means; from 2 to 9; 3 where empty'
  )
  expect(helpOf(described({ type: 'integer', minimum: 0 }))).toBe('What it means; at least 0; left out where empty')
})

describe('a value out of its range is named before the press:', () => {
  test.each<[RunField, string[], string[]]>([
    [described({ type: 'integer', minimum: 2, maximum: 9 }), ['2', ' 9 ', ''], ['1', '10', '2.5', 'x', '1e1']],
    [described({ type: 'number' }), ['-0.2235', '1e-3', ''], ['x', 'Infinity', '1,5']],
    [described({ type: 'text', pattern: '^[01]{2,8}$' }), ['01', ''], ['0', '012']],
    [
      described({ type: 'integers', minimum: 1, maximum: 1000, min_items: 3 }),
      ['1, 8, 16', '[1,8,16]'],
      ['1, 8', '1,1,1', '0,1,2', '1,2,1001', '1,,2']
    ],
    [described({ type: 'object' }), ['{"a":1}'], ['[1]', '1', '{', 'null']],
    [described({ type: 'boolean' }), ['true', 'false'], []],
    [named, ['anything at all', '{'], []]
  ])('%#', (field, right, wrong) => {
    expect(right.filter((text) => faultIn(field, text) !== null)).toEqual([])
    expect(wrong.filter((text) => faultIn(field, text) === null)).toEqual([])
  })
})

test('values are sent as JSON with every digit, text as text, and what is empty not at all', () => {
  const fields = [
    { ...named, name: 'digits' },
    { ...named, name: 'text' },
    { ...named, name: 'list' },
    { ...named, name: 'empty' },
    described({ name: 'marked', type: 'text' }),
    described({ name: 'lengths', type: 'integers' }),
    described({ name: 'deferred', type: 'boolean' })
  ]
  const texts = {
    digits: '12345678901234567890.5',
    text: 'not {json',
    list: '[1, "a"]',
    empty: '  ',
    marked: '101',
    lengths: '1, 8',
    deferred: 'true'
  }
  expect(stringify(paramsOf(fields, new Map(Object.entries(texts))))).toBe(
    '{"digits":12345678901234567890.5,"text":"not {json","list":[1,"a"],"marked":"101","lengths":[1,8],"deferred":true}'
  )
})

test('a parameter may have any name that a program gives it', () => {
  const names = ['constructor', '__proto__', 'toString']
  const fields = names.map((name) => ({ ...named, name }))
  expect(paramsOf(fields, new Map())).toEqual({})
  const params = paramsOf(fields, new Map(names.map((name) => [name, '1'])))
  expect(Object.keys(params)).toEqual(names)
})

test('a run is priced for as many circuits as it names', () => {
  expect(circuitsIn({})).toBe(1)
  expect(circuitsIn(paramsOf([{ ...named, name: 'circuit_count' }], new Map([['circuit_count', '5']])))).toBe(5)
  expect(circuitsIn({ circuit_count: 'many' })).toBe(1)
})
