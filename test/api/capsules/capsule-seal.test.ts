// Sealing: what is recorded, what is refused, and that a crash or a race at any point leaves a capsule consistent.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type SQL, sql } from 'drizzle-orm'
import { verifyEnvelope } from '../../../capsule-format/attestation.js'
import { advanceRun } from '../../../db/capsule-runs/capsule-run-steps.js'
import { connect } from '../../../db/client.js'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'
import { bellResult, energyResult, finishJob } from '../../support/capsules/capsule-rows.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'

const api = await startApi('capsule_seal')
const { db } = api.database
afterAll(() => api.close())

type Member = TestUser & { teamId: string }
let ada: Member
beforeAll(async () => {
  ada = await api.signUpWithTeam()
})

const bell = {
  name: 'bell',
  inline_code: bellQasm3(),
  framework: 'openqasm',
  backend: 'local',
  parameters: { shots: 100 }
}
const read = async (id: string) => (await ada.get(`/api/capsules/${id}`)).body
const seal = (id: string, body: unknown = { exit_code: 0 }) => ada.post(`/api/capsules/${id}/seal`, body)
const errorOf = ({ status, body }: ApiResponse) => [status, body.error]

async function runnable(changes: Record<string, unknown> = {}, result = bellResult()): Promise<string> {
  const jobId = await ada.submit(submission(changes))
  await finishJob(db, jobId, result)
  return (await ada.post('/api/capsules/from-job', { job_id: jobId })).body.capsule_id
}

/** Runs the statement with direct access to the database, past every trigger. */
const asSuperuser = (statement: SQL) =>
  db.transaction(async (tx) => {
    await tx.execute(sql`set local session_replication_role = replica`)
    await tx.execute(statement)
  })

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')

describe('a seal', () => {
  test('states digests, margin and signature that match the stored content', async () => {
    const id = await runnable()
    const answer = await seal(id, { exit_code: 3, exit_message: 'done' })
    expect(answer.status).toBe(200)
    const record = answer.body
    expect(await read(id)).toMatchObject(record)
    expect(record).toMatchObject({
      state: 'sealed',
      seal: {
        exit_code: 3,
        exit_message: 'done',
        sealed_by: ada.id,
        sealed_at: expect.any(String),
        capsule_digest: expect.stringMatching(/^mqc:1:[0-9a-f]{64}$/),
        root_digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        signature: { algorithm: 'ed25519', key_id: expect.stringMatching(/^[0-9a-f]{16}$/) },
        retained_until: null
      }
    })
    const [row] = await db.execute(
      sql`select manifest, checksums, envelope from capsule_seals where capsule_id = ${id}`
    )
    const { manifest, checksums, envelope } = row as { manifest: string; checksums: string; envelope: string }
    expect(record.seal.root_digest).toBe(`sha256:${sha256(checksums)}`)
    expect(JSON.parse(manifest).checksums_digest).toBe(record.seal.root_digest)
    const files = await db.execute(sql`select name, sha256, content from capsule_files where capsule_id = ${id}`)
    for (const { name, content } of files) {
      expect(record.seal.digests[name as string]).toBe(`sha256:${sha256(content as Buffer)}`)
    }
    const { keys } = (await ada.get('/api/meta/keys')).body
    const key = keys.find(({ key_id }: { key_id: string }) => key_id === record.seal.signature.key_id)
    expect(verifyEnvelope(envelope, key.public_key_pem).predicate.capsule_id).toBe(record.seal.capsule_digest)
  })

  test('has the margin that 100 shots can resolve, 0.05 for many shots, or the requested one', async () => {
    const few = (await seal(await runnable())).body.seal.margin
    expect(few).toBeGreaterThan(0.15)
    const many = await runnable({}, bellResult({ '00': 50_100, '11': 49_900 }))
    expect((await seal(many)).body.seal.margin).toBe(0.05)
    expect((await seal(await runnable(), { exit_code: 0, margin: 0.2 })).body.seal.margin).toBe(0.2)
  })

  test('warns when its shots are too few for the margin, and its record keeps the warning', async () => {
    const id = await runnable()
    const { warnings } = (await seal(id, { exit_code: 0, margin: 0.05 })).body.seal
    expect(warnings).toEqual([
      expect.stringMatching(
        /^task "main": 100 sealed shots cannot resolve a margin of 0\.05, .*; no re-run can show it/
      )
    ])
    expect((await read(id)).seal.warnings).toEqual(warnings)
    const many = await runnable({}, bellResult({ '00': 50_100, '11': 49_900 }))
    expect((await seal(many)).body.seal.warnings).toEqual([])
  })

  test('of a value without counts and without a seed warns that it can never be verified, as its creation does', async () => {
    const jobId = await ada.submit(submission())
    await finishJob(db, jobId, energyResult(null))
    const made = await ada.post('/api/capsules/from-job', { job_id: jobId })
    const never = [
      'task "main": every verification is not_testable: the result has no counts, and nothing fixed the randomness of the sealed run; a seed in the parameters would fix it'
    ]
    expect([made.status, made.body.warnings]).toEqual([201, never])
    expect((await seal(made.body.capsule_id)).body.seal.warnings).toEqual(never)
    const seeded = await runnable({}, energyResult(7))
    expect((await seal(seeded)).body.seal.warnings).toEqual([])
  })

  test('needs only its evidence, so its job can be deleted', async () => {
    const [id, other] = [await runnable(), await runnable()]
    const sealed = (await seal(other)).body
    const { source_job_id: jobId } = await read(id)
    await asSuperuser(sql`delete from jobs where id = ${jobId}`)
    const { evidence, seal: without } = (await seal(id)).body
    expect([evidence.task_executions, without.margin]).toEqual([1, sealed.seal.margin])
  })

  test.each([
    [
      'its definition',
      'update capsules set definition = replace(definition, \'"shots":100\', \'"shots":101\') where id',
      409
    ],
    ['a file', "update capsule_files set content = 'x' where name like '%circuit.qasm' and capsule_id", 400],
    [
      'a result',
      'update capsule_files set content = \'{"counts":{"00":100}}\' where name like \'%/result.json\' and capsule_id',
      400
    ]
  ])('is refused for a capsule after %s was changed in the database', async (_, statement, status) => {
    const id = await runnable()
    await asSuperuser(sql`${sql.raw(statement)} = ${id}`)
    expect(errorOf(await seal(id))).toEqual([status, expect.stringMatching(/SHA-256/)])
    expect((await read(id)).state).toBe('runnable')
  })

  test('is retained for the requested number of years', async () => {
    const jobId = await ada.submit(submission())
    await finishJob(db, jobId)
    const made = await ada.post('/api/capsules/from-job', { job_id: jobId, retention_years: 10, seal: true })
    const { seal: sealed, state } = await read(made.body.capsule_id)
    expect(state).toBe('sealed')
    expect(new Date(sealed.retained_until).getUTCFullYear() - new Date(sealed.sealed_at).getUTCFullYear()).toBe(10)
  })

  const refused: [string, unknown, string][] = [
    ['no exit code', {}, 'exit_code: is required'],
    ['an exit code that is text', { exit_code: '0' }, 'exit_code: must be an integer'],
    ['an exit code that is not an integer', { exit_code: 0.5 }, 'exit_code: must be an integer'],
    ['a margin of 0', { exit_code: 0, margin: 0 }, 'margin: must be'],
    ['a margin above 1', { exit_code: 0, margin: 1.01 }, 'margin: must be'],
    ['a state', { exit_code: 0, state: 'published' }, 'state: is not a field']
  ]
  test.each(refused)('is refused for %s', async (_, body, message) => {
    const id = await runnable()
    expect(errorOf(await seal(id, body))).toEqual([400, expect.stringContaining(message)])
    expect((await read(id)).state).toBe('runnable')
  })

  test('is refused without evidence, and with evidence of an earlier definition', async () => {
    const draft = (await ada.post('/api/capsules/create', { name: 'x' })).body.capsule_id
    expect(errorOf(await seal(draft))).toEqual([400, expect.stringMatching(/^evidence is missing: no task execution/)])
    await ada.ask('PATCH', `/api/capsules/${draft}`, { workflow: { tasks: [bell] } })
    await run(draft)
    await ada.ask('PATCH', `/api/capsules/${draft}`, { workflow: { tasks: [{ ...bell, parameters: { shots: 200 } }] } })
    expect(errorOf(await seal(draft))).toEqual([
      400,
      expect.stringMatching(/^evidence is of an earlier definition; run again/)
    ])
  })

  test('of a draft contains the evidence of its newest run, unchanged', async () => {
    const draft = (await ada.post('/api/capsules/create', { name: 'x', workflow: { tasks: [bell] } })).body.capsule_id
    await run(draft)
    expect((await read(draft)).evidence).toEqual({ task_executions: 1, artifacts: [] })
    const sealed = (await seal(draft)).body
    expect(sealed.evidence.task_executions).toBe(1)
    const names = sealed.evidence.artifacts.map(({ name }: { name: string }) => name)
    expect(names).toContain('tasks/bell/result.json')
    expect(Object.keys(sealed.seal.digests)).toEqual(expect.arrayContaining([...names, 'definition.json']))
  })

  test.each([
    ['Bell: step 1', '~Bell~3A~20step~201'],
    ['../鐘 🔔', '~~2E~2E~2F~E9~90~98~20~F0~9F~94~94']
  ])('has a folder of its own for the evidence of a task called %s', async (name, folder) => {
    const tasks = [{ ...bell, name }]
    const draft = (await ada.post('/api/capsules/create', { name: 'x', workflow: { tasks } })).body.capsule_id
    await run(draft)
    const sealed = (await seal(draft)).body
    expect(sealed.workflow.tasks).toMatchObject([{ name }])
    const folders = new Set(sealed.evidence.artifacts.map((file: { name: string }) => file.name.split('/')[1]))
    expect([...folders]).toEqual([folder])
  })

  const secret = ['AKIA', 'Q3EGRNZX7LPW2VYT'].join('')
  const told = (changes: object): string => JSON.stringify({ ...JSON.parse(bellResult()), ...changes })
  const places: [string, { job?: object; result?: string; capsule?: object; seal?: object }, string][] = [
    ['the source', { job: { inline_code: `${bellQasm3()}// ${secret}\n` } }, 'tasks/main/source.qasm":'],
    ['the name of a parameter', { job: { params: { shots: 100, [secret]: 1 } } }, 'tasks/main/parameters.json":1'],
    ['a value deep in the parameters', { job: { params: { shots: 100, x: [{ y: secret }] } } }, 'definition.json":1'],
    ['a label', { job: { labels: [secret] } }, 'tasks/main/job.json":1'],
    ['the name of the job', { job: { name: secret } }, 'capsule.yaml":1'],
    ['the printed output', { result: told({ stdout: `hello\n${secret}\n` }) }, 'tasks/main/result.json":1'],
    ['the diagram', { result: told({ circuit_info: { diagram: `q: ${secret}` } }) }, 'tasks/main/result.json":1'],
    ['the name of a gate', { result: told({ circuit_info: { gate_counts: { [secret]: 1 } } }) }, 'capsule.yaml":1'],
    ['a tag', { capsule: { tags: [secret] } }, 'capsule.yaml":1'],
    ['the description', { capsule: { description: `see ${secret}` } }, 'capsule.yaml":1'],
    ['the regulatory framework', { capsule: { regulatory_framework: secret } }, 'capsule.yaml":1'],
    ['the exit message', { seal: { exit_message: `# capsule:allow ${secret} # capsule:allow` } }, 'capsule.yaml":1']
  ]
  test.each(places)(
    'is refused for a credential in %s, and names its place',
    async (_, { job, result, capsule, seal: more }, place) => {
      const jobId = await ada.submit(submission(job as Record<string, unknown>))
      await finishJob(db, jobId, result)
      const id = (await ada.post('/api/capsules/from-job', { job_id: jobId, ...capsule })).body.capsule_id
      const answer = await seal(id, { exit_code: 0, ...more })
      expect(errorOf(answer)).toEqual([400, expect.stringContaining(place)])
      expect(answer.text).not.toContain(secret)
      expect((await read(id)).state).toBe('runnable')
    }
  )
})

describe('under races and crashes,', () => {
  test('two simultaneous seals create one', async () => {
    const id = await runnable()
    const answers = await Promise.all(Array.from({ length: 6 }, () => seal(id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403])
    expect(answers.find(({ status }) => status === 403)!.body.error).toBe(
      'This capsule is sealed; only a draft or runnable capsule can be sealed'
    )
    const [row] = await db.execute(sql`select count(*)::int as count from audit_entries
      where capsule_id = ${id} and action = 'capsule.sealed'`)
    expect(row!.count).toBe(1)
  })

  test('a request repeated with one Idempotency-Key returns the first response', async () => {
    const id = await runnable()
    const ask = () => ada.ask('POST', `/api/capsules/${id}/seal`, { exit_code: 0 }, { 'idempotency-key': `seal ${id}` })
    const answers = await Promise.all([ask(), ask(), ask()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await ask()).text).toBe(answers[0]!.text)
  })

  test('a seal during a change of the draft contains one version, never a mix of both', async () => {
    const id = await runnable()
    const clone = (await ada.post(`/api/capsules/${id}/clone`)).body.capsule_id
    await run(clone)
    const [sealed, changed] = await Promise.all([
      seal(clone),
      ada.ask('PATCH', `/api/capsules/${clone}`, { name: 'Changed' })
    ])
    const record = await read(clone)
    if (sealed.status === 200) {
      const [row] = await db.execute(sql`select manifest from capsule_seals where capsule_id = ${clone}`)
      expect(JSON.parse(row!.manifest as string).name).toBe(record.name)
    } else expect([sealed.status, changed.status, record.state]).toEqual([409, 200, 'draft'])
  })

  test('exactly one of a simultaneous seal and deletion succeeds', async () => {
    for (let round = 0; round < 4; round++) {
      const id = await runnable()
      const [sealed, deleted] = await Promise.all([seal(id), ada.ask('DELETE', `/api/capsules/${id}`)])
      const outcome = [sealed.status, deleted.status, (await ada.get(`/api/capsules/${id}`)).status]
      expect([
        [200, 403, 200],
        [404, 200, 404]
      ]).toContainEqual(outcome)
    }
  })

  test('exactly one of a simultaneous publication and archiving succeeds', async () => {
    const id = await runnable()
    await seal(id)
    const answers = await Promise.all([
      ada.post(`/api/capsules/${id}/publish`, { title: 'At once', description: 'd' }),
      ada.post(`/api/capsules/${id}/archive`)
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403])
    const { state, publication } = await read(id)
    expect([state, publication !== null]).toEqual(
      answers[0]!.status === 200 ? ['published', true] : ['archived', false]
    )
  })

  test('a connection that dies at any statement of the seal leaves it runnable or sealed', async () => {
    const killer = connect(api.database.url, { max: 1 })
    try {
      // Every table that a seal writes to, before and after the write, and the commit itself.
      const places: [string, string][] = [
        ['before insert on capsule_seals', ''],
        ['after insert on capsule_seals', ''],
        ['before update on capsules', "when (new.state = 'sealed')"],
        ['after update on capsules', "when (new.state = 'sealed')"],
        ['after insert on audit_entries', "when (new.action = 'capsule.sealed')"],
        ['after update on audit_heads', ''],
        ['after insert on audit_checkpoints', '']
      ]
      await killer.sql.unsafe(`create or replace function die() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`)
      const deferred = places
        .filter(([place]) => place.startsWith('after'))
        .map(([place, when]): [string, string, string] => ['constraint', place, when])
      const all: [string, string, string][] = [
        ...places.map(([place, when]): [string, string, string] => ['', place, when]),
        ...deferred
      ]
      for (const [kind, place, when] of all) {
        const id = await runnable()
        const head = async () => [
          ...(await db.execute(sql`select seq, hash from audit_heads where team_id = ${ada.teamId}`))
        ]
        const before = { record: await read(id), head: await head() }
        await killer.sql.unsafe(`create ${kind} trigger zz_die ${place}
          ${kind ? 'deferrable initially deferred' : ''} for each row ${when} execute function die()`)
        const answer = await seal(id)
        await killer.sql.unsafe(`drop trigger zz_die on ${place.split(' on ')[1]}`)
        expect([place, answer.status]).toEqual([place, 503])
        expect({ record: await read(id), head: await head() }).toEqual(before)
        const [rest] = await db.execute(
          sql`select (select count(*) from capsule_seals where capsule_id = ${id})::int as seals`
        )
        expect(rest).toEqual({ seals: 0 })
        expect((await seal(id)).body.state).toBe('sealed')
      }
    } finally {
      await killer.close()
    }
  }, 180_000)
})

/** Runs the present version of a draft until the run finishes. */
async function run(draft: string): Promise<void> {
  const answer = await ada.post(`/api/capsules/${draft}/run`, { mode: 'template' })
  if (answer.status !== 201) throw new Error(`run answered ${answer.status}: ${answer.text}`)
  await advanceRun(db, answer.body.capsule_run_id)
  await finishJob(db, answer.body.job_id)
  await advanceRun(db, answer.body.capsule_run_id)
}
