// Capsules that are made from jobs, at once or when a job completes, and clones of them.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { readPackage } from '../../../capsule-format/package-reader.js'
import { beginJob, completeJob } from '../../../db/job-steps/job-steps.js'
import { completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'
import { createCapsuleBench } from '../../support/capsules/capsule-bench.js'
import { bellResult, finishJob } from '../../support/capsules/capsule-rows.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'

const api = await startApi('capsules_of_jobs')
const { db } = api.database
afterAll(() => api.close())

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const nobody = '01900000-0000-7000-8000-000000000000'

type Member = TestUser & { teamId: string }
let ada: Member
let bob: Member
/** Another member of Ada's team. */
let mate: TestUser
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  bob = await api.signUpWithTeam()
  mate = await api.signUp()
  await db.execute(sql`insert into members (team_id, user_id, role) values (${ada.teamId}, ${mate.id}, 'member')`)
})

const read = async (user: TestUser, id: string) => (await user.get(`/api/capsules/${id}`)).body
const patch = (user: TestUser, id: string, body: unknown) => user.ask('PATCH', `/api/capsules/${id}`, body)
const remove = (user: TestUser, id: string) => user.ask('DELETE', `/api/capsules/${id}`)
const fromJob = (user: TestUser, body: Record<string, unknown>) => user.post('/api/capsules/from-job', body)
async function finished(user: TestUser, changes: Record<string, unknown> = {}, result = bellResult()): Promise<string> {
  const id = await user.submit(submission(changes))
  await finishJob(db, id, result)
  return id
}

const errorOf = ({ status, body }: ApiResponse) => [status, body.error]

describe('a capsule of a completed job', () => {
  test('contains the program, its parameters, backend, result, environment and times', async () => {
    const jobId = await finished(ada, { name: 'My job', params: { shots: 100, note: 'x', seed: 7 } })
    const answer = await fromJob(ada, { job_id: jobId, tags: ['t'] })
    expect([answer.status, answer.body]).toEqual([201, { capsule_id: uuid, warnings: [] }])
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

  test('describes the backend as the catalogue did when the job ran, also after a change of the catalogue', async () => {
    const slug = 'aer-mps'
    const filesOf = async (jobId: string) => {
      const id = (await fromJob(ada, { job_id: jobId })).body.capsule_id
      const rows = await db.execute(sql`select name, content from capsule_files where capsule_id = ${id} order by name`)
      return Object.fromEntries(rows.map(({ name, content }) => [name, (content as Buffer).toString()]))
    }
    const backendOf = async (jobId: string) => JSON.parse((await filesOf(jobId))['tasks/main/backend.json']!)
    const first = await finished(ada, { backend: slug })
    const before = await filesOf(first)
    await db.execute(
      sql`update backends set per_shot_micro = 1000, description = 'another', native_gates = '["rz"]' where slug = ${slug}`
    )
    // A change of availability adds no entry to the history.
    await db.execute(sql`update backends set queue_length = 7, updated_at = clock_timestamp() where slug = ${slug}`)
    const second = await finished(ada, { backend: slug })
    await db.execute(sql`update backends set is_available = false, device_type = 'qpu' where slug = ${slug}`)
    expect(await filesOf(first)).toEqual(before)
    const [was, is] = [await backendOf(first), await backendOf(second)]
    expect(was.facts).toMatchObject({ slug, deviceType: 'simulator', pricing: { perShot: 0 }, nativeGates: null })
    expect(is.facts).toMatchObject({ slug, pricing: { perShot: 0.001 }, description: 'another', nativeGates: ['rz'] })
    expect(new Date(was.valid_from).getTime()).toBeLessThan(new Date(is.valid_from).getTime())
    const [kept] = await db.execute(sql`select count(*)::int as count from backend_versions where slug = ${slug}`)
    expect(kept!.count).toBe(3)
    // For a time before the history begins: its first entry, which states its own start.
    await db.execute(sql`delete from backend_versions where slug = ${slug} and entry ->> 'device_type' = 'simulator'`)
    const late = await backendOf(first)
    const { completed_at } = (await ada.get(`/api/jobs/${first}`)).body
    expect([late.facts.deviceType, late.valid_from > completed_at]).toEqual(['qpu', true])
  })

  test('of a workflow contains the result of each task, to the last digit, or why it cannot be shown', async () => {
    const jobId = await ada.submit(submission())
    const shown = '{"n":123456789012345678901234567890}'
    await db.execute(sql`insert into task_values (job_id, sha256, size_bytes, content)
      values (${jobId}, 'plain', ${shown.length}, ${shown}::text::bytea), (${jobId}, 'pickled', 1, 'x')`)
    for (const [position, [key, result, display, problem]] of [
      ['task_0001', 'plain', 'plain', null],
      ['task_0002', 'pickled', null, 'it is a function'],
      ['task_0003', null, null, null]
    ].entries())
      await db.execute(sql`insert into job_tasks (job_id, key, ask, position, name, func_name, depends_on, level, retries,
          timeout_seconds, state, function_sha256, arguments_sha256, result_sha256, display_sha256, display_problem)
        values (${jobId}, ${key}, 1, ${position}, 't', 'f', '{}', 0, 0, 60, 'completed', 'x', 'x', ${result}, ${display}, ${problem})`)
    await finishJob(db, jobId)
    const id = (await fromJob(ada, { job_id: jobId })).body.capsule_id
    const [file] = await db.execute(sql`select content from capsule_files
      where capsule_id = ${id} and name = 'tasks/main/tasks.json'`)
    expect((file!.content as Buffer).toString()).toBe(
      `{"task_0001":{"sha256":"plain","value":${shown}},"task_0002":{"sha256":"pickled","problem":"it is a function"}}`
    )
  })

  test('says in its evidence and its export that an emulator ran it in the place of the provider', async () => {
    const { exported } = createCapsuleBench(api, ada)
    const said = async (provider: 'emulated' | 'real' | 'none') => {
      const jobId = await ada.submit(submission())
      if (provider !== 'none')
        await db.execute(sql`insert into provider_tasks
          (job_id, attempt, provider, token, generation, state, provider_job_id, accepted_at, ended_at, emulated)
          values (${jobId}, 1, 'IonQ', ${jobId}, 1, 'completed', 'task-7', now(), now(), ${provider === 'emulated'})`)
      await finishJob(db, jobId)
      const id = (await fromJob(ada, { job_id: jobId })).body.capsule_id
      const name = 'tasks/main/job.json'
      const { files } = await readPackage((await exported(id)).bytes)
      const inExport = JSON.parse(files.find((file) => file.name === name)!.content.toString())
      const inService = (await ada.get(`/api/capsules/${id}/files/${encodeURIComponent(name)}`)).body
      expect(inExport).toEqual(inService)
      return inExport.emulated
    }
    expect([await said('emulated'), await said('real'), await said('none')]).toEqual([true, undefined, undefined])
  })

  test("preserves numbers beyond JavaScript's range", async () => {
    const result = '{"n":123456789012345678901234567890,"x":1e400}'
    const jobId = await ada.submit(submission())
    await db.execute(
      sql`update jobs set params = '{"shots":100,"big":12345678901234567890123,"x":1e400}' where id = ${jobId}`
    )
    await finishJob(db, jobId, result)
    const id = (await fromJob(ada, { job_id: jobId })).body.capsule_id
    const files = await db.execute(sql`select name, content from capsule_files where capsule_id = ${id}`)
    const text = (name: string) =>
      (files.find((row) => row.name === `tasks/main/${name}`)!.content as Buffer).toString()
    expect(text('result.json')).toBe(result)
    expect(text('parameters.json')).toBe('{"shots":100,"big":12345678901234567890123,"x":1e400}')
    const [row] = await db.execute(sql`select definition from capsules where id = ${id}`)
    expect(JSON.parse(row!.definition as string).tasks[0].parameters_text).toContain('12345678901234567890123')
    const { exported, imported } = createCapsuleBench(api, ada)
    const back = (await imported((await exported(id)).bytes)).body
    expect(back.warnings.join()).not.toContain('definition')
    expect((await read(ada, back.capsule_id)).definition_sha256).toBe((await read(ada, id)).definition_sha256)
  })

  test('is refused for a job that has not completed, and for one of another team', async () => {
    const pending = await ada.submit(submission())
    expect(errorOf(await fromJob(ada, { job_id: pending }))).toEqual([
      400,
      'job_id: must be a completed job (it is pending)'
    ])
    expect(errorOf(await fromJob(bob, { job_id: pending }))).toEqual([404, 'job_id: no such job'])
    expect(errorOf(await fromJob(ada, { job_id: nobody }))).toEqual([404, 'job_id: no such job'])
  })

  test('cannot be changed, and can be deleted by its owner', async () => {
    const id = (await fromJob(ada, { job_id: await finished(ada) })).body.capsule_id
    expect(errorOf(await patch(ada, id, { name: 'x' }))).toEqual([
      403,
      'This capsule is runnable; only a draft capsule can be changed'
    ])
    expect((await remove(ada, id)).status).toBe(200)
  })
})

describe('create_capsule at submission', () => {
  test('creates a capsule when the job completes, and the job names it', async () => {
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

  test('creates no capsule for a job that fails, and no second one when the completion is repeated', async () => {
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

  test('that cannot create the capsule does not fail the job, whose record gives the reason', async () => {
    const jobId = await ada.submit(submission({ create_capsule: true }))
    await db.execute(sql`insert into artifacts (job_id, name, sha256, size_bytes, media_type, content)
      values (${jobId}, 'huge.bin', 'x', 70000000, 'application/octet-stream', 'x')`)
    await finishJob(db, jobId)
    const job = (await ada.get(`/api/jobs/${jobId}`)).body
    expect(job).toMatchObject({ status: 'completed', capsule_id: null })
    expect(job.status_reason).toMatch(
      /^no capsule was made of this job: the evidence has 7\d+ bytes, at most 62914560 can be stored; largest: "tasks\/main\/artifacts\/huge\.bin"/
    )
    expect((await ada.get(`/api/jobs/${jobId}/status`)).body.result.counts).toEqual({ '00': 51, '11': 49 })
    expect(errorOf(await fromJob(ada, { job_id: jobId }))).toEqual([
      400,
      expect.stringContaining('largest: "tasks/main/artifacts/huge.bin"')
    ])
    const [row] = await db.execute(sql`select count(*)::int as count from capsules where source_job_id = ${jobId}`)
    expect(row!.count).toBe(0)
  })
})

describe('a clone', () => {
  test("is the caller's draft with the same definition, and nothing else of the original", async () => {
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
    expect(source.parameters).toMatchObject({ shots: expect.any(Number) })
    expect([clone.script, clone.parameters]).toEqual([source.script, source.parameters])
    expect((await mate.post(`/api/capsules/${id}/clone`)).status).toBe(201)
    expect(errorOf(await bob.post(`/api/capsules/${id}/clone`))).toEqual([404, 'no such capsule'])
  })
})

test('succeeds among many at once, during other changes of the team, and the audit trail stays valid', async () => {
  const jobIds = await Promise.all(
    Array.from({ length: 10 }, () => ada.submit(submission({ create_capsule: true, capsule_name: 'At once' })))
  )
  const drafts = await Promise.all(
    Array.from({ length: 6 }, async () => (await ada.post('/api/capsules/create', { name: 'x' })).body.capsule_id)
  )
  const answers = await Promise.all([
    ...drafts.map((id, at) => (at % 2 === 0 ? patch(ada, id, { name: 'y' }) : remove(ada, id))),
    ...drafts.map(() => ada.post('/api/capsules/create', { name: 'z' })),
    ada.ask('PATCH', `/api/teams/${ada.teamId}`, { name: 'Renamed meanwhile' }),
    ...jobIds.map((id) => finishJob(db, id).then(() => ({ status: 200 })))
  ])
  expect(answers.filter(({ status }) => status >= 300)).toEqual([])
  const jobs = await Promise.all(jobIds.map(async (id) => (await ada.get(`/api/jobs/${id}`)).body))
  expect(jobs.filter(({ capsule_id, status_reason }) => capsule_id === null || status_reason !== null)).toEqual([])
  const proof = (await ada.get(`/api/team/audit/verify?team_id=${ada.teamId}`)).body
  expect(proof).toMatchObject({ ok: true, first_broken: null })
})
