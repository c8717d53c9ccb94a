// Capsules: made, read, listed, changed, deleted, cloned, and made of jobs.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { completeAttempt, openAttempt } from '../../db/attempts.js'
import { beginJob, completeJob } from '../../db/job-steps.js'
import { type Answer, startApi, type TestUser } from '../support/api.js'
import { asymmetricQiskit, bellQasm3, submission } from '../support/builders.js'
import { bellResult, finishJob } from '../support/capsule-rows.js'

const api = await startApi('capsules')
const { db } = api.database
afterAll(() => api.close())

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const nobody = '01900000-0000-7000-8000-000000000000'

type Member = TestUser & { teamId: string }
let ada: Member
let bob: Member
/** Of Ada's team, beside her. */
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
const fromJob = (user: TestUser, body: Record<string, unknown>) => user.post('/api/capsules/from-job', body)
const task = (changes: Record<string, unknown> = {}) => ({
  name: 'main',
  script_id: scriptId,
  backend: 'local',
  parameters: { shots: 100 },
  ...changes
})
const workflow = (...tasks: Record<string, unknown>[]) => ({ workflow: { tasks: tasks.map(task) } })

async function finished(user: TestUser, changes: Record<string, unknown> = {}, result = bellResult()): Promise<string> {
  const id = await user.submit(submission(changes))
  await finishJob(db, id, result)
  return id
}

const errorOf = ({ status, body }: Answer) => [status, body.error]

describe('creating', () => {
  test('answers 201 with the id of a draft, whose record has every field', async () => {
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
            timeout_seconds: 120
          }
        ]
      },
      definition_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      backends: ['local'],
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

  test('makes the personal team of somebody who has none yet', async () => {
    const newcomer = await api.signUp()
    const id = await created(newcomer)
    const { teams } = (await newcomer.get('/api/auth/session')).body
    expect(teams).toHaveLength(1)
    expect((await read(newcomer, id)).team_id).toBe(teams[0].id)
  })

  test('keeps the program as it was: a later change of the script changes no capsule', async () => {
    const script = (await ada.post('/api/scripts/upload', { name: 'Changing', script_content: bellQasm3() })).body
      .script_id
    const id = await created(ada, workflow({ script_id: script }))
    const before = await read(ada, id)
    await ada.ask('PATCH', `/api/scripts/${script}`, { script_content: `${bellQasm3()}// changed\n` })
    expect(await read(ada, id)).toEqual(before)
    const [row] = await db.execute(sql`select definition from capsules where id = ${id}`)
    expect(JSON.parse(row!.definition as string).tasks[0].source.text).toBe(bellQasm3())
  })

  const fits: [string, () => Record<string, unknown>][] = [
    ['a name of 1 character', () => ({ name: 'x' })],
    ['a name of 200 characters', () => ({ name: 'é'.repeat(200) })],
    ['a description of 1,000', () => ({ description: 'x'.repeat(1_000) })],
    ['10 tags of 50', () => ({ tags: Array.from({ length: 10 }, (_, at) => `${at}`.padEnd(50, 'x')) })],
    ['a budget of 0', () => ({ max_budget_usd: 0 })],
    ['a budget of 500', () => ({ max_budget_usd: 500 })],
    ['1 year', () => ({ retention_years: 1 })],
    ['100 years', () => ({ retention_years: 100 })],
    ['backends', () => ({ backends: ['local', 'aer-noisy'] })],
    ['no tasks', () => ({ workflow: { tasks: [] } })],
    ['50 tasks', () => workflow(...Array.from({ length: 50 }, (_, at) => ({ name: `task ${at}` })))],
    [
      'a task whose parameters take the result of another',
      () => workflow({ name: 'a', parameters: { shots: 10, theta: { $result: 'b', path: '/shots' } } }, { name: 'b' })
    ],
    ['inline code', () => workflow({ script_id: undefined, inline_code: asymmetricQiskit() })],
    ['a script by its slug', () => workflow({ script_id: undefined, script_slug: 'bell' })]
  ]
  test.each(fits)('takes %s', async (_, body) => {
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
      'workflow.tasks[0].parameters.shots: a price depends on it'
    ],
    ['two tasks of one name', () => workflow({}, {}), 'workflow.tasks[1].name: another task is called "main" already'],
    [
      'names that differ in case',
      () => workflow({}, { name: 'MAIN' }),
      'workflow.tasks[1].name: another task has the same name'
    ],
    ['a name that is no folder', () => workflow({ name: '../x' }), 'workflow.tasks[0].name: must match'],
    ['a name of dots', () => workflow({ name: '..' }), 'workflow.tasks[0].name: must match'],
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

  test("is refused for a team of others, and in somebody else's script", async () => {
    expect(errorOf(await create(bob, { team_id: ada.teamId }))).toEqual([404, 'team_id: no such team'])
    expect(errorOf(await create(bob, workflow({})))).toEqual([404, 'workflow.tasks[0].script_id: no such script'])
  })
})

describe('changing', () => {
  test('changes what is named and nothing else; a new workflow has another digest', async () => {
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

  test('keeps backends that were named when the tasks change', async () => {
    const id = await created(ada, { backends: ['local', 'aer-mps'], ...workflow({}) })
    expect((await patch(ada, id, workflow({ backend: 'aer-noisy' }))).body.backends).toEqual(['local', 'aer-mps'])
  })

  test('needs a field, and refuses what is none', async () => {
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

describe('reading', () => {
  test('is for members; to others it is as if it were not there', async () => {
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

describe('deleting', () => {
  test('removes it, not its audit trail', async () => {
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

describe('making one of a completed job', () => {
  test('packages what ran, its parameters, backend, result, environment and times', async () => {
    const jobId = await finished(ada, { name: 'My job', params: { shots: 100, note: 'x', seed: 7 } })
    const answer = await fromJob(ada, { job_id: jobId, tags: ['t'] })
    expect([answer.status, answer.body]).toEqual([201, { capsule_id: uuid }])
    const record = await read(mate, answer.body.capsule_id)
    expect(record).toMatchObject({
      state: 'runnable',
      name: 'My job',
      tags: ['t'],
      owner_id: ada.id,
      source_job_id: jobId,
      parameters: { shots: 100, note: 'x', seed: 7 },
      script: { script_id: null, framework: 'openqasm', inline_code: bellQasm3() },
      backends: ['local'],
      evidence: { task_executions: 1 }
    })
    const names = record.evidence.artifacts.map(({ name }: { name: string }) => name)
    expect(names).toEqual(
      [
        'backend.json',
        'circuit.qasm',
        'environment.json',
        'job.json',
        'parameters.json',
        'result.json',
        'source.qasm',
        'timing.json'
      ].map((name) => `tasks/main/${name}`)
    )
    const [file] = await db.execute(sql`select content, sha256 from capsule_files
      where capsule_id = ${record.id} and name = 'tasks/main/result.json'`)
    expect((file!.content as Buffer).toString()).toBe(bellResult())
    expect(file!.sha256).toBe(createHash('sha256').update(bellResult()).digest('hex'))
    expect((await ada.get(`/api/jobs/${jobId}`)).body.capsule_id).toBe(record.id)
    const listed = (await ada.get(`/api/jobs?capsule_id=${record.id}`)).body
    expect(listed.jobs.map(({ id }: { id: string }) => id)).toEqual([jobId])
  })

  test('keeps numbers that no JavaScript number holds', async () => {
    const result = '{"n":123456789012345678901234567890,"x":1e400}'
    const jobId = await ada.submit(submission())
    await db.execute(sql`update jobs set params = '{"shots":100,"big":12345678901234567890123}' where id = ${jobId}`)
    await finishJob(db, jobId, result)
    const id = (await fromJob(ada, { job_id: jobId })).body.capsule_id
    const files = await db.execute(sql`select name, content from capsule_files where capsule_id = ${id}`)
    const text = (name: string) =>
      (files.find((row) => row.name === `tasks/main/${name}`)!.content as Buffer).toString()
    expect(text('result.json')).toBe(result)
    expect(text('parameters.json')).toBe('{"shots":100,"big":12345678901234567890123}')
    const [row] = await db.execute(sql`select definition from capsules where id = ${id}`)
    expect(JSON.parse(row!.definition as string).tasks[0].parameters_text).toContain('12345678901234567890123')
  })

  test('is refused for a job that has not completed, and one of others', async () => {
    const pending = await ada.submit(submission())
    expect(errorOf(await fromJob(ada, { job_id: pending }))).toEqual([
      400,
      'job_id: must be a completed job (it is pending)'
    ])
    expect(errorOf(await fromJob(bob, { job_id: pending }))).toEqual([404, 'job_id: no such job'])
    expect(errorOf(await fromJob(ada, { job_id: nobody }))).toEqual([404, 'job_id: no such job'])
  })

  test('cannot be changed, and is deleted by its owner', async () => {
    const id = (await fromJob(ada, { job_id: await finished(ada) })).body.capsule_id
    expect(errorOf(await patch(ada, id, { name: 'x' }))).toEqual([
      403,
      'This capsule is runnable; only a draft capsule can be changed'
    ])
    expect((await remove(ada, id)).status).toBe(200)
  })
})

describe('create_capsule at submission', () => {
  test('makes one when the job completes, and the job names it', async () => {
    const jobId = await ada.submit(submission({ create_capsule: true, capsule_name: 'Promised' }))
    expect((await ada.get(`/api/jobs/${jobId}`)).body.capsule_id).toBeNull()
    await finishJob(db, jobId)
    const job = (await ada.get(`/api/jobs/${jobId}`)).body
    expect(job).toMatchObject({ status: 'completed', status_reason: null, capsule_id: uuid })
    expect(await read(ada, job.capsule_id)).toMatchObject({
      name: 'Promised',
      state: 'runnable',
      owner_id: ada.id,
      source_job_id: jobId,
      evidence: { task_executions: 1 }
    })
    const [entry] = await db.execute(sql`select actor, action from audit_entries where capsule_id = ${job.capsule_id}`)
    expect(entry).toEqual({ actor: `user:${ada.id}`, action: 'capsule.created' })
  })

  test('makes none of a job that fails, nor of a repeated end', async () => {
    const jobId = await ada.submit(submission({ create_capsule: true }))
    const fence = { generation: 1 }
    await beginJob(db, jobId, fence)
    const sha256 = await completeAttempt(db, jobId, (await openAttempt(db, jobId, fence))!, bellResult())
    const ends = [await completeJob(db, jobId, fence, sha256!), await completeJob(db, jobId, fence, sha256!)]
    expect(ends).toEqual(['won', 'already_mine'])
    const [row] = await db.execute(sql`select count(*)::int as count from capsules where source_job_id = ${jobId}`)
    expect(row!.count).toBe(1)
    const cancelled = await ada.submit(submission({ create_capsule: true }))
    await ada.post(`/api/jobs/${cancelled}/cancel`)
    expect((await ada.get(`/api/jobs/${cancelled}`)).body).toMatchObject({ status: 'cancelled', capsule_id: null })
  })

  test('a capsule that cannot be made fails no job, which says why', async () => {
    const jobId = await ada.submit(submission({ create_capsule: true }))
    await db.execute(
      sql`alter table capsules add constraint refuse_one check (name <> ${'Job '.concat(jobId)}) not valid`.inlineParams()
    )
    await finishJob(db, jobId)
    await db.execute(sql`alter table capsules drop constraint refuse_one`)
    expect((await ada.get(`/api/jobs/${jobId}`)).body).toMatchObject({
      status: 'completed',
      capsule_id: null,
      status_reason: expect.stringMatching(/^no capsule was made of this job: .*from-job/)
    })
    expect((await fromJob(ada, { job_id: jobId })).status).toBe(201)
  })
})

describe('cloning', () => {
  test('gives the caller a draft with the same definition, and nothing else of it', async () => {
    const id = (await fromJob(ada, { job_id: await finished(ada) })).body.capsule_id
    const source = await read(ada, id)
    const answer = await mate.post(`/api/capsules/${id}/clone`, { name: 'Mine' })
    expect([answer.status, answer.body]).toEqual([201, { capsule_id: uuid }])
    const clone = await read(mate, answer.body.capsule_id)
    expect(clone).toMatchObject({
      name: 'Mine',
      state: 'draft',
      owner_id: mate.id,
      team_id: ada.teamId,
      cloned_from: id,
      source_job_id: null,
      definition_sha256: source.definition_sha256,
      evidence: { task_executions: 0, artifacts: [] },
      seal: null,
      schedule: null
    })
    expect(clone.workflow).toEqual(source.workflow)
    expect((await mate.post(`/api/capsules/${id}/clone`)).status).toBe(201)
    expect(errorOf(await bob.post(`/api/capsules/${id}/clone`))).toEqual([404, 'no such capsule'])
  })
})
