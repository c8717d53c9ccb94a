// Capsules: created, read, listed, changed and deleted.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'
import { asymmetricQiskit, bellQasm3 } from '../../support/jobs/builders.js'

const api = await startApi('capsules')
const { db } = api.database
afterAll(() => api.close())

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const nobody = '01900000-0000-7000-8000-000000000000'

type Member = TestUser & { teamId: string }
let ada: Member
let bob: Member
/** Another member of Ada's team. */
let mate: TestUser
let scriptId: string
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  bob = await api.signUpWithTeam()
  mate = await api.signUp()
  await db.execute(sql`insert into members (team_id, user_id, role) values (${ada.teamId}, ${mate.id}, 'member')`)
  scriptId = (await ada.post('/api/scripts/upload', { name: 'Bell', script_content: bellQasm3() })).body.script_id
})

const create = (user: TestUser, body: Record<string, unknown> = {}) =>
  user.post('/api/capsules/create', { name: 'Bell', ...body })
async function created(user: TestUser, body: Record<string, unknown> = {}): Promise<string> {
  const answer = await create(user, body)
  if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${answer.text}`)
  return answer.body.capsule_id
}
const read = async (user: TestUser, id: string) => (await user.get(`/api/capsules/${id}`)).body
const patch = (user: TestUser, id: string, body: unknown) => user.ask('PATCH', `/api/capsules/${id}`, body)
const remove = (user: TestUser, id: string) => user.ask('DELETE', `/api/capsules/${id}`)
const task = (changes: Record<string, unknown> = {}) => ({
  name: 'main',
  script_id: scriptId,
  backend: 'local',
  parameters: { shots: 100 },
  ...changes
})
const workflow = (...tasks: Record<string, unknown>[]) => ({ workflow: { tasks: tasks.map(task) } })

const errorOf = ({ status, body }: ApiResponse) => [status, body.error]

test('a list of capsules is filtered by the end of an id, in the teams of the caller', async () => {
  const id = await created(ada)
  const page = (await mate.get(`/api/capsules?id_end=${id.slice(-8)}`)).body
  expect([page.capsules.map((capsule: { id: string }) => capsule.id), page.total]).toEqual([[id], 1])
  expect((await bob.get(`/api/capsules?id_end=${id.slice(-8)}`)).body).toMatchObject({ capsules: [], total: 0 })
  expect((await ada.get('/api/capsules?id_end=short')).status).toBe(400)
})

describe('creating a capsule', () => {
  test('returns 201 with the id of a draft, whose record has every field', async () => {
    const answer = await create(ada, {
      description: 'Two qubits',
      tags: ['bell', 'demo'],
      max_budget_usd: 12.5,
      retention_years: 7,
      regulatory_framework: 'GxP',
      ...workflow({})
    })
    expect([answer.status, answer.body]).toEqual([201, { capsule_id: uuid }])
    const record = await read(ada, answer.body.capsule_id)
    expect(record).toEqual({
      id: answer.body.capsule_id,
      team_id: ada.teamId,
      owner_id: ada.id,
      name: 'Bell',
      description: 'Two qubits',
      tags: ['bell', 'demo'],
      state: 'draft',
      workflow: {
        tasks: [
          {
            name: 'main',
            script_id: scriptId,
            script_version: 1,
            framework: 'openqasm',
            backend: 'local',
            parameters: { shots: 100 },
            execution_mode: 'direct',
            timeout_seconds: 120,
            authorable: true
          }
        ]
      },
      definition_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      backends: ['local'],
      can: expect.objectContaining({ update: true, clone: true }),
      max_budget_usd: 12.5,
      spent_usd: 0,
      reserved_usd: 0,
      retention_years: 7,
      regulatory_framework: 'GxP',
      source_job_id: null,
      cloned_from: null,
      derived_from: null,
      imported: null,
      script: null,
      parameters: null,
      evidence: { task_executions: 0, artifacts: [] },
      seal: null,
      publication: null,
      schedule: null,
      created_at: expect.any(String),
      updated_at: expect.any(String)
    })
  })

  test('creates the personal team of a caller without one', async () => {
    const newcomer = await api.signUp()
    const id = await created(newcomer)
    const { teams } = (await newcomer.get('/api/auth/session')).body
    expect(teams).toHaveLength(1)
    expect((await read(newcomer, id)).team_id).toBe(teams[0].id)
  })

  test('stores the program, so that a later change of the script does not change the capsule', async () => {
    const script = (await ada.post('/api/scripts/upload', { name: 'Changing', script_content: bellQasm3() })).body
      .script_id
    const id = await created(ada, workflow({ script_id: script }))
    const before = await read(ada, id)
    await ada.ask('PATCH', `/api/scripts/${script}`, { script_content: `${bellQasm3()}// changed\n` })
    expect(await read(ada, id)).toEqual(before)
    const [row] = await db.execute(sql`select definition from capsules where id = ${id}`)
    expect(JSON.parse(row!.definition as string).tasks[0].source.text).toBe(bellQasm3())
  })

  test.each(['POST', 'PATCH'])('keeps the numbers of parameters as they are written in a %s', async (method) => {
    const parameters = '{ "theta": 1.0, "far": -1e300, "n": 2, "list": [0.0, 1] }'
    const { parameters: _, ...rest } = task()
    const body = `{"name":"Floats","workflow":{"tasks":[${JSON.stringify(rest).slice(0, -1)},"parameters":${parameters}}]}}`
    const json = { 'content-type': 'application/json' }
    const id = method === 'PATCH' ? await created(ada) : null
    const answer = await ada.ask(method, id ? `/api/capsules/${id}` : '/api/capsules/create', body, json)
    expect([answer.status, answer.body.error]).toEqual([id ? 200 : 201, undefined])
    const ran = await ada.post(`/api/capsules/${id ?? answer.body.capsule_id}/run`, { mode: 'template' })
    expect([ran.status, ran.body.error]).toEqual([201, undefined])
    const [job] = await db.execute(sql`select params from jobs where id = ${ran.body.job_id}`)
    expect(job!.params).toBe('{"shots":1000,"theta":1.0,"far":-1e300,"n":2,"list":[0.0, 1]}')
  })

  const fits: [string, () => Record<string, unknown>][] = [
    ['a name of 1 character', () => ({ name: 'x' })],
    ['a name of 200 characters', () => ({ name: 'é'.repeat(200) })],
    ['a description of 1,000 characters', () => ({ description: 'x'.repeat(1_000) })],
    ['10 tags of 50 characters', () => ({ tags: Array.from({ length: 10 }, (_, at) => `${at}`.padEnd(50, 'x')) })],
    ['a budget of 0', () => ({ max_budget_usd: 0 })],
    ['a budget of 500', () => ({ max_budget_usd: 500 })],
    ['a retention of 1 year', () => ({ retention_years: 1 })],
    ['a retention of 100 years', () => ({ retention_years: 100 })],
    ['backends', () => ({ backends: ['local', 'aer-noisy'] })],
    ['no tasks', () => ({ workflow: { tasks: [] } })],
    ['50 tasks', () => workflow(...Array.from({ length: 50 }, (_, at) => ({ name: `task ${at}` })))],
    [
      'a task whose parameters use the result of another',
      () => workflow({ name: 'a', parameters: { shots: 10, theta: { $result: 'b', path: '/shots' } } }, { name: 'b' })
    ],
    ['inline code', () => workflow({ script_id: undefined, inline_code: asymmetricQiskit() })],
    ['tasks with any visible name', () => workflow({ name: 'Bell: step 1' }, { name: '🔔' }, { name: '..' })],
    ['a script by its slug', () => workflow({ script_id: undefined, script_slug: 'bell' })]
  ]
  test.each(fits)('accepts %s', async (_, body) => {
    expect(errorOf(await create(ada, body()))).toEqual([201, undefined])
  })

  const refused: [string, () => Record<string, unknown>, string, number?][] = [
    ['no name', () => ({ name: undefined }), 'name: is required'],
    ['an empty name', () => ({ name: '' }), 'name: must be a string of 1 to 200 characters'],
    ['a blank name', () => ({ name: '  ' }), 'name: must match'],
    ['a name of 201', () => ({ name: 'x'.repeat(201) }), 'name: must be a string of 1 to 200 characters'],
    ['a description of 1,001', () => ({ description: 'x'.repeat(1_001) }), 'description: must be a string'],
    ['11 tags', () => ({ tags: Array.from({ length: 11 }, () => 'x') }), 'tags: must be a list'],
    ['a tag of 51', () => ({ tags: ['x'.repeat(51)] }), 'tags[0]: must be a string'],
    ['a budget of 500.01', () => ({ max_budget_usd: 500.01 }), 'max_budget_usd: must be a number from 0 to 500'],
    ['a budget below 0', () => ({ max_budget_usd: -1 }), 'max_budget_usd: must be'],
    ['a budget of seven decimals', () => ({ max_budget_usd: 0.0000001 }), 'max_budget_usd: must be a number of USD'],
    ['no year', () => ({ retention_years: 0 }), 'retention_years: must be an integer from 1 to 100'],
    ['101 years', () => ({ retention_years: 101 }), 'retention_years: must be'],
    ['half a year', () => ({ retention_years: 1.5 }), 'retention_years: must be'],
    ['an unknown backend', () => ({ backends: ['nope'] }), 'backends[0]: no backend is called "nope"'],
    ['a task whose name begins with a space', () => workflow({ name: ' x' }), 'workflow.tasks[0].name: must match'],
    ['a task whose name turns text', () => workflow({ name: 'a\u202eb' }), 'workflow.tasks[0].name: must match'],
    ['a task whose name has two lines', () => workflow({ name: 'a\nb' }), 'workflow.tasks[0].name: must match'],
    [
      'a task whose name fits no folder',
      () => workflow({ name: 'é'.repeat(40) }),
      'workflow.tasks[0].name: is too long'
    ],
    ['a task without a name', () => workflow({ name: undefined }), 'workflow.tasks[0].name: is required'],
    ['a task without a script', () => workflow({ script_id: undefined }), 'workflow.tasks[0].script_id: is required'],
    ['a task without a backend', () => workflow({ backend: undefined }), 'workflow.tasks[0].backend: is required'],
    [
      'a task without parameters',
      () => workflow({ parameters: undefined }),
      'workflow.tasks[0].parameters: is required'
    ],
    [
      'a script that is none',
      () => workflow({ script_id: nobody }),
      'workflow.tasks[0].script_id: no such script',
      404
    ],
    [
      'an unknown backend of a task',
      () => workflow({ backend: 'nope' }),
      'workflow.tasks[0].backend: no backend is called'
    ],
    ['no shots at all', () => workflow({ parameters: { shots: 0 } }), 'workflow.tasks[0].parameters.shots: must be'],
    [
      '100,001 shots',
      () => workflow({ parameters: { shots: 100_001 } }),
      'workflow.tasks[0].parameters.shots: must be'
    ],
    [
      'shots of another',
      () => workflow({ name: 'a', parameters: { shots: { $result: 'b' } } }, { name: 'b' }),
      'workflow.tasks[0].parameters.shots: the price depends on it'
    ],
    ['two tasks of one name', () => workflow({}, {}), 'workflow.tasks[1].name: another task is called "main" already'],
    [
      'names that differ in case',
      () => workflow({}, { name: 'MAIN' }),
      'workflow.tasks[1].name: another task has the same name'
    ],
    [
      'an unknown result',
      () => workflow({ parameters: { theta: { $result: 'x' } } }),
      'workflow.tasks[0].parameters.theta: no task is called "x"'
    ],
    [
      'a circle',
      () =>
        workflow(
          { name: 'a', parameters: { x: { $result: 'b' } } },
          { name: 'b', parameters: { x: { $result: 'a' } } }
        ),
      'workflow.tasks[0].parameters: tasks take each other'
    ],
    [
      'an integer that no reader carries',
      () => ({ name: 'x', description: 'y', max_budget_usd: 2 ** 60 }),
      'max_budget_usd: an integer beyond'
    ],
    [
      '51 tasks',
      () => workflow(...Array.from({ length: 51 }, (_, at) => ({ name: `t${at}` }))),
      'workflow.tasks: must be a list'
    ],
    ...[
      'state',
      'owner_id',
      'id',
      'seal',
      'source_job_id',
      'cloned_from',
      'imported',
      'evidence',
      'definition',
      'spent_usd'
    ].map((field): [string, () => Record<string, unknown>, string] => [
      field,
      () => ({ [field]: 'sealed' }),
      `${field}: is not a field`
    ])
  ]
  test.each(refused)('refuses %s by name', async (_, body, message, status = 400) => {
    expect(errorOf(await create(ada, body()))).toEqual([status, expect.stringContaining(message)])
  })

  test("is refused for another user's team, and with another user's script", async () => {
    expect(errorOf(await create(bob, { team_id: ada.teamId }))).toEqual([404, 'team_id: no such team'])
    expect(errorOf(await create(bob, workflow({})))).toEqual([404, 'workflow.tasks[0].script_id: no such script'])
  })
})

describe('changing a capsule', () => {
  test('sets only the named fields, and a new workflow gets another digest', async () => {
    const id = await created(ada, { description: 'before', ...workflow({}) })
    const before = await read(ada, id)
    const renamed = await patch(ada, id, { name: 'Renamed', tags: ['x'] })
    expect(renamed.status).toBe(200)
    expect(renamed.body).toEqual({ ...before, name: 'Renamed', tags: ['x'], updated_at: expect.any(String) })
    const other = (await patch(ada, id, workflow({ backend: 'aer-noisy', parameters: {} }))).body
    expect(other.definition_sha256).not.toBe(before.definition_sha256)
    expect(other.backends).toEqual(['aer-noisy'])
    const back = (await patch(ada, id, workflow({}))).body
    expect(back.definition_sha256).toBe(before.definition_sha256)
    expect((await patch(ada, id, { workflow: null, max_budget_usd: null })).body.workflow).toBeNull()
    expect(await read(ada, id)).toMatchObject({ workflow: null, backends: [], description: 'before' })
  })

  test('keeps explicitly named backends when the tasks change', async () => {
    const id = await created(ada, { backends: ['local', 'aer-mps'], ...workflow({}) })
    expect((await patch(ada, id, workflow({ backend: 'aer-noisy' }))).body.backends).toEqual(['local', 'aer-mps'])
  })

  test('requires a field, and refuses unknown ones', async () => {
    const id = await created(ada)
    expect((await patch(ada, id, {})).status).toBe(400)
    for (const field of ['state', 'team_id', 'owner_id', 'seal', 'source_job_id'])
      expect(errorOf(await patch(ada, id, { [field]: ada.id }))).toEqual([
        400,
        `${field}: is not a field of this request`
      ])
    expect((await read(ada, id)).state).toBe('draft')
  })
})

describe('reading capsules', () => {
  test('is limited to members; others get the same 404 as for an unknown id', async () => {
    const id = await created(ada)
    expect((await mate.get(`/api/capsules/${id}`)).status).toBe(200)
    const answers = [await bob.get(`/api/capsules/${id}`), await bob.get(`/api/capsules/${nobody}`)]
    expect(answers.map(errorOf)).toEqual([
      [404, 'no such capsule'],
      [404, 'no such capsule']
    ])
    for (const [method, rest] of [
      ['PATCH', ''],
      ['DELETE', '']
    ] as const)
      expect(
        errorOf(await bob.ask(method, `/api/capsules/${id}${rest}`, method === 'PATCH' ? { name: 'x' } : undefined))
      ).toEqual([404, 'no such capsule'])
  })

  test('lists newest first, by state, text, tag, owner and team', async () => {
    const carol = await api.signUp()
    const first = await created(carol, { name: 'Alpha', tags: ['one'], description: 'with 100% noise' })
    const second = await created(carol, { name: 'Beta', tags: ['one', 'two'] })
    const list = async (query = '') => {
      const { capsules, total } = (await carol.get(`/api/capsules${query}`)).body
      return [total, capsules.map(({ id }: { id: string }) => id)]
    }
    expect(await list()).toEqual([2, [second, first]])
    expect(await list('?limit=1&offset=1')).toEqual([2, [first]])
    expect(await list('?state=draft&tag=two')).toEqual([1, [second]])
    expect(await list('?state=sealed')).toEqual([0, []])
    expect(await list('?q=ALPH')).toEqual([1, [first]])
    expect(await list('?q=100%25')).toEqual([1, [first]])
    expect(await list('?mine=true')).toEqual([2, [second, first]])
    expect((await carol.get(`/api/capsules?team_id=${ada.teamId}`)).status).toBe(404)
    expect((await (await api.signUp()).get('/api/capsules')).body).toMatchObject({ capsules: [], total: 0 })
    const ours = (await mate.get(`/api/capsules?mine=true`)).body
    expect(ours.capsules).toEqual([])
  })
})

describe('deleting a capsule', () => {
  test('removes it, and keeps its audit trail', async () => {
    const id = await created(ada)
    expect(errorOf(await remove(mate, id))).toEqual([403, 'Only the owner of a capsule may delete it'])
    const answer = await remove(ada, id)
    expect([answer.status, answer.body]).toEqual([200, { success: true }])
    expect((await ada.get(`/api/capsules/${id}`)).status).toBe(404)
    const entries = await db.execute(
      sql`select action, previous_state, new_state from audit_entries where capsule_id = ${id} order by seq`
    )
    expect([...entries]).toEqual([
      { action: 'capsule.created', previous_state: null, new_state: 'draft' },
      { action: 'capsule.deleted', previous_state: 'draft', new_state: null }
    ])
  })
})
