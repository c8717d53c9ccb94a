// Saving a script by its source: what is accepted, what is reported, and what is refused with its place.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { rateLimits } from '../../../domain/teams/rate-limits.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { addScript, metadataOf, sha256 } from '../../support/jobs/script-rows.js'

const api = await startApi('scripts_upload')
const { db } = api.database
afterAll(() => api.close())

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const workflow = `from marqov import task, workflow


@task(retries=2, timeout=30)
def double(x, *rest, scale=1):
    return 2 * x * scale


@workflow
def doubled(x=3):
    return double(x)
`

let ada: TestUser & { teamId: string }
beforeAll(async () => {
  ada = await api.signUpWithTeam()
})

const upload = async (user: TestUser, changes: Record<string, unknown> = {}) =>
  user.post('/api/scripts/upload', { name: 'A Bell pair', script_content: bellQasm3(), ...changes })

describe('an upload', () => {
  test('saves OpenQASM as a script, with the findings of its analysis', async () => {
    const answer = await upload(ada, { description: 'two qubits', script_type: 'script' })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      script_id: uuid,
      slug: 'a-bell-pair',
      name: 'A Bell pair',
      script_type: 'script',
      status: 'validated',
      validation_warnings: [],
      warnings: [],
      metadata: metadataOf(bellQasm3())
    })
    const script = (await ada.get(`/api/scripts/${answer.body.script_id}`)).body
    expect(script).toMatchObject({
      id: answer.body.script_id,
      slug: 'a-bell-pair',
      description: 'two qubits',
      script_type: 'script',
      category: 'custom',
      framework: 'openqasm',
      script_content: bellQasm3(),
      requirements: null,
      user_id: ada.id,
      team_id: ada.teamId,
      version: 1,
      source_sha256: sha256(bellQasm3()),
      is_public: false,
      is_hardcoded: false,
      is_active: true,
      published_at: null,
      executions_count: 0,
      executions: []
    })
  })

  test('detects tasks and workflows by their decorators', async () => {
    const answer = await upload(ada, { name: 'doubling', script_content: workflow })
    expect(answer.body).toMatchObject({ script_type: 'workflow', validation_warnings: [] })
    expect(answer.body.metadata).toEqual({
      framework: 'marqov',
      imports: ['marqov'],
      functions: [
        {
          name: 'double',
          parameters: ['x', '*rest', 'scale'],
          is_task: true,
          is_workflow: false,
          retries: 2,
          timeout: 30
        },
        {
          name: 'doubled',
          parameters: ['x'],
          is_task: false,
          is_workflow: true,
          retries: null,
          timeout: null
        }
      ],
      entry_point: 'doubled',
      source_sha256: sha256(workflow)
    })
  })

  test('warns of probable failures, and of a type that does not match the code', async () => {
    const code =
      'import requests\nimport nosuchpackage\nfrom qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n'
    const { status, body } = await upload(ada, { script_content: code, script_type: 'task' })
    expect(status).toBe(200)
    expect(body.script_type).toBe('task')
    expect(body.validation_warnings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^line 2: 'nosuchpackage' is not installed/),
        expect.stringMatching(/^line 1: .*no network/),
        'script_type: declared as task, but no function is decorated with @task'
      ])
    )
    expect(body.warnings).toEqual(
      expect.arrayContaining([
        { field: 'script_content', message: expect.stringMatching(/^'nosuchpackage' is not installed/), line: 2 },
        { field: 'script_type', message: body.validation_warnings.at(-1), line: null }
      ])
    )
  })

  test('warns of characters that make the code look different from what it does', async () => {
    const code = 'from qiskit import QuantumCircuit\n# \u202e\ncircuit = QuantumCircuit(1)\n'
    const { body } = await upload(ada, { script_content: code })
    expect(body.validation_warnings).toEqual([expect.stringMatching(/^line 2: .*U\+202E/)])
  })

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['a syntax error', { script_content: 'def f(:\n  pass' }, /^script_content, line 1, column 7: SyntaxError: /],
    ['a syntax error on a later line', { script_content: 'x = 1\ny = (\n' }, /^script_content, line 2, column 5: /],
    ['invalid OpenQASM', { script_content: 'OPENQASM 3.0;\nqubit q;\nnosuch q;' }, /^script_content, line 3.*nosuch/],
    [
      'an option in the requirements',
      { requirements: 'numpy\n-r other.txt' },
      /^requirements, line 2: the option -r is not possible/
    ],
    [
      'an index in the requirements',
      { requirements: '--index-url https://x.example' },
      /^requirements, line 1: the option --index-url/
    ],
    [
      'a URL in the requirements',
      { requirements: 'x @ https://x.example/x.whl' },
      /^requirements, line 1: a URL or path/
    ],
    ['a path in the requirements', { requirements: './x' }, /^requirements, line 1: a URL or path/],
    [
      'an environment variable in the requirements',
      { requirements: 'x==$SECRET' },
      /^requirements, line 1: environment variables/
    ],
    [
      '10,000 requirements',
      { requirements: 'numpy\n'.repeat(10_000) },
      /^requirements, line 201: there are more than 200/
    ],
    [
      'deep nesting',
      { script_content: `x = ${'('.repeat(5_000)}${')'.repeat(5_000)}` },
      /^script_content.*(nested|many)/
    ],
    ['a NUL in the source', { script_content: 'x = 1\0' }, /script_content: holds a NUL character/],
    ['a lone surrogate in the source', { script_content: 'x = "\ud800"' }, /script_content: holds a lone surrogate/],
    ['a blank source', { script_content: ' \n\t' }, /^script_content: is blank/],
    ['an empty source', { script_content: '' }, /^script_content: must be a string/],
    ['a blank name', { name: '  ' }, /^name: must match/],
    ['a long name', { name: 'x'.repeat(201) }, /^name: must be a string of 1 to 200/],
    ['a long description', { description: 'x'.repeat(1_001) }, /^description: must be a string of at most 1000/],
    ['another type', { script_type: 'circuit' }, /^script_type: must be one of script, task, workflow/],
    ['a framework', { framework: 'qiskit' }, /^framework: is not a field/],
    ['long requirements', { requirements: 'x'.repeat(100_001) }, /^requirements: /]
  ])('with %s is refused with the place of the fault', async (_what, changes, message) => {
    const answer = await upload(ada, changes)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(message)])
  })

  test('reports every fault in addition to the first', async () => {
    const { body } = await upload(ada, { requirements: '-r a\n-r b' })
    expect(body.error).toMatch(/ \(and 1 more\)$/)
    expect(body.errors).toEqual([1, 2].map((line) => expect.objectContaining({ field: 'requirements', line })))
  })

  test('accepts names of 200 characters, descriptions of 1,000 and sources of 1 MiB, and no longer ones', async () => {
    const filler = (bytes: number) => `x = 1\n#${'é'.repeat((bytes - 7) / 2)}`
    const good = {
      name: '\u{1f511}'.repeat(200),
      description: 'd'.repeat(1_000),
      script_content: `${filler(1_048_575)}\n`
    }
    expect(Buffer.byteLength(good.script_content)).toBe(1_048_576)
    expect((await upload(ada, good)).status).toBe(200)
    const answer = await upload(ada, { script_content: `${filler(1_048_577)}` })
    expect([answer.status, answer.body.error]).toEqual([
      400,
      'script_content: must be at most 1048576 bytes (got 1048577)'
    ])
    expect((await upload(ada, { script_content: 'x'.repeat(2_100_000) })).status).toBe(413)
  })

  test('creates the personal team of a caller without one', async () => {
    const eve = await api.signUp()
    const id = (await upload(eve)).body.script_id
    const { teams } = (await eve.get('/api/auth/session')).body
    expect((await eve.get(`/api/scripts/${id}`)).body.team_id).toBe(teams[0].id)
  })

  test('gives twenty slugs to twenty simultaneous scripts of one name', async () => {
    const dan = await api.signUpWithTeam()
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        addScript(db, { teamId: dan.teamId, userId: dan.id, name: n % 2 ? 'Ünique!' : 'unique' })
      )
    )
    const rows = await db.execute<{ slug: string }>(sql`select slug from scripts where team_id = ${dan.teamId}`)
    const slugs = rows.map(({ slug }) => slug).sort()
    expect(slugs).toEqual(['unique', ...Array.from({ length: 19 }, (_, n) => `unique-${n + 2}`)].sort())
    expect(new Set(ids).size).toBe(20)
  })

  test('returns 502 if the execution service is unavailable and 503 if none is configured, and saves nothing', async () => {
    const away = await startApi('scripts_away', { executorUrl: 'http://127.0.0.1:1' })
    const none = await startApi('scripts_none', { executorUrl: null })
    try {
      for (const [other, status] of [
        [away, 502],
        [none, 503]
      ] as const) {
        const user = await other.signUp()
        expect((await upload(user)).status).toBe(status)
        expect((await user.get('/api/scripts?user_only=true')).body.total).toBe(0)
      }
    } finally {
      await away.close()
      await none.close()
    }
  })

  test('saves one script when it is sent twice under one Idempotency-Key', async () => {
    const send = () =>
      ada.ask(
        'POST',
        '/api/scripts/upload',
        { name: 'once', script_content: bellQasm3() },
        { 'idempotency-key': 'op-1' }
      )
    const [first, second] = await Promise.all([send(), send()])
    expect(first.status).toBe(200)
    expect(second.text).toBe(first.text)
  })

  test('is limited to five a minute per caller, and a repetition under its Idempotency-Key does not count', async () => {
    const limited = await startApi('scripts_limited', { limits: rateLimits })
    try {
      const user = await limited.signUp()
      const send = (key: string) =>
        user.ask('POST', '/api/scripts/upload', { name: key, script_content: bellQasm3() }, { 'idempotency-key': key })
      const statuses: number[] = []
      for (const key of ['a', 'b', 'a', 'c', 'd', 'e', 'f', 'a']) statuses.push((await send(key)).status)
      expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 200])
    } finally {
      await limited.close()
    }
  })
})
