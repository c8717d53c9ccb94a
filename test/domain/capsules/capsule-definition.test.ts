import { describe, expect, test } from '@jest/globals'
import {
  assertDefinition,
  type CapsuleTask,
  definitionText,
  parametersText,
  readDefinition,
  submissionOfTask,
  taskOfJob
} from '../../../domain/capsules/capsule-definition.js'

const task = (changes: Partial<CapsuleTask> = {}): CapsuleTask => ({
  name: 'main',
  source: { kind: 'inline', framework: 'qiskit', text: 'print("e\u0301")\r\n' },
  backend: 'local',
  parameters: { shots: 10 },
  execution_mode: 'direct',
  timeout_seconds: 60,
  circuit_count: 1,
  ...changes
})
const job = { backend: 'local', params: '{"shots":10}', mode: 'temporal' as const, timeoutSeconds: 5, circuitCount: 3 }
const source = { kind: 'inline' as const, format: null, framework: 'qiskit', text: 'x', scriptId: null, version: null }

describe('the text of a definition', () => {
  test('does not depend on the order of its fields, and keeps sources byte for byte', () => {
    const definition = { tasks: [task({ parameters: { b: 1, a: [1.5, 1e21], shots: 2 } })] }
    const turned = { tasks: [Object.fromEntries(Object.entries(definition.tasks[0]!).reverse()) as CapsuleTask] }
    expect(definitionText(turned)).toBe(definitionText(definition))
    expect(readDefinition(definitionText(definition))).toEqual(definition)
  })
})

describe("the definition of a job's capsule", () => {
  test('yields the same submission again', () => {
    const native = { model: 'single_task' as const, entrypoint: 'f', input: '{"args":[1e400]}' }
    const made = taskOfJob(job, { ...source, kind: 'script', scriptId: 'id', version: 3, native, maxCost: 5_000n })
    expect(submissionOfTask(made, { teamId: 't', name: 'n' })).toMatchObject({
      source: { kind: 'script', scriptId: 'id', version: 3, text: 'x', framework: 'qiskit' },
      params: { value: { shots: 10 } },
      mode: 'temporal',
      timeoutSeconds: 5,
      circuitCount: 3,
      maxCost: 5_000n,
      native
    })
  })

  test.each([
    ['an integer beyond 2^53', '{"shots":10,"n":[-9007199254740993,"1e400"]}', { n: ['-9007199254740993', '1e400'] }],
    ['a whole number written as a float', '{"shots":10,"x":1.0,"y":[1e3,-0.0]}', { x: 1, y: [1000, -0] }],
    ['a number beyond the range of doubles', '{"shots":10,"x \\" 1":1e400,"y":1.5}', { 'x " 1': '1e400', y: 1.5 }]
  ])('keeps %s as it was written', (_, params, shown) => {
    const made = taskOfJob({ ...job, params }, { ...source, native: null, maxCost: null })
    expect(made.parameters).toEqual({ shots: 10, ...shown })
    expect(parametersText(readDefinition(definitionText({ tasks: [made] })).tasks[0]!)).toBe(params)
  })
})

describe('a definition from outside', () => {
  test('is accepted with large numbers in its parameters, which are also stored as text', () => {
    const made = taskOfJob(
      { ...job, params: '{"shots":10,"n":[-9007199254740993],"x":1e400}' },
      { ...source, native: null, maxCost: null }
    )
    expect(assertDefinition(readDefinition(definitionText({ tasks: [made] })))).toEqual({ tasks: [made] })
    const where = 'definition.tasks[0].parameters_text: '
    for (const [text, message] of [
      ['{"shots":11,"n":[-9007199254740993],"x":1e400}', 'is not the text of the parameters'],
      ['{"shots":10,"n":[-9007199254740993]', 'is not the text of the parameters'],
      ['["', 'is not the text of the parameters'],
      ['['.repeat(100_000), 'is nested deeper than 32 levels']
    ])
      expect(() => assertDefinition({ tasks: [{ ...made, parameters_text: text }] })).toThrow(where + message)
  })

  test('is accepted when it is valid', () => {
    const definition = { tasks: [task(), task({ name: 'second', parameters: { x: { $result: 'main' } } })] }
    expect(assertDefinition(definition)).toEqual(definition)
  })

  test.each<[string, unknown, RegExp]>([
    ['no list of tasks', {}, /^definition/],
    ['an unknown field', { tasks: [], state: 'sealed' }, /^definition/],
    ['an unknown field of a task', { tasks: [{ ...task(), owner_id: 'x' }] }, /^definition\.tasks\.0/],
    [
      'a source of no kind',
      { tasks: [{ ...task(), source: { kind: 'file', path: '/etc/passwd' } }] },
      /^definition\.tasks\.0/
    ],
    ['a name of two lines', { tasks: [task({ name: 'a\nb' })] }, /^definition\.tasks\.0\.name/],
    ['an unknown result', { tasks: [task({ parameters: { x: { $result: 'none' } } })] }, /^definition\.tasks\[0\]/],
    [
      'too many shots',
      { tasks: [task({ parameters: { shots: 100_001 } })] },
      /^definition\.tasks\[0\]\.parameters\.shots/
    ],
    [
      'too much program',
      {
        tasks: Array.from({ length: 9 }, (_, at) =>
          task({ name: `t${at}`, source: { kind: 'inline', framework: 'qiskit', text: 'x'.repeat(1_048_576) } })
        )
      },
      /at most 8388608/
    ]
  ])('is refused by name for %s', (_, value, message) => {
    expect(() => assertDefinition(value)).toThrow(
      expect.objectContaining({ code: 'validation_error', message: expect.stringMatching(message) })
    )
  })
})
