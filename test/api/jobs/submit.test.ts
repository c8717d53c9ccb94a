// POST /api/jobs/submit: every field at, below and above its limits. What is refused leaves nothing behind.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('submit')
const { db } = api.database
afterAll(() => api.close())

let ada: TestUser
beforeAll(async () => {
  ada = await api.signUp()
  // The personal team exists already, so a refusal must change nothing at all.
  await ada.submit(submission())
})

const submit = (body: unknown) => ada.post('/api/jobs/submit', body)
const withParams = (params: Record<string, unknown>) => submission({ params: { shots: 1, ...params } })
const rows = async () => {
  const [counts] =
    await db.execute(sql`select (select count(*)::int from jobs) as jobs, (select count(*)::int from job_events) as events,
    (select count(*)::int from outbox) as outbox, (select count(*)::int from ledger) as ledger,
    (select count(*)::int from budget_counters) as counters, (select count(*)::int from teams) as teams`)
  return counts
}
const refused = async (body: unknown, message: string | RegExp, status = 400) => {
  const answer = await submit(body)
  expect([answer.status, answer.body?.error]).toEqual([
    status,
    typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message)
  ])
  expect(answer.body.error.length).toBeLessThan(500)
}

const later = (ms: number) => new Date(Date.now() + ms).toISOString()
const uuid = '01900000-0000-7000-8000-000000000000'

const circuitOf = (payload: string) =>
  submission({ inline_code: undefined, framework: undefined, circuit: { format: 'qasm3', payload } })

describe('a submission is accepted with', () => {
  test.each<[string, Record<string, unknown>]>([
    ['1 shot', withParams({ shots: 1 })],
    ['100,000 shots', withParams({ shots: 100_000 })],
    ['shots written as 1e2', withParams({ shots: 1e2 })],
    ['theta', withParams({ theta: -1.25 })],
    ['graph_size 2', withParams({ graph_size: 2 })],
    ['graph_size 20', withParams({ graph_size: 20 })],
    ['layers 1', withParams({ layers: 1 })],
    ['layers 10', withParams({ layers: 10 })],
    ['seed 0', withParams({ seed: 0 })],
    ['seed 2^31 - 1', withParams({ seed: 2_147_483_647 })],
    ['optimization_level 0', withParams({ optimization_level: 0 })],
    ['optimization_level 3', withParams({ optimization_level: 3 })],
    ['circuit_count 1', withParams({ circuit_count: 1 })],
    ['circuit_count 1000', withParams({ circuit_count: 1_000 })],
    ['notify', submission({ notify: 'email' })],
    ['warn_check_ids', submission({ warn_check_ids: ['a', 'b'] })],
    ['unknown params', withParams({ my_angle: [1.5, { deep: 'x' }], 'ключ 🔑': null })],
    ['inline_code of 1 character', submission({ inline_code: 'x' })],
    ['inline_code of 50,000 characters', submission({ inline_code: 'x'.repeat(50_000) })],
    ['inline_code of 50,000 astral characters', submission({ inline_code: '🔑'.repeat(50_000) })],
    [
      'a circuit in QASM 3',
      submission({ inline_code: undefined, framework: undefined, circuit: { format: 'qasm3', payload: 'x' } })
    ],
    [
      'a circuit of 1 MiB in QASM 2',
      submission({ inline_code: undefined, circuit: { format: 'qasm2', payload: 'x'.repeat(1_048_576) } })
    ],
    ['framework qiskit', submission({ framework: 'qiskit', inline_code: 'x = 1' })],
    ['execution_mode temporal', submission({ execution_mode: 'temporal' })],
    ['execution_mode direct', submission({ execution_mode: 'direct' })],
    ['a name of 200 characters', submission({ name: '🔑'.repeat(200) })],
    ['ten labels of 50 characters', submission({ labels: Array(10).fill('x'.repeat(50)) })],
    ['no labels', submission({ labels: [] })],
    ['timeout_seconds 1', submission({ timeout_seconds: 1 })],
    ['timeout_seconds 900', submission({ timeout_seconds: 900 })],
    ['max_cost_usd 0', submission({ max_cost_usd: 0 })],
    ['max_cost_usd of a micro-dollar', submission({ max_cost_usd: 0.000001 })],
    ['not_before 30 days ahead', submission({ not_before: later(30 * 86_400_000 - 5_000) })],
    ['not_before in the past', submission({ not_before: '2020-01-01T00:00:00Z' })],
    ['not_before with an offset', submission({ not_before: '2020-01-01T00:00:00+02:00' })],
    ['sdk_version', submission({ sdk_version: '0.2.1' })],
    ['a capsule with the longest name', submission({ create_capsule: true, capsule_name: 'x'.repeat(200) })],
    ['optional fields at their defaults', submission({ create_capsule: false, analysis_id: null, warn_check_ids: [] })],
    ['unknown top-level keys', submission({ status: 'completed', cost: 0, user_id: uuid, brand_new: { a: 1 } })]
  ])('%s', async (_what, body) => {
    const answer = await submit(body)
    expect([answer.status, Object.keys(answer.body)]).toEqual([201, ['job_id']])
  })

  test('unknown top-level keys, which are dropped and reach no column', async () => {
    const id = await ada.submit(
      submission({ status: 'completed', actual_cost_usd: 5, user_id: uuid, id: uuid, attempts: 7 })
    )
    const { body } = await ada.get(`/api/jobs/${id}`)
    expect(body).toMatchObject({ status: 'pending', actual_cost_usd: null, user_id: ada.id, attempts: 0 })
  })

  test('params that are returned unchanged, unknown keys included', async () => {
    const params = { shots: 7, theta: 0.1, ключ: { a: [1, 'x', null, true, -0.5e-7] } }
    const id = await ada.submit(submission({ params }))
    expect((await ada.get(`/api/jobs/${id}`)).body.params).toEqual(params)
  })

  test('numbers that are written as floats, which its record keeps', async () => {
    const body = JSON.stringify(submission({ params: { shots: 7, x: 'X', y: 'Y' } }))
    const answer = await ada.post('/api/jobs/submit', body.replace('"X"', '1.0').replace('"Y"', '[-1e300]'))
    expect([answer.status, answer.body]).toEqual([201, { job_id: expect.any(String) }])
    const { text } = await ada.get(`/api/jobs/${answer.body.job_id}`)
    expect(text).toContain('"params":{"shots":7,"x":1.0,"y":[-1e300]}')
  })
})

describe('a submission is refused, leaving nothing behind, with', () => {
  let before: unknown
  beforeEach(async () => {
    before = await rows()
  })
  afterEach(async () => {
    expect(await rows()).toEqual(before)
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['no shots', submission({ params: {} }), 'params.shots: is required'],
    [
      'a circuit that is wider than the backend',
      circuitOf('OPENQASM 3.0;\nqubit[26] q;\n'),
      'backend: the circuit has 26 qubits, local takes at most 25; aer-statevector takes 28'
    ],
    [
      'a state vector of 21 qubits',
      { ...circuitOf('qubit[21] q;\n'), backend: 'aer-statevector', params: { shots: 1, extract_state_vector: true } },
      'params.extract_state_vector: a state vector has at most 20 qubits (the circuit has 21)'
    ],
    ['0 shots', withParams({ shots: 0 }), 'params.shots: must be an integer from 1 to 100000 (got 0)'],
    ['100,001 shots', withParams({ shots: 100_001 }), 'params.shots: must be an integer from 1 to 100000 (got 100001)'],
    ['1.5 shots', withParams({ shots: 1.5 }), 'params.shots: must be an integer from 1 to 100000 (got 1.5)'],
    ['shots as text', withParams({ shots: '100' }), 'params.shots: must be an integer from 1 to 100000 (got "100")'],
    ['shots true', withParams({ shots: true }), 'params.shots: must be an integer'],
    ['shots null', withParams({ shots: null }), 'params.shots: must be an integer'],
    ['shots in a list', withParams({ shots: [100] }), 'params.shots: must be an integer'],
    ['theta as text', withParams({ theta: 'NaN' }), 'params.theta: must be a number (got "NaN")'],
    ['graph_size 1', withParams({ graph_size: 1 }), 'params.graph_size: must be an integer from 2 to 20 (got 1)'],
    ['graph_size 21', withParams({ graph_size: 21 }), 'params.graph_size: must be an integer from 2 to 20 (got 21)'],
    ['graph_size 2.5', withParams({ graph_size: 2.5 }), 'params.graph_size'],
    ['layers 0', withParams({ layers: 0 }), 'params.layers: must be an integer from 1 to 10 (got 0)'],
    ['layers 11', withParams({ layers: 11 }), 'params.layers: must be an integer from 1 to 10 (got 11)'],
    ['seed -1', withParams({ seed: -1 }), 'params.seed'],
    ['seed 2^31', withParams({ seed: 2_147_483_648 }), 'params.seed'],
    ['optimization_level -1', withParams({ optimization_level: -1 }), 'params.optimization_level'],
    ['optimization_level 4', withParams({ optimization_level: 4 }), 'params.optimization_level'],
    ['circuit_count 0', withParams({ circuit_count: 0 }), 'params.circuit_count'],
    [
      'extract_state_vector as text',
      withParams({ extract_state_vector: 'yes' }),
      'params.extract_state_vector: must be true or false'
    ],
    [
      'an observable as text',
      withParams({ observables: 'ZZ' }),
      'params.observables: must be a list of 1 to 100 items (got "ZZ")'
    ],
    ['no observable', withParams({ observables: [] }), 'params.observables: must be a list of 1 to 100 items'],
    [
      '101 observables',
      withParams({ observables: Array(101).fill('ZZ') }),
      'params.observables: must be a list of 1 to 100 items'
    ],
    [
      'an observable that is none',
      withParams({ observables: ['ZZ', 'Zx'] }),
      'params.observables[1]: cannot be read at character 2'
    ],
    [
      'an unknown way to observe',
      withParams({ observables: ['ZZ'], observables_method: 'best' }),
      'params.observables_method: must be one of exact, sampled'
    ],
    [
      'a way to observe nothing',
      withParams({ observables_method: 'exact' }),
      'params.observables_method: needs params.observables'
    ],
    ['noise_model as text', withParams({ noise_model: 'depolarizing' }), 'params.noise_model: must be an object'],
    ['params as a list', submission({ params: [] }), 'params: must be an object'],
    ['no params', submission({ params: undefined }), 'params: is required'],
    ['no backend', submission({ backend: undefined }), 'backend: is required'],
    ['an empty backend', submission({ backend: '' }), 'backend: must be a string of 1 to 100 characters'],
    ['a backend as a number', submission({ backend: 5 }), 'backend: must be a string'],
    ['an unknown backend', submission({ backend: 'nope' }), 'backend: no backend is called "nope"'],
    ['a backend in capitals', submission({ backend: 'LOCAL' }), 'backend: no backend is called "LOCAL"'],
    ['a retired backend', submission({ backend: 'tn1' }), 'backend: tn1 was retired by its provider'],
    ['a backend that is offline', submission({ backend: 'gpu-statevector' }), 'backend: gpu-statevector is offline'],
    ['a backend of a provider', submission({ backend: 'sv1' }), 'backend: sv1 is '],
    [
      'no source',
      submission({ inline_code: undefined }),
      'send exactly one of script_id, script_slug, inline_code, circuit, circuits (got none)'
    ],
    ['two sources', submission({ circuit: { format: 'qasm3', payload: 'x' } }), '(got inline_code, circuit)'],
    ['empty code', submission({ inline_code: '' }), 'inline_code: must be a string of 1 to 50000 characters'],
    [
      'code of 50,001 characters',
      submission({ inline_code: 'x'.repeat(50_001) }),
      'inline_code: must be a string of 1 to 50000 characters (got a string of 50001 characters)'
    ],
    [
      'code of 50,001 astral characters',
      submission({ inline_code: '🔑'.repeat(50_001) }),
      '(got a string of 50001 characters)'
    ],
    ['code as null', submission({ inline_code: null }), 'inline_code: must be a string'],
    [
      'an empty circuit',
      submission({ inline_code: undefined, circuit: { format: 'qasm3', payload: '' } }),
      'circuit.payload: must be a string of 1 to 1048576 characters'
    ],
    [
      'a circuit beyond 1 MiB',
      submission({ inline_code: undefined, circuit: { format: 'qasm3', payload: 'x'.repeat(1_048_577) } }),
      'circuit.payload: must be'
    ],
    [
      'a circuit in an unknown format',
      submission({ inline_code: undefined, circuit: { format: 'quil', payload: 'x' } }),
      'circuit.format: must be one of qasm2, qasm3, ahs'
    ],
    ['a circuit as text', submission({ inline_code: undefined, circuit: 'OPENQASM 3;' }), 'circuit: must be an object'],
    [
      'an unknown framework',
      submission({ framework: 'quil' }),
      'framework: must be one of qiskit, cirq, pennylane, openqasm, marqov, braket'
    ],
    ['a framework in capitals', submission({ framework: 'Qiskit' }), 'framework: must be one of'],
    [
      'code of no framework',
      submission({ framework: undefined, inline_code: 'x = 1' }),
      'framework: could not be detected'
    ],
    ['an unknown mode', submission({ execution_mode: 'batch' }), 'execution_mode: must be one of direct, temporal'],
    [
      'capsule_name without create_capsule',
      submission({ capsule_name: 'x' }),
      'capsule_name: needs create_capsule: true'
    ],
    [
      'an empty capsule_name',
      submission({ create_capsule: true, capsule_name: '' }),
      'capsule_name: must be a string of 1 to 200 characters'
    ],
    [
      'a capsule_name of 201',
      submission({ create_capsule: true, capsule_name: 'x'.repeat(201) }),
      'capsule_name: must be'
    ],
    ['create_capsule as text', submission({ create_capsule: 'true' }), 'create_capsule: must be true or false'],
    [
      'a script_id that is not an id',
      submission({ inline_code: undefined, script_id: '5' }),
      'script_id: must be a valid uuid'
    ],
    [
      'a script_slug in capitals',
      submission({ inline_code: undefined, script_slug: 'Bell' }),
      'script_slug: must match'
    ],
    ['a team_id that is not an id', submission({ team_id: 'x' }), 'team_id: must be a valid uuid'],
    ['an empty name', submission({ name: '' }), 'name: must be a string of 1 to 200 characters'],
    ['a name of 201', submission({ name: 'x'.repeat(201) }), 'name: must be'],
    ['eleven labels', submission({ labels: Array(11).fill('x') }), 'labels: must be a list of at most 10 items'],
    ['an empty label', submission({ labels: ['a', ''] }), 'labels[1]: must be a string of 1 to 50 characters'],
    ['a label of 51', submission({ labels: ['x'.repeat(51)] }), 'labels[0]: must be'],
    [
      'timeout_seconds 0',
      submission({ timeout_seconds: 0 }),
      'timeout_seconds: must be an integer from 1 to 900 (got 0)'
    ],
    [
      'timeout_seconds 901',
      submission({ timeout_seconds: 901 }),
      'timeout_seconds: must be an integer from 1 to 900 (got 901)'
    ],
    ['a negative max_cost_usd', submission({ max_cost_usd: -1 }), 'max_cost_usd: must be a number from 0'],
    [
      'max_cost_usd finer than a micro-dollar',
      submission({ max_cost_usd: 1e-7 }),
      'max_cost_usd: must be a number of USD with at most 6 decimals'
    ],
    [
      'not_before beyond 30 days',
      submission({ not_before: later(30 * 86_400_000 + 60_000) }),
      'not_before: must be at most 30 days ahead'
    ],
    [
      'not_before without a zone',
      submission({ not_before: '2030-01-01T00:00:00' }),
      'not_before: must be a valid date-time'
    ],
    ['not_before as a number', submission({ not_before: 1_900_000_000 }), 'not_before: must be'],
    ['a day that is none', submission({ not_before: '2027-02-30T00:00:00Z' }), 'not_before: must be a valid date-time'],
    ['an unknown notify', submission({ notify: 'sms' }), 'notify: must be one of email']
  ])('%s', (_what, body, message) => refused(body, message))

  test.each<[string, string | Buffer, string]>([
    ['an empty body', '', 'body: must be an object'],
    ['malformed JSON', '{"a":', 'body: is not valid JSON'],
    ['a trailing comma', '{"a":1,}', 'body: is not valid JSON'],
    ['a comment', '{} // x', 'body: is not valid JSON'],
    ['NaN', '{"params":{"shots":NaN}}', 'body: is not valid JSON'],
    ['a byte order mark alone', '\uFEFF', 'body: is not valid JSON'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), 'body: is not valid UTF-8'],
    ['an overlong form of /', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'body: is not valid UTF-8'],
    ['UTF-16', Buffer.from('{}', 'utf16le'), 'body: is not valid JSON'],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0, 0]), 'body: is not valid UTF-8'],
    ['null', 'null', 'body: must be an object'],
    ['a list', '[]', 'body: must be an object'],
    ['a text', '"x"', 'body: must be an object'],
    ['a number', '5', 'body: must be an object'],
    [
      '1e400 shots',
      '{"inline_code":"x","backend":"local","params":{"shots":1e400}}',
      'params.shots: is a number beyond'
    ],
    [
      '2^53 + 1',
      '{"inline_code":"x","backend":"local","params":{"shots":1,"n":9007199254740993}}',
      'params.n: an integer beyond'
    ],
    [
      '__proto__ in params',
      '{"inline_code":"x","backend":"local","params":{"shots":1,"__proto__":{"a":1}}}',
      'params.__proto__: this key is not allowed'
    ],
    [
      'constructor deep in params',
      '{"params":{"a":[{"constructor":{"prototype":{}}}]}}',
      'params.a[0].constructor: this key is not allowed'
    ],
    ['prototype at the top', '{"prototype":1}', 'prototype: this key is not allowed'],
    ['NUL in code', '{"inline_code":"a\\u0000b"}', 'inline_code: holds a NUL character'],
    ['NUL in a key', '{"params":{"a\\u0000":1}}', 'holds a NUL character'],
    ['a lone surrogate', '{"name":"\\ud800"}', 'name: holds a lone surrogate'],
    [
      'deep nesting',
      `{"params":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
      'is nested deeper than 32 levels'
    ],
    ['a million values', `[${'0,'.repeat(1_000_000)}0]`, 'body: holds more than 20000 values']
  ])('%s', (_what, body, message) => refused(body, message))

  test('notify, if the service sends no mail', async () => {
    const mailer = api.deps.mailer as { sends: boolean }
    mailer.sends = false
    await refused(submission({ notify: 'email' }), 'notify: this service sends no mail').finally(() => {
      mailer.sends = true
    })
  })

  test('a body above 4 MiB, whatever it contains: 413', async () => {
    const body = JSON.stringify(submission({ ballast: 'x'.repeat(4 * 1024 * 1024) }))
    await refused(body, 'body: is larger than this route takes', 413)
  })

  test('a team of others, with the 404 of an unknown team', async () => {
    const bob = await api.signUp()
    const { body } = await bob.get(`/api/jobs/${await bob.submit(submission())}`)
    before = await rows()
    await refused(submission({ team_id: body.team_id }), 'team_id: no such team', 404)
    await refused(submission({ team_id: uuid }), 'team_id: no such team', 404)
  })

  test('any body if it has no credentials: 401', async () => {
    const answer = await api.ask('POST', '/api/jobs/submit', submission())
    expect([answer.status, answer.text]).toEqual([401, '{"error":"Unauthorized"}'])
  })
})

test('a body just below 4 MiB is read', async () => {
  const ballast = 'x'.repeat(4 * 1024 * 1024 - 1_000)
  expect((await submit(submission({ ballast }))).status).toBe(201)
})

describe('a suspended team', () => {
  test('is read-only: writes are refused with the specified status, and reads succeed', async () => {
    const eve = await api.signUp()
    const id = await eve.submit(submission())
    const { team_id } = (await eve.get(`/api/jobs/${id}`)).body
    await db.execute(
      sql`update teams set suspended_at = now(), suspended_reason = 'an unpaid invoice' where id = ${team_id}`
    )
    const before = await rows()
    for (const [method, path, body] of [
      ['POST', '/api/jobs/submit', submission()],
      ['POST', '/api/jobs/submit', submission({ team_id })],
      ['POST', `/api/jobs/${id}/cancel`, undefined],
      ['PATCH', '/api/team/budget', { team_id, daily_usd: 1 }],
      ['PATCH', '/api/team/budget', { daily_usd: 1 }]
    ] as const) {
      const answer = await eve.ask(method, path, body)
      expect([path, answer.status, answer.body]).toEqual([
        path,
        403,
        { error: expect.stringMatching(/suspended.*an unpaid invoice.*[Cc]ontact support/), code: 'TEAM_SUSPENDED' }
      ])
    }
    expect(await rows()).toEqual(before)
    for (const path of [
      `/api/jobs/${id}`,
      `/api/jobs/${id}/status`,
      '/api/jobs',
      '/api/team/budget',
      '/api/auth/session'
    ])
      expect([path, (await eve.get(path)).status]).toEqual([path, 200])
    expect((await eve.get('/api/teams')).body.teams).toMatchObject([{ suspended_reason: 'an unpaid invoice' }])
    expect((await eve.get(`/api/jobs/${id}`)).body.status).toBe('pending')
    await db.execute(sql`update teams set suspended_at = null where id = ${team_id}`)
    expect((await eve.post(`/api/jobs/${id}/cancel`)).status).toBe(202)
  })
})

describe('the personal team', () => {
  test('is created once by twenty simultaneous first submissions, is named after the address, and is owned by its user', async () => {
    const newcomer = await api.signUp()
    expect((await newcomer.get('/api/auth/session')).body.teams).toEqual([])
    const ids = await Promise.all(Array.from({ length: 20 }, () => newcomer.submit(submission())))
    expect(new Set(ids).size).toBe(20)
    const { teams } = (await newcomer.get('/api/auth/session')).body
    expect(teams).toEqual([
      {
        id: expect.any(String),
        name: `${newcomer.email}'s Team`,
        role: 'owner',
        suspended: false,
        suspended_reason: null
      }
    ])
    const jobs = (await newcomer.get('/api/jobs')).body.jobs
    expect(new Set(jobs.map((job: { team_id: string }) => job.team_id))).toEqual(new Set([teams[0].id]))
  })

  test('is not created by a refused submission', async () => {
    const newcomer = await api.signUp()
    expect((await newcomer.post('/api/jobs/submit', submission({ backend: 'nope' }))).status).toBe(400)
    expect((await newcomer.get('/api/auth/session')).body.teams).toEqual([])
  })
})
