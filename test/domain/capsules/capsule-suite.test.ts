// Tasks of a capsule: their starting order, and results that become parameters of other tasks.
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  assertSuite,
  FILLED_PARAMETERS_MAX,
  fillReferences,
  knownParameters,
  orderOf,
  tasksNeededBy
} from '../../../domain/capsules/capsule-suite.js'
import { jsonAt, jsonItems } from '../../../domain/json/json-text.js'

const task = (name: string, parameters: Record<string, unknown> = {}) => ({ name, parameters })
const of = (name: string, path?: string) => ({ $result: name, ...(path !== undefined && { path }) })
const namesInOrder = (tasks: ReturnType<typeof task>[]) => orderOf(tasks).map((place) => tasks[place]!.name)

describe('the order of tasks', () => {
  test('is that of the list when no task needs another', () => {
    expect(namesInOrder(['c', 'a', 'b'].map((name) => task(name)))).toEqual(['c', 'a', 'b'])
  })

  test('puts a task after those whose results it takes, and moves no other', () => {
    const tasks = [
      task('a', { deep: [{ x: [of('d')] }], seed: of('c', '/seed') }),
      task('b'),
      task('c', { y: of('d', '') }),
      task('d')
    ]
    expect(namesInOrder(tasks)).toEqual(['b', 'd', 'c', 'a'])
  })

  test('has every task of any graph without circles once, after all that it needs', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(11), { maxLength: 4 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(1_000), { minLength: 12, maxLength: 12 }),
        (needs, shuffle) => {
          // Only lower ranks are needed, so there are no circles.
          const made = needs.map((list, rank) =>
            task(`t${rank}`, Object.fromEntries(list.filter((n) => n < rank).map((n) => [`p${n}`, of(`t${n}`)])))
          )
          const tasks = made
            .map((one, at) => ({ one, key: shuffle[at]! }))
            .sort((a, b) => a.key - b.key)
            .map(({ one }) => one)
          const order = namesInOrder(tasks)
          expect([...order].sort()).toEqual(tasks.map(({ name }) => name).sort())
          for (const { name, parameters } of tasks)
            for (const needed of tasksNeededBy(parameters))
              expect(order.indexOf(needed)).toBeLessThan(order.indexOf(name))
        }
      )
    )
  })
})

test.each([
  [[task('a'), task('a')], 'tasks[1].name: another task is called "a" already'],
  [[task('a', { x: of('b') })], 'tasks[0].parameters.x: no task is called "b"; the tasks are a'],
  [[task('a', { x: of('a') })], 'in a circle: a needs a'],
  [
    [task('z', { x: of('a') }), task('a', { x: of('b') }), task('b', { x: [of('c')] }), task('c', { x: of('a') })],
    'in a circle: a needs b needs c needs a'
  ],
  [[task('a'), task('b', { shots: of('a') })], 'tasks[1].parameters.shots: the price depends on it'],
  [[task('a'), task('b', { circuit_count: of('a') })], 'tasks[1].parameters.circuit_count: the price depends on it'],
  [
    [task('a'), task('b', of('a') as never)],
    'tasks[1].parameters: a result can replace the value of one parameter, not all'
  ],
  [[task('a'), task('b', { x: { $result: 7 } })], '$result must be the name of a task'],
  [[task('a'), task('b', { x: { ...of('a'), more: 1 } })], 'next to $result only "path" is allowed (got "more")'],
  [[task('a'), task('b', { x: of('a', 'counts') })], 'path must be a JSON pointer'],
  [[task('a'), task('b', { x: of('a', '/a~2') })], 'path must be a JSON pointer'],
  [[task('a'), task('b', { x: { $result: 'a', path: 3 } })], 'path must be a JSON pointer']
])('tasks that cannot run are refused with the place of the fault: %j', (tasks, message) => {
  expect(() => assertSuite(tasks)).toThrow(
    expect.objectContaining({ code: 'validation_error', message: expect.stringContaining(message) })
  )
})

test('parameters without references are known before anything runs', () => {
  expect(knownParameters({ shots: 5, seed: of('a'), list: [1, { x: of('a') }], plain: { y: [null] } })).toEqual({
    shots: 5,
    plain: { y: [null] }
  })
})

describe('a result in the parameters of another task', () => {
  const result = `{ "counts" : {"00": 5, "11":  ${10n ** 40n}}, "a/b": [1.0, -0, "x\\"]{", [ ]], "~": null, "": {"": 2}, "counts2":{} }`
  const fill = (parameters: string) => fillReferences(parameters, () => result)

  test('is copied exactly, to the last digit', () => {
    expect(fill('{"shots":10,"x":{"$result":"a","path":"/counts"},"big":12345678901234567890}')).toBe(
      `{"shots":10,"x":{"00": 5, "11":  ${10n ** 40n}},"big":12345678901234567890}`
    )
    expect(fill('{"x":[{"y":{"path":"/counts/11","$result":"a"}}, {"$result":"a"}]}')).toBe(
      `{"x":[{"y":${10n ** 40n}},${result}]}`
    )
  })

  test.each([
    ['/a~1b/0', '1.0'],
    ['/a~1b/1', '-0'],
    ['/a~1b/2', '"x\\"]{"'],
    ['/a~1b/3', '[ ]'],
    ['/~0', 'null'],
    ['//', '2']
  ])('the value at %s is found', (path, text) => {
    expect(fill(JSON.stringify({ x: of('a', path) }))).toBe(`{"x":${text}}`)
  })

  test.each(['/none', '/counts/0', '/a~1b/4', '/a~1b/01', '/a~1b/-', '/a~1b/length', '/counts/00/x', '/__proto__'])(
    'a missing value at %s is refused with the place of the reference',
    (path) => {
      expect(() => fill(JSON.stringify({ list: [0, { x: of('a', path) }] }))).toThrow(
        `parameters.list[1].x: the result of task "a" has no value at ${JSON.stringify(path)}`
      )
    }
  )

  test('cannot make the parameters larger than a submission', () => {
    const large = JSON.stringify('é'.repeat(FILLED_PARAMETERS_MAX / 4))
    expect(() => fillReferences('{"a":{"$result":"a"},"b":{"$result":"a"}}', () => large)).toThrow(
      `the limit is ${FILLED_PARAMETERS_MAX}`
    )
    expect(fillReferences('{"a":{"$result":"a"}}', () => large).length).toBeLessThan(FILLED_PARAMETERS_MAX)
  })

  test('cannot nest them deeper than a submission, and brackets inside strings do not count', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}"[[["${']'.repeat(levels)}`
    expect(() => fillReferences('{"a":{"$result":"a"}}', () => nested(32))).toThrow('deeper than 32 levels')
    expect(fillReferences('{"a":{"$result":"a"}}', () => nested(31))).toBe(`{"a":${nested(31)}}`)
    expect(() => fillReferences('{"a":{"$result":"a"}}', () => nested(100_000))).toThrow('deeper than 32 levels')
  })

  test('is the value that a JSON parser finds at the same path', () => {
    fc.assert(
      fc.property(fc.json(), fc.array(fc.nat(5), { maxLength: 4 }), (text, way) => {
        let value: unknown = JSON.parse(text)
        let pointer = ''
        for (const step of way) {
          if (typeof value !== 'object' || value === null) break
          const names = Object.keys(value)
          const name = names[step % Math.max(names.length, 1)]
          if (name === undefined || name === '__proto__') break
          value = (value as Record<string, unknown>)[name]
          pointer += `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
        }
        expect(JSON.parse(jsonAt(text, pointer)!)).toEqual(value)
      })
    )
  })

  test('the items of a list are split one by one', () => {
    expect(jsonItems(' [ 1 , [2,[3]] ,{"a":[4,"]"]}, "," ] ')).toEqual(['1', '[2,[3]]', '{"a":[4,"]"]}', '","'])
    expect(jsonItems('[ ]')).toEqual([])
    expect(() => jsonItems('{}')).toThrow('a JSON array was expected')
  })
})
