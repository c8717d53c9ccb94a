// The form that changes a draft, against the real API: what is not touched stays, down to the digit.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { stringify } from 'lossless-json'
import {
  type CapsuleForm,
  changedBody,
  formOfDraft,
  formOfTask
} from '../../../apps/console/capsules/create/task-form.js'
import { readCapsuleRecord } from '../../../apps/console/capsules/record/capsule-record.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { bellQasm3 } from '../../support/jobs/builders.js'

const api = await startApi('change_draft')
const { db } = api.database
afterAll(() => api.close())

let ada: TestUser
let script: string
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  script = (await ada.post('/api/scripts/upload', { name: 'Bell', script_content: bellQasm3() })).body.script_id
})

const parameters =
  '{"shots":500,"ratio":1.0,"far":-1e300,"whole":9007199254740991,"large":12345678901234567890.0,"rows":[0.10,{"deep":2.0}]}'

/** A draft in which nothing is as a new task would have it. */
async function draft(): Promise<string> {
  const tasks = [
    { name: 'first', inline_code: bellQasm3(), framework: 'openqasm' },
    { name: 'second', script_id: script }
  ]
    .map((task) => JSON.stringify({ ...task, backend: 'local', execution_mode: 'temporal', timeout_seconds: 900 }))
    .map((task, place) => `${task.slice(0, -1)},"parameters":${place === 0 ? parameters : secondParameters}}`)
  const text = `{"name":"A draft","description":"d","tags":["a, with a comma","b"],"max_budget_usd":1.5,"retention_years":7,"regulatory_framework":"GxP","workflow":{"tasks":[${tasks}]}}`
  const { status, body } = await ada.ask('POST', '/api/capsules/create', text)
  expect([status, body]).toEqual([201, { capsule_id: expect.any(String) }])
  return body.capsule_id
}
const secondParameters = '{"shots":1000.0,"circuit_count":3,"start":{"$result":"first","path":"/counts"}}'

const read = async (id: string) => readCapsuleRecord((await ada.get(`/api/capsules/${id}`)).text)

interface Row {
  name: string
  description: string
  tags: string
  definition: { tasks: Record<string, unknown>[] }
}
async function rowOf(id: string): Promise<Row> {
  const [row] = await db.execute(sql`select name, description, tags::text, max_budget_micro::text, retention_years,
    regulatory_framework, backends::text, definition from capsules where id = ${id}`)
  return { ...(row as unknown as Row), definition: JSON.parse(row!.definition as string) as Row['definition'] }
}

/** Sends what the form sends after `act`. */
async function change(id: string, act: (form: CapsuleForm) => CapsuleForm): Promise<void> {
  const { form, withTasks } = formOfDraft(await read(id))
  const { status, text } = await ada.ask(
    'PATCH',
    `/api/capsules/${id}`,
    stringify(changedBody(act(form), form, withTasks))!
  )
  expect([status, text]).toEqual([200, expect.any(String)])
}

const withTask = (place: number, changes: Partial<CapsuleForm['tasks'][number]>) => (form: CapsuleForm) => ({
  ...form,
  tasks: form.tasks.map((task, at) => (at === place ? { ...task, ...changes } : task))
})

describe('a change of a draft', () => {
  test('of its description leaves everything else as it is stored', async () => {
    const id = await draft()
    const before = await rowOf(id)
    await change(id, (form) => ({ ...form, description: 'another' }))
    expect(await rowOf(id)).toEqual({ ...before, description: 'another' })
  })

  test('of the name of a task keeps mode, time limit, framework and every digit of all tasks', async () => {
    const id = await draft()
    const before = await rowOf(id)
    expect(before.definition.tasks[0]).toMatchObject({ execution_mode: 'temporal', timeout_seconds: 900 })
    expect(before.definition.tasks[0]!.parameters_text).toBe(parameters)
    await change(id, withTask(1, { name: 'renamed' }))
    const [first, second] = before.definition.tasks
    // The text keeps every digit; the order of its fields means nothing.
    const after = await rowOf(id)
    expect({ ...after, definition: null }).toEqual({ ...before, definition: null })
    expect(after.definition.tasks.map(sorted)).toEqual([first!, { ...second!, name: 'renamed' }].map(sorted))
  })

  test('of a mode and a time limit sets them, and an emptied one is the default again', async () => {
    const id = await draft()
    await change(id, withTask(0, { mode: 'direct', timeoutSeconds: '30' }))
    expect((await rowOf(id)).definition.tasks[0]).toMatchObject({ execution_mode: 'direct', timeout_seconds: 30 })
    await change(id, withTask(0, { mode: '', timeoutSeconds: '' }))
    expect((await rowOf(id)).definition.tasks[0]).toMatchObject({ execution_mode: 'direct', timeout_seconds: 120 })
  })
})

test('a task with a cost limit of its own, which no request can state, has no place in the form', async () => {
  const id = await draft()
  const { definition } = await rowOf(id)
  definition.tasks[0]!.max_cost = '1000000'
  await db.execute(sql`update capsules set definition = ${JSON.stringify(definition)} where id = ${id}`)
  const { tasks } = await read(id)
  expect(tasks.map((task) => formOfTask(task)?.name ?? null)).toEqual([null, 'second'])
})

const sorted = ({ parameters_text: text, ...task }: Record<string, unknown>) => ({
  ...task,
  digits: typeof text === 'string' ? text.match(/"[^"]*":|-?[\d.e]+/g)!.toSorted() : null
})
