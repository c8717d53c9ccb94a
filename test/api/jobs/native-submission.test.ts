// POST /api/jobs/submit of a native program, and the requests before it: every rule of the protocol at its limits. What is
// refused leaves nothing behind. The tests in test/marqov run the programs.
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import type { ApiResponse } from '../../support/api/api.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { createResponseChecker, type ResponseChecker } from '../../support/api/documented.js'
import { keyed } from '../../support/api/keyed.js'

const api = await startApi('native_submission')
const { db } = api.database
afterAll(() => api.close())

let ada: TestUser & { teamId: string }
let eve: TestUser & { teamId: string }
let checker: ResponseChecker
beforeAll(async () => {
  ada = await api.signUpWithTeam({ admin: true })
  eve = await api.signUpWithTeam()
  checker = createResponseChecker((await api.ask('GET', '/openapi.json')).body)
})

const SOURCE =
  'from marqov import task, workflow\n\n@task\ndef f(x): return x + 1\n\n@workflow\ndef wf(x): return f(x)\n'
const INPUT = '{"entrypoint": "wf", "args": [1], "kwargs": {}}'
const BODY_MAX = 1_048_576
const inline = (content: string) => ({ source: { kind: 'inline', content } })
const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex')

const native = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  protocol_version: 'marqov.public-submission/v1',
  team_id: ada.teamId,
  backend: 'marqov-sim',
  programming_model: 'native_workflow',
  cap_cents: 100,
  analysis_id: null,
  source: { kind: 'inline', content: SOURCE },
  input: INPUT,
  ...changes
})
const send = (body: unknown, key: string = randomUUID(), user: TestUser = ada): Promise<ApiResponse> =>
  user.ask('POST', '/api/jobs/submit', body, keyed(key))
const accepted = async (changes: Record<string, unknown>): Promise<ApiResponse['body']> => {
  const answer = await send(native(changes))
  expect([answer.status, answer.body]).toEqual([201, expect.objectContaining({ job_id: expect.any(String) })])
  return answer.body
}
const rows = async () =>
  (
    await db.execute(sql`select (select count(*)::int from jobs) as jobs, (select count(*)::int from outbox) as outbox,
      (select count(*)::int from ledger) as ledger, (select count(*)::int from idempotency_keys) as keys`)
  )[0]
const refused = async (body: unknown, message: string | RegExp, status = 400, key?: string, user?: TestUser) => {
  const before = await rows()
  const answer = await send(body, key, user)
  expect([answer.status, answer.body?.error]).toEqual([
    status,
    typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message)
  ])
  expect(answer.body.error.length).toBeLessThan(500)
  expect(await rows()).toEqual(before)
}

describe('the receipt', () => {
  test('has exactly five fields, with the hashes of the received bytes', async () => {
    const source = `${SOURCE}# ключ 🔑\r\n`
    const input = '{"entrypoint":"wf","args":[100000000000000000000000000000000000000000,"\\u00e9"],"kwargs":{}}'
    const answer = await send(native({ ...inline(source), input }))
    expect(answer.status).toBe(201)
    expect(checker.faultOf('POST', '/api/jobs/submit', answer)).toBeNull()
    const { job_id } = answer.body
    expect(answer.body).toEqual({
      protocol_version: 'marqov.funded-admission-receipt/v1',
      job_id,
      submission_id: job_id,
      source_sha256: sha256(source),
      input_sha256: sha256(input)
    })
    const { body: job } = await ada.get(`/api/jobs/${job_id}`)
    expect(job).toMatchObject({
      status: 'pending',
      execution_mode: 'temporal',
      backend: 'marqov-sim',
      framework: 'marqov',
      name: 'wf',
      params: { shots: 1000 },
      source: { kind: 'inline', format: null, sha256: sha256(source) },
      entrypoint: 'wf',
      max_cost_usd: 1
    })
    expect((await ada.get(`/api/jobs/${job_id}/source`)).text).toBe(source)
    const [row] = await db.execute(
      sql`select programming_model, entrypoint, input, max_cost_micro::text as cap, durable from jobs where id = ${job_id}`
    )
    expect(row).toEqual({
      programming_model: 'native_workflow',
      entrypoint: 'wf',
      input,
      cap: '1000000',
      durable: true
    })
  })

  test('is returned again for the same request, and another request with its key is a conflict', async () => {
    const key = randomUUID()
    const [first, second] = [await send(native(), key), await send(native(), key)]
    expect([second.status, second.text]).toEqual([201, first.text])
    await refused(native({ cap_cents: 101 }), 'with another body', 409, key)
    const both = await Promise.all([1, 2, 3].map(() => send(native(), 'FFFFFFFF-ffff-ffff-ffff-ffffffffffff')))
    expect(new Set(both.map(({ text }) => text)).size).toBe(1)
  })

  test('of a repeated run is for the same call under the same cap', async () => {
    const input = `{"entrypoint": "wf", "args": [${'7'.repeat(4_300)}], "kwargs": {}}`
    const { job_id } = await accepted({ input, programming_model: 'single_task', cap_cents: 7 })
    const again = await ada.post(`/api/jobs/${job_id}/rerun`, {})
    expect(again.status).toBe(201)
    const [row] = await db.execute(sql`select programming_model, entrypoint, input, max_cost_micro::text as cap, durable
      from jobs where id = ${again.body.job_id}`)
    expect(row).toEqual({ programming_model: 'single_task', entrypoint: 'wf', input, cap: '70000', durable: true })
  })
})

describe('a native submission is accepted with', () => {
  test.each<[string, Record<string, unknown>]>([
    ['a single task', { programming_model: 'single_task' }],
    ['a cap of one cent', { cap_cents: 1 }],
    ['a cap of a hundred dollars', { cap_cents: 10_000 }],
    ['no analysis_id', { analysis_id: undefined }],
    ['the hash of the source', { source_sha256: sha256(SOURCE) }],
    ['a source of 1 byte', inline('x')],
    ['a source of 1 MiB', inline('#'.repeat(BODY_MAX))],
    ['a source of 1 MiB of two-byte letters', inline('é'.repeat(BODY_MAX / 2))],
    ['an input of 1 MiB', { input: INPUT.replace('1', `"${'x'.repeat(BODY_MAX - INPUT.length - 1)}"`) }],
    ['a team in capitals', { team_id: 'upper' }]
  ])('%s', async (_name, changes) => {
    await accepted(changes.team_id === 'upper' ? { team_id: ada.teamId.toUpperCase() } : changes)
  })
})

describe('a native submission is refused with', () => {
  test.each<[string, Record<string, unknown>, string | RegExp]>([
    [
      'another version of the protocol',
      { protocol_version: 'marqov.public-submission/v2' },
      'protocol_version: must be'
    ],
    ['a protocol that is not text', { protocol_version: null }, 'protocol_version: must be'],
    ['an unknown field', { sdk_version: '0.11.0' }, 'sdk_version: is not a field of this request'],
    ['a field of plain submissions', { params: { shots: 1 } }, 'params: is not a field of this request'],
    ['no team', { team_id: undefined }, 'team_id: is required'],
    ['a team without dashes', { team_id: '01900000000070008000000000000000' }, 'team_id: must be a valid uuid'],
    ['a team in braces', { team_id: '{01900000-0000-7000-8000-000000000000}' }, 'team_id: must be a valid uuid'],
    ['a team of version 9', { team_id: '01900000-0000-9000-8000-000000000000' }, 'team_id: must be a UUID'],
    ['a team of another variant', { team_id: '01900000-0000-7000-c000-000000000000' }, 'team_id: must be a UUID'],
    ['no backend', { backend: undefined }, 'backend: is required'],
    [
      'another model',
      { programming_model: 'script' },
      'programming_model: must be one of native_workflow, single_task'
    ],
    ['no cap', { cap_cents: undefined }, 'cap_cents: is required'],
    ['a cap of zero', { cap_cents: 0 }, 'cap_cents: must be an integer from 1 to 10000 (got 0)'],
    ['a cap above the maximum', { cap_cents: 10_001 }, 'cap_cents: must be'],
    ['half a cent', { cap_cents: 1.5 }, 'cap_cents: must be'],
    ['a cap as text', { cap_cents: '100' }, 'cap_cents: must be'],
    ['an analysis', { analysis_id: '01900000-0000-7000-8000-000000000000' }, 'analysis_id: must be null'],
    ['no source', { source: undefined }, 'source: is required'],
    ['a source that is text', { source: 'x' }, 'source: must be an object'],
    ['a source of another kind', { source: { kind: 'circuit', content: 'x' } }, 'source.kind: must be one of'],
    ['an empty source', inline(''), 'source.content: must be'],
    ['a source without its text', { source: { kind: 'inline' } }, 'source.content: is required'],
    ['a script without its id', { source: { kind: 'script' } }, 'source.script_id: is required'],
    [
      'a source of both kinds',
      { source: { kind: 'inline', content: 'x', script_id: '01900000-0000-7000-8000-000000000000' } },
      'source.script_id: is not a field of a source of kind inline'
    ],
    [
      'a script with a text',
      { source: { kind: 'script', content: 'x', script_id: '01900000-0000-7000-8000-000000000000' } },
      'source.content: is not a field of a source of kind script'
    ],
    [
      'an extra field of the source',
      { source: { kind: 'inline', content: 'x', sha: '' } },
      'source.sha: is not a field'
    ],
    [
      'a script by a UUID of version 0',
      { source: { kind: 'script', script_id: '01900000-0000-0000-8000-000000000000' } },
      'source.script_id: must be a UUID'
    ],
    ['a source with a NUL', inline('x\u0000'), 'source.content: holds a NUL'],
    ['a source with a lone surrogate', inline('x\ud800'), 'source.content: holds a lone surrogate'],
    ['a source above 1 MiB', inline('#'.repeat(BODY_MAX + 1)), 'source.content: must be'],
    ['a source above 1 MiB of bytes', inline('é'.repeat(BODY_MAX / 2 + 1)), /source\.content: .* bytes .*got 1048578/],
    ['no input', { input: undefined }, 'input: is required'],
    ['an input that is not text', { input: { entrypoint: 'wf', args: [], kwargs: {} } }, 'input: must be a string'],
    ['an input above 1 MiB', { input: `${INPUT}${' '.repeat(BODY_MAX)}` }, 'input: must be'],
    ['an input that is not JSON', { input: 'wf(1)' }, 'input: must be JSON text'],
    ['an input of other fields', { input: '{"entrypoint":"wf","args":[]}' }, 'input: kwargs is missing'],
    ['a hash in capitals', { source_sha256: sha256(SOURCE).toUpperCase() }, 'source_sha256: must match'],
    ['a hash of another source', { source_sha256: sha256('x') }, /source_sha256: the source hashes to [0-9a-f]{64}/],
    ['a field that reaches prototypes', { constructor: 1 }, 'constructor: this key is not allowed'],
    ['a backend for another kind of program', { backend: 'quera-aquila' }, /backend: quera-aquila/]
  ])('%s', async (_name, changes, message) => {
    await refused(native(changes), message)
  })

  test('an unknown backend, or one that accepts no jobs', async () => {
    await refused(native({ backend: 'nope' }), 'no backend is called "nope"')
    await refused(native({ backend: 'tn1' }), 'retired')
  })

  test('a body above 4 MiB', async () => {
    await refused(native({ ...inline('#'.repeat(4 * BODY_MAX)) }), 'larger than this route takes', 413)
  })

  test.each([
    ['no key', undefined],
    ['a key that is not a UUID', 'my-op-1'],
    ['a key without dashes', '01900000000070008000000000000000'],
    ['a key of version 0', '01900000-0000-0000-8000-000000000000']
  ])('%s', async (_name, key) => {
    const before = await rows()
    const answer = await ada.ask('POST', '/api/jobs/submit', native(), key === undefined ? {} : keyed(key))
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('Idempotency-Key: ')])
    expect(await rows()).toEqual(before)
  })

  test('the same 404 for a team of others and for one that does not exist', async () => {
    await refused(native({ team_id: eve.teamId }), 'no such team', 404)
    await refused(native({ team_id: randomUUID() }), 'no such team', 404)
    await refused(native(), 'no such team', 404, randomUUID(), eve)
  })

  test('an unknown script', async () => {
    await refused(
      native({ source: { kind: 'script', script_id: randomUUID() } }),
      'source.script_id: no such script',
      404
    )
  })

  test('a plain submission with fields of a native one stays a plain submission', async () => {
    const { protocol_version: _, ...rest } = native()
    const answer = await ada.post('/api/jobs/submit', rest)
    expect([answer.status, answer.body.error]).toEqual([400, 'params: is required'])
  })
})

describe('a native submission with an API key', () => {
  const keyOf = async (tier: string, more: Record<string, unknown> = {}): Promise<string> => {
    const body = { team_id: ada.teamId, name: 'a key', kind: 'live', tier, ...more }
    return (await ada.post('/api/team/api-keys', body)).body.key
  }
  const asked = (key: string, body: unknown) =>
    api.ask('POST', '/api/jobs/submit', body, { ...keyed(randomUUID()), authorization: `Bearer ${key}` })

  test('requires the tier simulate, and a refusal has a code', async () => {
    expect((await asked(await keyOf('simulate'), native())).status).toBe(201)
    expect(await asked(await keyOf('read'), native())).toMatchObject({
      status: 403,
      body: { error: { code: 'permission_denied' } }
    })
    expect(await asked(await keyOf('simulate'), native({ cap_cents: 0 }))).toMatchObject({
      status: 400,
      body: { error: { code: 'validation_error', message: expect.stringContaining('cap_cents') } }
    })
  })

  test('requires the tier qpu for a paid backend, and a cap that covers the first circuit', async () => {
    const priced = await ada.ask('PATCH', '/api/admin/backends/aer-mps', { pricing: { perShot: 0.0025 } })
    expect(priced.status).toBe(200)
    const body = (cap_cents: number) => native({ backend: 'aer-mps', cap_cents })
    expect((await asked(await keyOf('simulate'), body(300))).status).toBe(403)
    const key = await keyOf('qpu')
    expect(await asked(key, body(249))).toMatchObject({
      status: 402,
      body: { error: { code: 'budget_exceeded', message: expect.stringContaining('$2.49') } }
    })
    expect((await asked(key, body(250))).status).toBe(201)
    const { runtimes } = (await ada.get(`/api/jobs/managed-runtimes?team_id=${ada.teamId}`)).body
    expect(runtimes.filter(({ backend }: { backend: string }) => backend === 'aer-mps')).toEqual(
      ['native_workflow', 'single_task'].map((programming_model) => ({
        backend: 'aer-mps',
        programming_model,
        min_cap_cents: 250,
        max_cap_cents: 10_000
      }))
    )
  })
})

describe('the runtimes of a team', () => {
  const runtimes = async (user: TestUser, team: string) => user.get(`/api/jobs/managed-runtimes?team_id=${team}`)

  test('are the backends that accept jobs now, each for both models, with caps in whole cents', async () => {
    const answer = await runtimes(ada, ada.teamId)
    expect(checker.faultOf('GET', '/api/jobs/managed-runtimes', answer)).toBeNull()
    const listed = answer.body.runtimes
    expect(listed).toContainEqual({
      backend: 'marqov-sim',
      programming_model: 'native_workflow',
      min_cap_cents: 1,
      max_cap_cents: 10_000
    })
    const slugs = new Set(listed.map(({ backend }: { backend: string }) => backend))
    expect(listed).toHaveLength(slugs.size * 2)
    for (const slug of slugs) await accepted({ backend: slug as string, cap_cents: 10_000 })
    for (const slug of ['tn1', 'quera-aquila', 'gpu-statevector']) expect(slugs).not.toContain(slug)
  })

  test('do not include a backend that an administrator has closed', async () => {
    await ada.ask('PATCH', '/api/admin/backends/aer-noisy', { isAvailable: false })
    const { text } = await runtimes(ada, ada.teamId)
    expect(text).not.toContain('aer-noisy')
    await refused(native({ backend: 'aer-noisy' }), 'an administrator has disabled it')
  })

  test('do not include a backend whose first circuit costs more than any cap', async () => {
    await ada.ask('PATCH', '/api/admin/backends/aer-noisy', { isAvailable: true, pricing: { taskFee: 100 } })
    expect((await runtimes(ada, ada.teamId)).text).toContain(
      '"aer-noisy","programming_model":"single_task","min_cap_cents":10000'
    )
    await ada.ask('PATCH', '/api/admin/backends/aer-noisy', { pricing: { taskFee: 100.000001 } })
    expect((await runtimes(ada, ada.teamId)).text).not.toContain('aer-noisy')
  })

  test('of a team of others are 404', async () => {
    expect((await runtimes(ada, eve.teamId)).status).toBe(404)
    expect((await runtimes(ada, randomUUID())).status).toBe(404)
  })
})

test('a mutated native body is refused with a field, or gets a receipt', async () => {
  const values = [
    null,
    true,
    -1,
    1e21,
    '',
    'x',
    '\u0000',
    [],
    {},
    { kind: 'inline' },
    'x'.repeat(70_000),
    [[[]]],
    INPUT
  ]
  const base = native()
  let taken = 0
  for (const field of [...Object.keys(base), 'source.kind', 'source.content', 'source.script_id', 'source_sha256'])
    for (const value of values) {
      const [outer, inner] = field.split('.')
      const body = native({ [outer!]: inner ? { ...(base.source as object), [inner]: value } : value })
      const answer = await send(body)
      if (answer.status === 201) taken++
      else {
        expect([field, value, answer.status]).toEqual([field, value, expect.any(Number)])
        expect([400, 404]).toContain(answer.status)
        expect(answer.body.error).toMatch(/^[\w.-]+: |no such/)
      }
    }
  // null for the analysis, three texts that can be a source, and the original input.
  expect(taken).toBe(5)
}, 60_000)
