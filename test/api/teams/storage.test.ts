// What a team stores: counted to the byte in the transaction of each write, refused above the team's limit, and given back by
// deletions.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { createCapsule } from '../../../db/capsules/capsule-changes.js'
import { connect, type Db } from '../../../db/client.js'
import { storageMismatches } from '../../../db/proofs/storage-proof.js'
import { storageOf, sumStorage } from '../../../db/teams/team-storage.js'
import type { StorageKind } from '../../../domain/teams/team-storage.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { keyed } from '../../support/api/keyed.js'
import { bellTask, createCapsuleBench, made } from '../../support/capsules/capsule-bench.js'
import { bellResult, finishJob } from '../../support/capsules/capsule-rows.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'

const api = await startApi('storage')
const { db } = api.database
afterAll(() => api.close())

type Member = TestUser & { teamId: string }
let ada: Member
let admin: TestUser
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  admin = await api.signUp({ admin: true })
})

const usedBy = async (user: Member): Promise<Record<StorageKind, number> & { all: number }> => {
  const { used, byKind } = await storageOf(db, user.teamId)
  return { ...byKind, all: used }
}
const limitTo = (user: Member, bytes: number | null) =>
  admin.ask('PUT', `/api/admin/teams/${user.teamId}/storage`, { limit_bytes: bytes })
const remove = (user: Member, path: string) => user.ask('DELETE', path)
const script = (name: string, bytes: number) => ({
  name,
  script_content: `${bellQasm3()}// ${name}\n//${'#'.repeat(bytes)}\n`
})

const telemetry = {
  session_id: 's',
  simulator: 'qulacs-wasm',
  qasm_input: '',
  shots: 1,
  qubit_count: 1,
  gate_count: 1,
  execution_time_ms: 1,
  counts: { '0': 1 }
}
/** What a script and a sweep leave behind: a request with its answer, a task with its output, a value, what it printed, a point. */
async function addRequestOfJob(job: string): Promise<void> {
  await db.execute(sql`insert into job_asks (job_id, number, kind, digest, body, state)
    values (${job}, 1, 'graph', 'd', repeat('b', 700), 'open')`)
  await db.execute(sql`update job_asks set answer = repeat('a', 300) where job_id = ${job}`)
  await db.execute(sql`insert into job_tasks (job_id, key, ask, position, name, func_name, depends_on, level, retries,
    timeout_seconds, state, function_sha256, arguments_sha256)
    values (${job}, 'task_0001', 1, 0, 'f', 'f', '{}', 0, 0, 60, 'running', 'd', 'd')`)
  await db.execute(sql`update job_tasks set stdout = repeat('s', 500) where job_id = ${job}`)
  await db.execute(sql`insert into task_values values (${job}, 'd', 10, '0123456789')`)
  await db.execute(sql`insert into job_output values (${job}, 1, repeat('o', 90), 0)`)
  await db.execute(sql`insert into job_points values (${job}, 0, repeat('p', 80), false, 80)`)
}

describe('the counters of a team', () => {
  test('equal what is stored after every kind of write and deletion, before and after they are summed', async () => {
    const before = await usedBy(ada)
    const job = await ada.submit(submission({ params: { shots: 100, note: 'n'.repeat(1_000) } }))
    await finishJob(db, job, bellResult())
    const afterJob = await usedBy(ada)
    expect(afterJob.jobs - before.jobs).toBeGreaterThan(1_000)
    expect(afterJob.results - before.results).toBe(Buffer.byteLength(bellResult()) + Buffer.byteLength(bellQasm3()))

    const capsule = made(await ada.post('/api/capsules/from-job', { job_id: job }))
    const draft = made(await ada.post('/api/capsules/create', { name: 'draft' }))
    expect((await ada.ask('PATCH', `/api/capsules/${draft}`, { description: 'd'.repeat(500) })).status).toBe(200)
    expect((await usedBy(ada)).capsules).toBeGreaterThan(afterJob.results)
    const bench = createCapsuleBench(api, ada)
    await bench.sealed()

    const saved = await ada.ask('POST', '/api/scripts/upload', script('one', 5_000), keyed('script'))
    expect(saved.status).toBe(200)
    const id = saved.body.script_id
    expect(
      (await ada.ask('PATCH', `/api/scripts/${id}`, { script_content: script('one', 9_000).script_content })).status
    ).toBe(200)
    const withScript = await usedBy(ada)
    expect(withScript.scripts).toBeGreaterThan(5_000 + 2 * 9_000)
    expect(withScript.idempotency).toBeGreaterThan(0)
    const report = { ...telemetry, team_id: ada.teamId, qasm_input: 'q'.repeat(2_000) }
    expect((await ada.post('/api/playground/telemetry', report)).status).toBe(201)
    expect((await usedBy(ada)).telemetry).toBeGreaterThan(2_000)
    expect(await storageMismatches(db)).toEqual([])

    const full = await usedBy(ada)
    expect((await sumStorage(db)).summed).toBeGreaterThan(5)
    expect(await usedBy(ada)).toEqual(full)

    // Deletions give the bytes back, except those of the audit trail.
    for (const path of [`/api/capsules/${capsule}`, `/api/capsules/${draft}`, `/api/scripts/${id}`])
      expect([path, (await remove(ada, path)).status]).toEqual([path, 200])
    const after = await usedBy(ada)
    expect(after.scripts).toBeLessThan(1_000)
    expect(full.capsules - after.capsules).toBeGreaterThan(Buffer.byteLength(bellResult()))
    expect(after.audit).toBeGreaterThan(full.audit)
    // Rows that retention removes are counted too.
    await db.execute(sql`delete from playground_telemetry`)
    await db.execute(sql`delete from idempotency_keys`)
    expect(await usedBy(ada)).toMatchObject({ telemetry: 0, idempotency: 0 })
    expect(await storageMismatches(db)).toEqual([])
    await sumStorage(db)
    expect(await storageMismatches(db)).toEqual([])
  })

  test('are summed by one worker at a time, and another leaves the entries to it without waiting', async () => {
    await ada.submit(submission())
    await db.transaction(async (tx) => {
      expect((await sumStorage(tx as unknown as Db)).summed).toBeGreaterThan(0)
      await ada.submit(submission())
      expect(await sumStorage(db)).toEqual({ summed: 0, more: false })
    })
    expect((await sumStorage(db)).summed).toBeGreaterThan(0)
    expect(await storageMismatches(db)).toEqual([])
  })

  test('that differ from what is stored are found by the proof, with both figures', async () => {
    const bob = await api.signUpWithTeam()
    await db.execute(sql`insert into storage_entries values (${bob.teamId}, 'results', 4096)`)
    expect(await storageMismatches(db)).toEqual([
      `team ${bob.teamId}: 4096 bytes counted for results (4 KiB), but 0 are stored`
    ])
    await db.execute(sql`insert into storage_entries values (${bob.teamId}, 'results', -4096)`)
  })

  test('include the candidates of a job whose backend was chosen', async () => {
    const bob = await api.signUpWithTeam()
    await bob.submit(submission())
    const named = (await usedBy(bob)).jobs
    const job = await bob.submit(submission({ backend: 'auto' }))
    const [row] = await db.execute<{ texts: number; choice: number }>(sql`
      select octet_length(source_text) + octet_length(params) as texts, octet_length(choice::text) as choice
      from jobs where id = ${job}`)
    expect(row!.choice).toBeGreaterThan(100)
    expect((await usedBy(bob)).jobs - named).toBe(row!.texts + row!.choice)
    await db.execute(sql`update jobs set choice = choice || '{"more": "text"}' where id = ${job}`)
    expect(await storageMismatches(db)).toEqual([])
    await db.execute(sql`delete from jobs where id = ${job}`)
    expect((await usedBy(bob)).jobs).toBe(named)
    expect(await storageMismatches(db)).toEqual([])
  })

  test('include every row of a job that is removed with its job', async () => {
    const bob = await api.signUpWithTeam()
    const job = await bob.submit(submission())
    await finishJob(db, job, bellResult())
    await addRequestOfJob(job)
    await db.execute(sql`delete from jobs where team_id = ${bob.teamId}`)
    expect(await usedBy(bob)).toMatchObject({ jobs: 0, results: 0 })
    expect(await storageMismatches(db)).toEqual([])
  })

  // The columns of each table, and the condition for the rows of a team.
  const ofTeam = 'team_id ='
  const ofJob = 'job_id in (select id from jobs where team_id ='
  const ofCapsule = 'capsule_id in (select id from capsules where team_id ='
  const ofScript = 'script_id in (select id from scripts where team_id ='
  const contents: [StorageKind, string, string[], string][] = [
    ['jobs', 'jobs', ['source_text', 'params', 'input'], ofTeam],
    ['jobs', 'job_asks', ['body', 'answer'], ofJob],
    ['jobs', 'job_tasks', ['stdout'], ofJob],
    ['jobs', 'job_output', ['text'], ofJob],
    ['jobs', 'job_points', ['outcome'], ofJob],
    ['results', 'artifacts', ['content'], ofJob],
    ['results', 'task_values', ['content'], ofJob],
    ['capsules', 'capsules', ['definition', 'description', 'imported::text'], ofTeam],
    ['capsules', 'capsule_files', ['content'], ofCapsule],
    ['capsules', 'capsule_seals', ['manifest', 'checksums', 'envelope'], ofCapsule],
    ['capsules', 'capsule_publications', ['description', 'readme'], ofCapsule],
    ['capsules', 'capsule_runs', ['definition', 'verification::text'], ofTeam],
    ['scripts', 'scripts', ['content', 'requirements', 'metadata::text'], ofTeam],
    ['scripts', 'script_versions', ['content', 'requirements', 'metadata::text'], ofScript],
    ['idempotency', 'idempotency_keys', ['body'], ofTeam],
    ['telemetry', 'playground_telemetry', ['session_id', 'qasm_input', 'counts::text', 'user_agent'], ofTeam],
    ['audit', 'audit_entries', ['metadata'], ofTeam]
  ]

  test('are the bytes of every table that keeps what a team sends or receives', async () => {
    const bob = await api.signUpWithTeam()
    const job = await bob.submit(submission())
    await finishJob(db, job, bellResult())
    await addRequestOfJob(job)
    const capsule = await createCapsuleBench(api, bob).sealed()
    const shown = { title: 'a pair', description: 'd', readme: 'r' }
    expect((await bob.post(`/api/capsules/${capsule}/publish`, shown)).status).toBe(200)
    expect((await bob.post(`/api/capsules/${capsule}/run`, { mode: 'verify' })).status).toBe(201)
    await db.execute(
      sql`update capsule_runs set verification = '{"verdict":"consistent"}' where team_id = ${bob.teamId}`
    )
    await bob.ask('POST', '/api/scripts/upload', script('one', 50), keyed('contents'))
    expect((await bob.post('/api/playground/telemetry', { ...telemetry, team_id: bob.teamId })).status).toBe(201)

    const stored = new Map<StorageKind, number>()
    for (const [kind, table, columns, where] of contents) {
      const sizes = columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')
      const team = `'${bob.teamId}'${where.includes('(') ? ')' : ''}`
      const [row] = await db.execute<{ bytes: number }>(
        sql.raw(`select coalesce(sum(${sizes}), 0)::int as bytes from ${table} where ${where} ${team}`)
      )
      expect(`${table}: ${row!.bytes > 0}`).toBe(`${table}: true`)
      stored.set(kind, (stored.get(kind) ?? 0) + row!.bytes)
    }
    expect(await usedBy(bob)).toMatchObject(Object.fromEntries(stored))
  })
})

describe('a team at its limit', () => {
  let cleo: Member
  let finished: string
  let saved: string
  let draft: string
  let runnable: string
  beforeAll(async () => {
    cleo = await api.signUpWithTeam()
    finished = await cleo.submit(submission())
    await finishJob(db, finished, bellResult())
    const { body } = await cleo.post('/api/scripts/upload', script('kept', 100))
    saved = body.script_id
    draft = made(await cleo.post('/api/capsules/create', { name: 'a draft', workflow: { tasks: [bellTask] } }))
    runnable = made(await cleo.post('/api/capsules/from-job', { job_id: finished }))
    await limitTo(cleo, (await usedBy(cleo)).all + 20)
  })

  const refused = async (answer: Promise<{ status: number; body: { code?: string; error: unknown } }>) => {
    const { status, body } = await answer
    return [status, body]
  }

  test.each([
    ['small', submission()],
    ['large', submission({ params: { shots: 10, note: 'x'.repeat(100_000) } })]
  ])('cannot submit a %s job, and the refusal says what is used and what the limit is', async (_size, body) => {
    const { all } = await usedBy(cleo)
    const jobs = async () => (await cleo.get('/api/jobs')).body.total
    const before = await jobs()
    expect(await refused(cleo.post('/api/jobs/submit', body))).toMatchObject([
      409,
      {
        used_bytes: all,
        limit_bytes: all + 20,
        requested_bytes: expect.any(Number),
        error: expect.stringContaining('Delete capsules or scripts')
      }
    ])
    expect([await jobs(), (await usedBy(cleo)).all]).toEqual([before, all])
  })

  test.each([
    ['package a job as a capsule', () => cleo.post('/api/capsules/from-job', { job_id: finished })],
    ['rerun a job', () => cleo.post(`/api/jobs/${finished}/rerun`)],
    ['create a capsule', () => cleo.post('/api/capsules/create', { name: 'more', workflow: { tasks: [bellTask] } })],
    [
      'extend a capsule',
      () =>
        cleo.ask('PATCH', `/api/capsules/${draft}`, { workflow: { tasks: [{ ...bellTask, name: 'b'.repeat(100) }] } })
    ],
    ['seal a capsule', () => cleo.post(`/api/capsules/${runnable}/seal`, { exit_code: 0 })],
    ['run a capsule', () => cleo.post(`/api/capsules/${runnable}/run`, { mode: 'verify' })],
    ['save a script', () => cleo.post('/api/scripts/upload', script('more', 500))],
    [
      'add a version',
      () => cleo.ask('PATCH', `/api/scripts/${saved}`, { script_content: script('kept', 600).script_content })
    ],
    ['report a simulation', () => cleo.post('/api/playground/telemetry', { ...telemetry, team_id: cleo.teamId })]
  ])('cannot %s', async (_what, act) => {
    expect(await refused(act())).toEqual([409, expect.objectContaining({ requested_bytes: expect.any(Number) })])
  })

  test('cannot package a job whose files do not fit, although the definition would', async () => {
    const [capsule] = await db.execute<{ bytes: number }>(
      sql`select octet_length(definition) as bytes from capsules where id = ${runnable}`
    )
    await limitTo(cleo, (await usedBy(cleo)).all + capsule!.bytes + 100)
    expect((await refused(cleo.post('/api/capsules/from-job', { job_id: finished })))[0]).toBe(409)
  })

  test('cannot report a simulation of 400 KiB where 100 KiB are left', async () => {
    await limitTo(cleo, (await usedBy(cleo)).all + 100 * 1024)
    const counts = Object.fromEntries(Array.from({ length: 8_000 }, (_, at) => [at.toString(2).padStart(45, '0'), 1]))
    const report = { ...telemetry, team_id: cleo.teamId, counts }
    expect((await refused(cleo.post('/api/playground/telemetry', report)))[0]).toBe(409)
  })

  test('stores the result of a job that was accepted before, and makes no capsule of it', async () => {
    await limitTo(cleo, null)
    const job = await cleo.submit(submission({ create_capsule: true }))
    await limitTo(cleo, 1)
    await finishJob(db, job, bellResult())
    const { body } = await cleo.get(`/api/jobs/${job}`)
    expect([body.status, body.result.shots, body.capsule_id]).toEqual(['completed', 100, null])
    expect(body.status_reason).toMatch(/no capsule was made of this job: This team stores/)
  })

  test('can delete, and can write again below its limit', async () => {
    await limitTo(cleo, (await usedBy(cleo)).all + 100)
    expect((await cleo.post('/api/scripts/upload', script('new', 10))).status).toBe(409)
    expect((await remove(cleo, `/api/scripts/${saved}`)).status).toBe(200)
    expect((await cleo.post('/api/scripts/upload', script('new', 10))).status).toBe(200)
  })

  test('does not limit another team', async () => {
    expect((await ada.post('/api/jobs/submit', submission())).status).toBe(201)
  })
})

describe('the limit', () => {
  test('is set by an administrator, recorded in the audit, and shown to the team', async () => {
    const dora = await api.signUpWithTeam()
    const set = await limitTo(dora, 5_000_000)
    expect([set.status, set.body.limit_bytes]).toEqual([200, 5_000_000])
    expect((await admin.get(`/api/admin/teams/${dora.teamId}/storage`)).body).toEqual(set.body)
    const { storage } = (await dora.get('/api/team/usage')).body
    expect(storage).toMatchObject({ usedBytes: set.body.used_bytes, limitBytes: 5_000_000 })
    const { body } = await admin.get('/api/admin/audit')
    expect(JSON.stringify(body)).toContain('team.storage')
    expect((await limitTo(dora, null)).body.limit_bytes).toBe(2_048 * 1024 ** 2)
  })
})

describe('a large response to a write with an Idempotency-Key', () => {
  test('is not stored; its repetition has one effect and says that the response was not kept', async () => {
    const eve = await api.signUpWithTeam()
    const { body } = await eve.post('/api/scripts/upload', script('big', 10))
    const id = body.script_id
    const change = () =>
      eve.ask('PATCH', `/api/scripts/${id}`, { script_content: script('big', 300_000).script_content }, keyed('large'))
    const first = await change()
    const second = await change()
    expect([first.status, second.status, second.headers['idempotency-replayed']]).toEqual([200, 200, 'true'])
    expect(second.body.message).toContain('was not kept')
    expect((await eve.get(`/api/scripts/${id}`)).body).toMatchObject({ version: 2 })
    const [row] = await db.execute<{ bytes: number }>(
      sql`select octet_length(body) as bytes from idempotency_keys where key = 'large'`
    )
    expect(row!.bytes).toBeLessThan(1_024)
  })
})

test('a retention above the cap of the installation is refused by its field', async () => {
  const eve = await api.signUpWithTeam()
  const capped = connect(api.database.url, { max: 1, settings: { teamStorageMax: 1_000_000, retentionYearsMax: 10 } })
  try {
    const capsule = (retentionYears: number) =>
      capped.db.transaction((tx) =>
        createCapsule(
          tx,
          {
            teamId: eve.teamId,
            ownerId: eve.id,
            state: 'draft',
            name: 'kept',
            description: '',
            tags: [],
            definition: { tasks: [] },
            maxBudget: null,
            retentionYears,
            regulatoryFramework: null
          },
          { actor: 'system' }
        )
      )
    await expect(capsule(11)).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('retention_years: must be at most 10')
    })
    expect(await capsule(10)).toEqual(expect.any(String))
    // The setting of the connection is the limit of teams that have none of their own.
    expect((await storageOf(capped.db, eve.teamId)).limit).toBe(1_000_000)
  } finally {
    await capped.close()
  }
})
