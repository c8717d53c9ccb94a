import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { accessTable } from '../../../apps/api/http/access-table.js'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'
import { holdSubmissions } from '../../support/api/held-submissions.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { untilLockAwaited } from '../../support/postgres/lock-waits.js'

const api = await startApi('admin')
const { ask, database } = api
const { db } = database
afterAll(() => api.close())

let admin: TestUser
beforeAll(async () => {
  admin = await api.signUp({ admin: true })
})

const nobody = '00000000-0000-4000-8000-000000000000'
const suspend = (teamId: string, reason = 'unpaid bills') =>
  admin.post(`/api/admin/teams/${teamId}/suspend`, { reason })
const unsuspend = (teamId: string) => admin.post(`/api/admin/teams/${teamId}/unsuspend`)
const jobCount = async (teamId: string): Promise<number> =>
  (await db.execute<{ n: number }>(sql`select count(*)::int as n from jobs where team_id = ${teamId}`))[0]!.n
const auditCount = async (): Promise<number> =>
  (await db.execute<{ n: number }>(sql`select count(*)::int as n from admin_actions`))[0]!.n

describe('every route of administration', () => {
  const routes = Object.entries(accessTable)
    .filter(([, access]) => access.who === 'platform admin')
    .map(([line]) => line.split(' ') as [string, string])
  const bodyOf = (method: string, path: string) =>
    method === 'GET'
      ? undefined
      : path.endsWith('suspend')
        ? { reason: 'x' }
        : path.endsWith('codes')
          ? { uses: 1 }
          : {}

  test('returns 404 to users and to all keys, and 401 without credentials, and records nothing', async () => {
    expect(routes.length).toBeGreaterThanOrEqual(12)
    const ada = await api.signUpWithTeam()
    const boss = await api.signUpWithTeam({ admin: true })
    const made = await boss.post('/api/team/api-keys', { team_id: boss.teamId, name: 'k', tier: 'qpu', kind: 'live' })
    expect(made.status).toBe(201)
    const key = { authorization: `Bearer ${made.body.key}` }
    const noRoute = (path: string) => `no route ${path}`
    const before = await auditCount()
    for (const [method, pattern] of routes) {
      const path = pattern.replace(':id', ada.teamId).replace(':slug', 'local')
      const body = bodyOf(method, path)
      const asUser = await ada.ask(method, path, body)
      expect([pattern, asUser.status, asUser.body]).toEqual([pattern, 404, { error: noRoute(`${method} ${path}`) }])
      const byKey = await ask(method, path, body, key)
      expect([pattern, byKey.status, byKey.body.error.message]).toEqual([pattern, 404, noRoute(`${method} ${path}`)])
      const anonymous = await ask(method, path, body)
      expect([pattern, anonymous.status, anonymous.body]).toEqual([pattern, 401, { error: 'Unauthorized' }])
    }
    expect(await auditCount()).toBe(before)
  })
})

describe('suspending a team', () => {
  test('makes it read-only at once; lifting the suspension lets it write again', async () => {
    const ada = await api.signUpWithTeam()
    const answer = await suspend(ada.teamId)
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        id: ada.teamId,
        name: `${ada.email}'s Team`,
        owner: { id: ada.id, email: ada.email },
        members: 1,
        suspended: true,
        suspended_at: expect.stringMatching(/^\d{4}-.*Z$/),
        suspended_reason: 'unpaid bills',
        running_jobs_max: null,
        slots_max: null,
        deleted_at: null,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/)
      }
    ])
    const refused = await ada.post('/api/jobs/submit', submission())
    expect([refused.status, refused.body]).toEqual([
      403,
      { code: 'TEAM_SUSPENDED', error: expect.stringContaining('support') }
    ])
    expect((await ada.get('/api/jobs')).body.total).toBe(1)

    const lifted = await unsuspend(ada.teamId)
    expect([lifted.status, lifted.body]).toEqual([
      200,
      { ...answer.body, suspended: false, suspended_at: null, suspended_reason: null }
    ])
    expect((await ada.post('/api/jobs/submit', submission())).status).toBe(201)
  })

  test('again keeps the time of the first suspension and changes the reason', async () => {
    const ada = await api.signUpWithTeam()
    const first = (await suspend(ada.teamId, 'one')).body
    const second = await suspend(ada.teamId, 'two')
    expect([second.status, second.body]).toEqual([200, { ...first, suspended_reason: 'two' }])
  })

  test.each([
    ['without a reason', {}, 'reason: is required'],
    ['with an empty reason', { reason: '' }, 'reason: must be a string of 1 to 500 characters'],
    ['with a reason of 501 characters', { reason: 'x'.repeat(501) }, 'reason: must be a string of 1 to 500 characters'],
    ['with an unknown field', { reason: 'x', until: 'tomorrow' }, 'until: is not a field of this request']
  ])('%s is refused, and nothing changes', async (_what, body, message) => {
    const ada = await api.signUpWithTeam()
    const before = await auditCount()
    const answer = await admin.post(`/api/admin/teams/${ada.teamId}/suspend`, body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(message)])
    expect(await auditCount()).toBe(before)
    expect((await ada.post('/api/jobs/submit', submission())).status).toBe(201)
  })

  test('returns 404 for an unknown or deleted team', async () => {
    const ada = await api.signUpWithTeam()
    await db.execute(sql`update teams set deleted_at = now() where id = ${ada.teamId}`)
    for (const id of [nobody, ada.teamId])
      for (const answer of [await suspend(id), await unsuspend(id)])
        expect([answer.status, answer.body]).toEqual([404, { error: 'no such team' }])
  })

  test('lets no job be recorded after its response, even under constant submissions', async () => {
    const ada = await api.signUpWithTeam()
    let accepted = 1
    /** Submits until it is refused. */
    async function submitOn(): Promise<ApiResponse> {
      for (let tries = 0; tries < 200; tries++) {
        const answer = await ada.post('/api/jobs/submit', submission())
        if (answer.status !== 201) return answer
        accepted++
      }
      throw new Error('200 submissions were accepted one after the other')
    }
    const ends = Promise.all(Array.from({ length: 20 }, submitOn))
    await eventually(() => accepted > 30)
    expect((await suspend(ada.teamId)).status).toBe(200)
    const atAnswer = await jobCount(ada.teamId)
    for (const { status, body } of await ends) expect([status, body.code]).toEqual([403, 'TEAM_SUSPENDED'])
    expect(await jobCount(ada.teamId)).toBe(atAnswer)
    expect(accepted).toBe(atAnswer)
  }, 60_000)

  test('is not overtaken by a submission that arrives while it waits', async () => {
    const ada = await api.signUpWithTeam()
    const { suspended, late } = await db.transaction(async (tx) => {
      await tx.execute(sql`select 1 from teams where id = ${ada.teamId} for share`)
      const suspended = suspend(ada.teamId)
      await untilLockAwaited(db)
      const late = ada.post('/api/jobs/submit', submission())
      await untilLockAwaited(db, 2)
      return { suspended, late }
    })
    expect([(await suspended).status, (await late).status]).toEqual([200, 403])
  })

  test('waits for a submission in progress, which is recorded before its response', async () => {
    const ada = await api.signUpWithTeam()
    let submitted: ReturnType<typeof ada.post>
    let suspended: Promise<number>
    await holdSubmissions(database.url, async ({ held }) => {
      submitted = ada.post('/api/jobs/submit', submission())
      await held(1)
      suspended = suspend(ada.teamId).then(() => jobCount(ada.teamId))
      await untilLockAwaited(db, 2)
    })
    expect([(await submitted!).status, await suspended!]).toEqual([201, 2])
    expect((await ada.post('/api/jobs/submit', submission())).status).toBe(403)
    expect(await jobCount(ada.teamId)).toBe(2)
  })
})

describe('access codes', () => {
  const make = (body: unknown) => admin.post('/api/admin/access-codes', body)
  const list = async (query = '') => (await admin.get(`/api/admin/access-codes${query}`)).body

  test('are created with the requested uses, expiry and code; the list shows the remaining uses', async () => {
    const random = await make({ uses: 3 })
    expect([random.status, random.body]).toEqual([
      201,
      {
        code: expect.stringMatching(/^[A-Za-z0-9_-]{12}$/),
        remaining_uses: 3,
        expires_at: null,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/)
      }
    ])
    const named = await make({ code: 'Spring_2031-x', uses: 1, expires_at: '2031-05-01T02:00:00+02:00' })
    expect([named.status, named.body]).toMatchObject([
      201,
      { code: 'Spring_2031-x', remaining_uses: 1, expires_at: '2031-05-01T00:00:00.000Z' }
    ])
    const signedUp = await ask('POST', '/api/auth/sign-up', {
      email: 'spring@example.org',
      password: 'correct horse battery',
      code: 'Spring_2031-x'
    })
    expect(signedUp.status).toBe(201)
    const { access_codes, total, limit, offset } = await list('?limit=2')
    expect(access_codes).toEqual([{ ...named.body, remaining_uses: 0 }, random.body])
    expect([total >= 2, limit, offset]).toEqual([true, 2, 0])
  })

  test('that already exist are refused with 409, and keep their uses', async () => {
    const { code } = (await make({ uses: 3 })).body
    const again = await make({ code, uses: 100 })
    expect([again.status, again.body]).toEqual([
      409,
      { error: 'code: this access code exists already; choose another' }
    ])
    expect((await ask('POST', '/api/auth/validate-code', { code })).body.remaining_uses).toBe(3)
  })

  test.each([
    ['no uses', {}, 'uses: is required'],
    ['zero uses', { uses: 0 }, 'uses: must be an integer from 1 to 1000000'],
    ['too many uses', { uses: 1_000_001 }, 'uses: must be an integer'],
    ['uses as text', { uses: '3' }, 'uses: must be an integer'],
    ['a fraction of a use', { uses: 1.5 }, 'uses: must be an integer'],
    ['a code with a space', { uses: 1, code: 'a b' }, 'code: must match'],
    ['a code with a line break', { uses: 1, code: 'a\n' }, 'code: must match'],
    ['a long code', { uses: 1, code: 'a'.repeat(65) }, 'code: must match'],
    ['an empty code', { uses: 1, code: '' }, 'code: must match'],
    ['a time in the past', { uses: 1, expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must be in the future'],
    ['a time without a zone', { uses: 1, expires_at: '2031-01-01T00:00:00' }, 'expires_at: must be a valid date-time'],
    ['a leap second', { uses: 1, expires_at: '2031-12-31T23:59:60Z' }, 'expires_at: must be an ISO 8601 time'],
    ['remaining uses', { uses: 1, remaining_uses: 5 }, 'remaining_uses: is not a field of this request']
  ])('with %s are refused with the name of the field, and none is created', async (_what, body, message) => {
    const before = (await list()).total
    const answer = await make(body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(message)])
    expect((await list()).total).toBe(before)
  })
})
