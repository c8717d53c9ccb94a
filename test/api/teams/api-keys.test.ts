// API keys: what each may do, what it may spend, and that it is shown only once.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('api_keys')
const { db } = api.database
let ada: TestUser
let teamId: string
beforeAll(async () => {
  ada = await api.signUp()
  teamId = (await ada.post('/api/teams', { name: 'Programs' })).body.id
  // A paid backend that the tests can run: the free one with a price.
  await db.execute(sql`update backends set task_fee_micro = 1000000 where slug = 'marqov-sim'`)
})
afterAll(() => api.close())

const makeKey = async (changes: Record<string, unknown> = {}): Promise<ApiResponse> =>
  ada.post('/api/team/api-keys', { team_id: teamId, name: 'CI', tier: 'qpu', kind: 'live', ...changes })

/** Sends a request with a key, as programs do. */
const asker = (key: string) => (method: string, path: string, body?: unknown) =>
  api.ask(method, path, body, { authorization: `Bearer ${key}` })

const withKey = async (changes: Record<string, unknown> = {}) => asker((await makeKey(changes)).body.key)
const paid = (changes: Record<string, unknown> = {}) =>
  submission({ backend: 'marqov-sim', not_before: new Date(Date.now() + 3_600_000).toISOString(), ...changes })

describe('a key', () => {
  test('is shown once, and stored as a digest', async () => {
    const { status, body } = await makeKey({ daily_limit_usd: 2.5, expires_at: '2099-01-01T00:00:00Z' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      team_id: teamId,
      name: 'CI',
      prefix: body.key.slice(0, 18),
      tier: 'qpu',
      kind: 'live',
      daily_limit_usd: 2.5,
      created_by: ada.id,
      expires_at: '2099-01-01T00:00:00.000Z',
      last_used_at: null,
      created_at: expect.any(String),
      can: { revoke: true },
      key: expect.stringMatching(/^marqey_live_[A-Za-z0-9_-]{43}$/)
    })
    const { key, ...shown } = body
    const list = await ada.get(`/api/team/api-keys?team_id=${teamId}`)
    expect(list.body.api_keys[0]).toEqual(shown)
    expect(list.text).not.toContain(key)
    const rows = await db.execute(
      sql`select api_keys::text as text, encode(token_hash, 'escape') as hash from api_keys`
    )
    for (const row of rows) expect(`${row.text} ${row.hash}`).not.toContain(key)
  })

  test('of kind test has a prefix that says so', async () => {
    expect((await makeKey({ kind: 'test' })).body.key).toMatch(/^marqey_test_/)
  })

  test('without a team is created with the personal team', async () => {
    const bob = await api.signUp()
    const { status, body } = await bob.post('/api/team/api-keys', { name: 'k', tier: 'read', kind: 'test' })
    expect(status).toBe(201)
    expect((await bob.get('/api/teams')).body.teams).toEqual([
      expect.objectContaining({ id: body.team_id, role: 'owner' })
    ])
  })

  test.each([
    [{ tier: 'admin' }],
    [{ kind: 'dead' }],
    [{ name: ' ' }],
    [{ daily_limit_usd: -1 }],
    [{ daily_limit_usd: 0.0000001 }],
    [{ expires_at: '2020-01-01T00:00:00Z' }],
    [{ expires_at: 'tomorrow' }],
    [{ created_by: 'x' }]
  ])('is not created with %j', async (changes) => {
    expect((await makeKey(changes)).status).toBe(400)
  })

  test('records its last use, and is invalid as soon as it is revoked', async () => {
    const { id, key } = (await makeKey()).body
    const ask = asker(key)
    expect((await ask('GET', '/api/jobs')).status).toBe(200)
    expect((await ada.ask('DELETE', `/api/team/api-keys/${id}`)).body).toEqual({ success: true })
    const refused = await ask('GET', '/api/jobs')
    expect([refused.status, refused.body.error.code]).toEqual([401, 'unauthorized'])
    expect((await ada.ask('DELETE', `/api/team/api-keys/${id}`)).status).toBe(404)
  })

  test('takes precedence over a session cookie', async () => {
    const { key } = (await makeKey({ tier: 'read' })).body
    const answer = await ada.ask('POST', '/api/jobs/submit', submission(), { authorization: `Bearer ${key}` })
    expect([answer.status, answer.body.error.code]).toEqual([403, 'permission_denied'])
  })
})

describe('a request with a key', () => {
  test.each([
    ['that does not exist', 'nope', 'backend_unknown'],
    ['that its provider retired', 'tn1', 'backend_retired'],
    ['that is offline', 'gpu-statevector', 'backend_unavailable']
  ])('that submits to a backend %s gets 422, and a session gets 400', async (_what, backend, code) => {
    const ask = await withKey()
    const keyed = await ask('POST', '/api/jobs/submit', submission({ backend }))
    expect([keyed.status, keyed.body.error]).toEqual([422, expect.objectContaining({ code, status: 422 })])
    const session = await ada.post('/api/jobs/submit', submission({ backend }))
    expect([session.status, session.body.error]).toEqual([400, keyed.body.error.message])
  })

  test('that fails returns a code, a message and the status', async () => {
    const ask = await withKey()
    const { status, body } = await ask('POST', '/api/jobs/submit', submission({ params: { shots: 0 } }))
    expect(status).toBe(400)
    expect(body).toEqual({
      error: { code: 'validation_error', message: expect.stringContaining('params.shots'), status: 400 }
    })
  })

  test("reads and writes only the key's own team", async () => {
    const ask = await withKey()
    const other = (await ada.post('/api/teams', { name: 'Other' })).body.id
    expect((await ask('GET', '/api/teams')).body.teams).toEqual([
      expect.objectContaining({
        id: teamId,
        name: 'Programs',
        role: 'member',
        suspended: false,
        suspended_reason: null
      })
    ])
    const { job_id } = (await ask('POST', '/api/jobs/submit', submission())).body
    expect((await ask('GET', `/api/jobs/${job_id}`)).body.team_id).toBe(teamId)
    const theirs = await ada.submit(submission({ team_id: other }))
    for (const path of [`/api/jobs/${theirs}`, `/api/jobs?team_id=${other}`, `/api/team/budget?team_id=${other}`])
      expect([path, (await ask('GET', path)).status]).toEqual([path, 404])
    expect((await ask('POST', '/api/jobs/submit', submission({ team_id: other }))).status).toBe(404)
    const listed = (await ask('GET', '/api/jobs')).body.jobs as { id: string; team_id: string }[]
    expect(new Set(listed.map((job) => job.team_id))).toEqual(new Set([teamId]))
  })

  test.each([
    ['read', 'live', 403, 403],
    ['simulate', 'live', 201, 403],
    ['qpu', 'live', 201, 201],
    ['qpu', 'test', 201, 403]
  ])('of tier %s and kind %s returns %p for a free backend and %p for a paid one', async (tier, kind, free, costly) => {
    const ask = await withKey({ tier, kind })
    expect((await ask('POST', '/api/jobs/submit', submission())).status).toBe(free)
    const answer = await ask('POST', '/api/jobs/submit', paid())
    expect(answer.status).toBe(costly)
    if (costly === 403) expect(answer.body.error.message).toMatch(/tier (qpu|simulate)/)
  })

  test('works from any origin, since a browser never sends a key by itself', async () => {
    const { key } = (await makeKey()).body
    const headers = { authorization: `Bearer ${key}`, origin: 'https://elsewhere.example' }
    expect((await api.ask('POST', '/api/jobs/submit', submission(), headers)).status).toBe(201)
  })
})

describe("a key's daily limit", () => {
  test('is a separate limit, and a refusal has all five figures', async () => {
    const ask = await withKey({ daily_limit_usd: 2.5 })
    for (let job = 0; job < 2; job++) expect((await ask('POST', '/api/jobs/submit', paid())).status).toBe(201)
    const { status, body } = await ask('POST', '/api/jobs/submit', paid())
    expect(status).toBe(402)
    expect(body.error).toMatchObject({
      code: 'spend_limit_exceeded',
      message: expect.stringContaining("this API key's own daily limit"),
      estimated_cost: 1,
      current_spend: 2,
      budget: 2.5,
      remaining_budget: 0.5
    })
  })

  test('applies to twenty simultaneous submissions, and a cancelled job releases its share', async () => {
    const ask = await withKey({ daily_limit_usd: 5 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('POST', '/api/jobs/submit', paid())))
    const accepted = answers.filter(({ status }) => status === 201)
    expect(accepted).toHaveLength(5)
    const [row] = await db.execute(
      sql`select reserved_micro::int as reserved from api_key_days order by key_id desc limit 1`
    )
    expect(row).toEqual({ reserved: 5_000_000 })
  })

  test('of 0 allows free backends only', async () => {
    const ask = await withKey({ daily_limit_usd: 0 })
    expect((await ask('POST', '/api/jobs/submit', submission())).status).toBe(201)
    expect((await ask('POST', '/api/jobs/submit', paid())).status).toBe(402)
  })
})
