// Capsules as files: export and import.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { readPackage } from '../../../capsule-format/package-reader.js'
import { verifyPackage } from '../../../capsule-format/package-verification.js'
import { commandLine } from '../../../db/audit/admin-audit.js'
import { rotateSigningKey } from '../../../services/keys/signer.js'
import { startApi, type TestApi, type TestUser } from '../../support/api/api.js'
import { asForm, createCapsuleBench, form, made, tarGz } from '../../support/capsules/capsule-bench.js'
import { bellQasm3 } from '../../support/jobs/builders.js'

type Owner = TestUser & { teamId: string }

let api: TestApi
let owner: Owner
let outsider: Owner
let bench: ReturnType<typeof createCapsuleBench>

beforeAll(async () => {
  api = await startApi('capsule_transfer')
  owner = await api.signUpWithTeam()
  outsider = await api.signUpWithTeam()
  bench = createCapsuleBench(api, owner)
})

afterAll(() => api.close())

describe('an exported package', () => {
  test('has the same bytes each time, before and after the capsule is published or archived', async () => {
    for (const [action, body] of [
      ['publish', { title: 'A title', description: 'what it is', license: 'Apache-2.0' }],
      ['archive', {}]
    ] as const) {
      const id = await bench.sealed()
      for (const format of ['capsule', 'rocrate']) {
        const { bytes } = await bench.exported(id, format)
        expect((await bench.exported(id, format)).bytes.equals(bytes)).toBe(true)
      }
      const before = [await bench.exported(id), await bench.exported(id, 'rocrate')]
      expect((await owner.post(`/api/capsules/${id}/${action}`, body)).status).toBe(200)
      expect((await bench.exported(id)).bytes.equals(before[0]!.bytes)).toBe(true)
      expect((await bench.exported(id, 'rocrate')).bytes.equals(before[1]!.bytes)).toBe(true)
    }
  })

  test('has the same bytes after a change of the signing key, and its attestation stays valid under the key that signed it', async () => {
    const id = await bench.sealed()
    const before = [await bench.exported(id), await bench.exported(id, 'rocrate')]
    const { retired } = await rotateSigningKey(api.database.db, api.deps.keyRing!, commandLine)
    expect((await bench.exported(id)).bytes.equals(before[0]!.bytes)).toBe(true)
    expect((await bench.exported(id, 'rocrate')).bytes.equals(before[1]!.bytes)).toBe(true)
    expect((await bench.imported(before[1]!.bytes)).body.warnings).toEqual([])
    const read = await readPackage(before[1]!.bytes)
    const { keys } = (await owner.get('/api/meta/keys')).body as { keys: { key_id: string; public_key_pem: string }[] }
    for (const { key_id, public_key_pem: publicKeyPem } of keys)
      expect([key_id, verifyPackage(read, { publicKeyPem }).ok]).toEqual([key_id, key_id === retired])
    expect(verifyPackage(read, { publicKeyPem: JSON.stringify(keys) }).authenticated).toBe(true)
  })

  test('is accepted by the public verifier under the identity that the record states', async () => {
    const id = await bench.sealed({ name: 'Ünï \u2028 % \\ 🚀' })
    const { capsule_digest } = (await bench.record(id)).seal
    const folder = mkdtempSync(join(tmpdir(), 'capsule-'))
    try {
      const file = join(folder, 'x.capsule')
      writeFileSync(file, (await bench.exported(id)).bytes)
      const tool = join(projectRoot, '.venv/bin/marqov-capsule')
      const { stdout } = await promisify(execFile)(tool, ['verify', file, '--id', capsule_digest, '--json'])
      expect(JSON.parse(stdout)).toMatchObject({ status: 'pass', manifest_authenticated: true })
    } finally {
      rmSync(folder, { recursive: true })
    }
  }, 60_000)

  test.each([
    ['a "quoted" name', 'a-quoted-name'],
    ['one\r\nSet-Cookie: x=y', 'one-set-cookie-x-y'],
    ['🚀🚀', 'capsule'],
    ['Étude Mu\u0308ller', 'etude-muller'],
    ['\u202Egnp.exe', 'gnp-exe'],
    ['../../etc/passwd', 'etc-passwd'],
    ['NUL', 'capsule-nul'],
    ['x'.repeat(200), 'x'.repeat(60)]
  ])('has a file name of letters, digits and hyphens only: %j', async (name, expected) => {
    const id = await bench.draft({ name })
    expect((await bench.exported(id)).headers['content-disposition']).toBe(`attachment; filename="${expected}.capsule"`)
    expect((await bench.exported(id, 'rocrate')).headers['content-disposition']).toBe(
      `attachment; filename="${expected}.crate.zip"`
    )
  })

  test('of a draft has no digest, and states that it is a draft', async () => {
    const read = await readPackage((await bench.exported(await bench.draft())).bytes)
    expect([read.checksums, read.rootDigest, read.manifest.lifecycle_state]).toEqual([null, null, 'draft'])
    expect(read.manifest.checksums_digest).toBeUndefined()
  })

  test('is available to members, and to everyone once it is published', async () => {
    const id = await bench.sealed()
    for (const path of ['export', 'attestation']) {
      const answer = await outsider.get(`/api/capsules/${id}/${path}`)
      expect([answer.status, answer.body.error]).toEqual([404, 'no such capsule'])
    }
    await owner.post(`/api/capsules/${id}/publish`, { title: 'A title', description: 'what it is' })
    expect((await bench.exported(id, 'capsule', outsider)).bytes.equals((await bench.exported(id)).bytes)).toBe(true)
  })

  test('contains no email address', async () => {
    const id = await bench.sealed()
    const { bytes } = await bench.exported(id)
    expect(gunzipSync(bytes).includes('@example.org')).toBe(false)
    expect(gunzipSync(bytes).includes(owner.id)).toBe(true)
  })

  test('an attestation is available as soon as the capsule is sealed', async () => {
    const answer = await owner.get(`/api/capsules/${await bench.draft()}/attestation`)
    expect([answer.status, answer.body.error]).toEqual([
      404,
      'This capsule is draft; an attestation comes with its seal'
    ])
    const id = await bench.sealed()
    const envelope = (await owner.get(`/api/capsules/${id}/attestation`)).body
    expect(envelope).toEqual((await bench.record(id)).seal.signature.envelope)
  })
})

const notSealed = 'The package is not sealed: nothing says whether its files are as they were.'

describe('an imported package', () => {
  const everyState: [string, () => Promise<string>][] = [
    [
      'draft',
      () => bench.draft({ description: 'what it is', tags: ['a', 'b'], max_budget_usd: 1.5, retention_years: 3 })
    ],
    ['empty draft', () => bench.draft({ workflow: undefined })],
    ['runnable', () => bench.fromJob({ regulatory_framework: 'GxP' })],
    [
      'runnable with parameters of its own',
      () => bench.fromJob({}, { params: { shots: 100, theta: 1e-7, big: '9'.repeat(30), ключ: null } })
    ],
    [
      'runnable with numbers that no JavaScript number holds',
      async () => {
        const job = await bench.completedJob()
        const params = '{"shots":100,"big":12345678901234567890123,"x":1e400,"text":"12345678901234567890123"}'
        await api.database.db.execute(sql`update jobs set params = ${params} where id = ${job}`)
        return made(await owner.post('/api/capsules/from-job', { job_id: job }))
      }
    ],
    ['sealed', () => bench.sealed({ tags: ['x'] })],
    [
      'published',
      async () => {
        const id = await bench.sealed()
        await owner.post(`/api/capsules/${id}/publish`, { title: 'A title', description: 'what it is' })
        return id
      }
    ],
    [
      'archived',
      async () => {
        const id = await bench.sealed()
        await owner.post(`/api/capsules/${id}/archive`)
        return id
      }
    ]
  ]

  test.each(everyState)('has the definition that was exported: %s', async (_state, make) => {
    const before = await bench.record(await make())
    for (const format of ['capsule', 'rocrate']) {
      const answer = await bench.imported((await bench.exported(before.id, format)).bytes)
      expect([answer.status, answer.body]).toEqual([
        201,
        { capsule_id: expect.any(String), state: 'draft', warnings: before.seal ? [] : [notSealed] }
      ])
      const after = await bench.record(answer.body.capsule_id)
      const kept = ['name', 'description', 'tags', 'workflow', 'definition_sha256', 'backends', 'max_budget_usd']
      for (const field of [...kept, 'retention_years', 'regulatory_framework'])
        expect([field, after[field]]).toEqual([field, before[field]])
      const digest = before.seal?.capsule_digest ?? null
      expect([after.state, after.seal, after.derived_from, after.imported.capsule_digest]).toEqual([
        'draft',
        null,
        digest,
        digest
      ])
      expect(after.imported.name).toBe(before.name)
    }
  })

  test('refers to a script that its importer can read, and otherwise contains its source', async () => {
    const script = await owner.post('/api/scripts/upload', { name: 'Bell', script_content: bellQasm3() })
    const { script_id } = script.body
    const id = await bench.draft({
      workflow: { tasks: [{ name: 'bell', script_id, backend: 'local', parameters: { shots: 7 } }] }
    })
    const { bytes } = await bench.exported(id)
    const own = await bench.imported(bytes)
    expect(own.body.warnings).toEqual([notSealed])
    expect((await bench.record(own.body.capsule_id)).workflow.tasks[0].script_id).toBe(script_id)
    const foreign = await bench.imported(bytes, outsider)
    expect(foreign.body.warnings).toEqual([
      notSealed,
      expect.stringContaining('bell: its script is not one that you can read')
    ])
    const tasks = (await outsider.get(`/api/capsules/${foreign.body.capsule_id}`)).body.workflow.tasks
    expect(tasks[0]).toMatchObject({ script_id: null, inline_code: bellQasm3(), parameters: { shots: 7 } })
  })

  test('belongs to its importer and their team, whatever the package claims', async () => {
    const { body } = await bench.imported((await bench.exported(await bench.sealed())).bytes, outsider)
    const after = (await outsider.get(`/api/capsules/${body.capsule_id}`)).body
    expect([after.team_id, after.owner_id, after.state, after.evidence.artifacts]).toEqual([
      outsider.teamId,
      outsider.id,
      'draft',
      []
    ])
    expect((await owner.get(`/api/capsules/${body.capsule_id}`)).status).toBe(404)
  })

  test('belongs to the team that the form or the query names, if the caller is a member of it', async () => {
    const { bytes } = await bench.exported(await bench.draft())
    const { id: team } = (await owner.post('/api/teams', { name: 'another team' })).body
    const query = await owner.ask('POST', `/api/capsules/import?team_id=${team}`, bytes, {
      'content-type': 'application/gzip'
    })
    expect((await bench.record(made(query))).team_id).toBe(team)
    const parts = form(
      [
        { name: 'team_id', content: team },
        { name: 'file', content: bytes, file: 'x.capsule' }
      ],
      'abc'
    )
    expect(
      (await bench.record(made(await owner.ask('POST', '/api/capsules/import', parts, asForm('abc'))))).team_id
    ).toBe(team)
    const foreign = await outsider.ask('POST', `/api/capsules/import?team_id=${team}`, bytes, {
      'content-type': 'application/gzip'
    })
    expect(foreign.status).toBe(404)
    const both = await owner.ask('POST', `/api/capsules/import?team_id=${owner.teamId}`, parts, asForm('abc'))
    expect([both.status, both.body.error]).toEqual([400, expect.stringContaining('name different teams')])
  })

  test('is created once under one Idempotency-Key, whatever the boundary of its form', async () => {
    const { bytes } = await bench.exported(await bench.draft())
    const key = randomBytes(8).toString('hex')
    const send = (boundary: string, content: Buffer) =>
      owner.ask(
        'POST',
        '/api/capsules/import',
        form([{ name: 'file', content, file: 'x' }], boundary),
        asForm(boundary, key)
      )
    const first = await send('one', bytes)
    const second = await send('another', bytes)
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text])
    expect(second.headers['idempotency-replayed']).toBe('true')
    const other = await send('one', (await bench.exported(await bench.draft({ name: 'another' }))).bytes)
    expect([other.status, other.body.error]).toEqual([409, expect.stringContaining('with another body')])
    const raw = { 'content-type': 'application/gzip', 'idempotency-key': `${key}-raw` }
    const third = await owner.ask('POST', '/api/capsules/import', bytes, raw)
    expect((await owner.ask('POST', '/api/capsules/import', bytes, raw)).text).toBe(third.text)
  })

  test.each(['valid_capsule', 'multi_task_capsule', 'derived_capsule/parent', 'derived_capsule/child'])(
    "that the format's authors published keeps its published identity: %s",
    async (fixture) => {
      const folder = join(projectRoot, 'test/capsule-format/fixtures', fixture)
      const names = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
      const files = names.map((name) => [`x/${relative(folder, name)}`, readFileSync(name)])
      const { status, body } = await bench.imported(tarGz(Object.fromEntries(files)))
      expect([status, body.error]).toEqual([201, undefined])
      const expected = readFileSync(
        join(folder, '../'.repeat(fixture.split('/').length), 'golden/expected.json'),
        'utf8'
      )
      const { capsule_id } = JSON.parse(expected).find((one: { fixture: string }) => one.fixture === fixture)
      const after = await bench.record(body.capsule_id)
      expect([after.state, after.derived_from, after.imported.capsule_digest]).toEqual([
        'draft',
        capsule_id,
        capsule_id
      ])
    }
  )

  test('of another tool can contain everything that the format allows', async () => {
    const deep = `${'{"a":'.repeat(58)}1${'}'.repeat(58)}`
    const many = `[${'1,'.repeat(24_999)}1]`
    const manifest = `{"version":"1.0.0","name":"deep","lifecycle_state":"draft","parameters":{"constructor":${deep},"b":${many},"c":"\\u0000"}}`
    const { status, body } = await bench.imported(tarGz({ 'x/capsule.yaml': manifest }))
    expect([status, body.error]).toEqual([201, undefined])
  })

  test('of another tool becomes a draft without tasks, and a warning says so', async () => {
    const manifest =
      'version: "1.0.0"\nname: from elsewhere\nlifecycle_state: draft\ncreated_by: somebody@example.org\n'
    const { status, body } = await bench.imported(tarGz({ 'x/capsule.yaml': manifest }))
    expect([status, body.warnings]).toEqual([201, [notSealed, expect.stringContaining('was not made by this service')]])
    const after = await bench.record(body.capsule_id)
    expect([after.name, after.workflow]).toEqual(['from elsewhere', null])
    expect(JSON.stringify(after)).not.toContain('somebody@example.org')
  })
})
