import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { accessTable } from '../../apps/api/access-table.js'
import { lockTeamForWrite } from '../../db/teams.js'
import { type Answer, startApi, type TestUser } from '../support/api.js'
import { submission } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { forceStatus } from '../support/rows.js'

const api = await startApi('admin')
const { ask, database } = api
const { db } = database
afterAll(() => api.close())

let admin: TestUser
beforeAll(async () => {
  admin = await api.signUp({ admin: true })
})

type Member = TestUser & { teamId: string }
/** A user whose personal team is there. */
async function withTeam(account: { email?: string; admin?: boolean } = {}): Promise<Member> {
  const user = await api.signUp(account)
  await user.submit(submission())
  const { teams } = (await user.get('/api/auth/session')).body
  return { ...user, teamId: teams[0].id }
}
const nobody = '00000000-0000-4000-8000-000000000000'
const suspend = (teamId: string, reason = 'unpaid bills') =>
  admin.post(`/api/admin/teams/${teamId}/suspend`, { reason })
const unsuspend = (teamId: string) => admin.post(`/api/admin/teams/${teamId}/unsuspend`)
const jobCount = async (teamId: string): Promise<number> =>
  (await db.execute<{ n: number }>(sql`select count(*)::int as n from jobs where team_id = ${teamId}`))[0]!.n
const auditCount = async (): Promise<number> =>
  (await db.execute<{ n: number }>(sql`select count(*)::int as n from admin_actions`))[0]!.n
/** The entries that `work` leaves in the audit, oldest first, without what differs by nature. */
async function entriesOf(work: () => Promise<unknown>) {
  const before = await auditCount()
  await work()
  const made = (await auditCount()) - before
  const { entries } = (await admin.get('/api/admin/audit')).body
  return entries
    .slice(0, made)
    .reverse()
    .map(({ id: _, at, ...entry }: { id: string; at: string }) => {
      expect(new Date(at).toISOString()).toBe(at)
      return entry
    })
}

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

  test('is not there for users and for keys, even an administrator’s own; nobody signed in is 401; nothing is noted', async () => {
    expect(routes.length).toBeGreaterThanOrEqual(12)
    const ada = await withTeam()
    const boss = await withTeam({ admin: true })
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
    const ada = await withTeam()
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

  test('once more keeps the first time and changes the reason', async () => {
    const ada = await withTeam()
    const first = (await suspend(ada.teamId, 'one')).body
    const second = await suspend(ada.teamId, 'two')
    expect([second.status, second.body]).toEqual([200, { ...first, suspended_reason: 'two' }])
  })

  test.each([
    ['without a reason', {}, 'reason: is required'],
    ['with an empty one', { reason: '' }, 'reason: must be a string of 1 to 500 characters'],
    ['with a long one', { reason: 'x'.repeat(501) }, 'reason: must be a string of 1 to 500 characters'],
    ['with a field of another kind', { reason: 'x', until: 'tomorrow' }, 'until: is not a field of this request']
  ])('%s is refused, and nothing changes', async (_what, body, message) => {
    const ada = await withTeam()
    const before = await auditCount()
    const answer = await admin.post(`/api/admin/teams/${ada.teamId}/suspend`, body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(message)])
    expect(await auditCount()).toBe(before)
    expect((await ada.post('/api/jobs/submit', submission())).status).toBe(201)
  })

  test('a team that is not there, or deleted, is 404', async () => {
    const ada = await withTeam()
    await db.execute(sql`update teams set deleted_at = now() where id = ${ada.teamId}`)
    for (const id of [nobody, ada.teamId])
      for (const answer of [await suspend(id), await unsuspend(id)])
        expect([answer.status, answer.body]).toEqual([404, { error: 'no such team' }])
  })

  test('while twenty submit without a pause: no job is recorded after its answer', async () => {
    const ada = await withTeam()
    let accepted = 1
    /** Submits until it is refused. */
    async function submitOn(): Promise<Answer> {
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

  test('waits for a write under way; one that comes meanwhile is recorded before its answer or refused', async () => {
    const ada = await withTeam()
    const order: string[] = []
    const somebodyWaits = async () =>
      (
        await db.execute(sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`)
      ).length > 0
    const { suspension, late } = await db.transaction(async (tx) => {
      await lockTeamForWrite(tx, { userId: ada.id, email: ada.email, key: null }, ada.teamId)
      const suspension = suspend(ada.teamId).then(() => {
        order.push('suspended')
        return jobCount(ada.teamId)
      })
      await eventually(somebodyWaits)
      const late = ada.post('/api/jobs/submit', submission())
      order.push('written')
      return { suspension, late }
    })
    const [atAnswer, { status }] = await Promise.all([suspension, late])
    expect(order).toEqual(['written', 'suspended'])
    expect(await jobCount(ada.teamId)).toBe(atAnswer)
    expect(atAnswer).toBe(status === 201 ? 2 : 1)
    expect((await ada.post('/api/jobs/submit', submission())).status).toBe(403)
  })
})

describe('access codes', () => {
  const make = (body: unknown) => admin.post('/api/admin/access-codes', body)
  const list = async (query = '') => (await admin.get(`/api/admin/access-codes${query}`)).body

  test('are made with the uses, the expiry and the code that are asked for; the list shows what is left of each', async () => {
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

  test('a code that there is already is 409, and keeps its uses', async () => {
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
    ['half a use', { uses: 1.5 }, 'uses: must be an integer'],
    ['a code with a space', { uses: 1, code: 'a b' }, 'code: must match'],
    ['a code with a line end', { uses: 1, code: 'a\n' }, 'code: must match'],
    ['a long code', { uses: 1, code: 'a'.repeat(65) }, 'code: must match'],
    ['an empty code', { uses: 1, code: '' }, 'code: must match'],
    ['a time in the past', { uses: 1, expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must lie in the future'],
    ['a time without a zone', { uses: 1, expires_at: '2031-01-01T00:00:00' }, 'expires_at: must be a valid date-time'],
    ['a leap second', { uses: 1, expires_at: '2031-12-31T23:59:60Z' }, 'expires_at: must be an ISO 8601 time'],
    ['uses that are left', { uses: 1, remaining_uses: 5 }, 'remaining_uses: is not a field of this request']
  ])('%s is refused by name, and no code is made', async (_what, body, message) => {
    const before = (await list()).total
    const answer = await make(body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(message)])
    expect((await list()).total).toBe(before)
  })
})

describe('what administrators look through', () => {
  const names = async (path: string) => {
    const answer = await admin.get(path)
    expect(answer.status).toBe(200)
    return answer.body
  }
  const q = (text: string) => encodeURIComponent(text)

  test('users are found by id, team, address, username and displayed name, whatever the case', async () => {
    const ada = await withTeam({ email: 'Ada.Lovelace@Example.org' })
    await db.execute(sql`update users set display_name = 'The Countess' where id = ${ada.id}`)
    for (const text of [
      ada.id,
      ada.id.toUpperCase(),
      ada.teamId,
      'ADA.LOVE',
      ' lovelace@example ',
      'ada-LOVE',
      'countess'
    ]) {
      const { users, total, limit, offset } = await names(`/api/admin/users?q=${q(text)}`)
      expect([text, total, limit, offset]).toEqual([text, 1, 50, 0])
      expect(users).toEqual([
        {
          id: ada.id,
          email: 'Ada.Lovelace@Example.org',
          username: 'Ada-Lovelace',
          display_name: 'The Countess',
          is_platform_admin: false,
          email_verified_at: null,
          teams: 1,
          last_seen_at: expect.stringMatching(/^\d{4}-.*Z$/),
          created_at: expect.stringMatching(/^\d{4}-.*Z$/)
        }
      ])
    }
  })

  test('teams are found by id, member, name and a member’s address', async () => {
    const grace = await withTeam({ email: 'grace.hopper@example.org' })
    await db.execute(sql`update teams set name = 'Compilers' where id = ${grace.teamId}`)
    for (const text of [grace.teamId, grace.id, 'compil', 'HOPPER@'])
      expect(await names(`/api/admin/teams?q=${q(text)}`)).toMatchObject({
        teams: [{ id: grace.teamId, name: 'Compilers', members: 1, owner: { email: grace.email }, suspended: false }],
        total: 1
      })
  })

  test('jobs of all teams are found by id, team, user, name and status, with the team’s name and the address', async () => {
    const lin = await withTeam({ email: 'lin@example.org' })
    const id = await lin.submit(submission({ name: 'Needle in a haystack' }))
    const { id: _, ...record } = { ...(await lin.get(`/api/jobs/${id}`)).body }
    for (const text of [id, 'needle IN'])
      expect(await names(`/api/admin/jobs?q=${q(text)}`)).toMatchObject({
        jobs: [{ id, team_id: record.team_id, team_name: `${lin.email}'s Team`, user_email: lin.email }],
        total: 1
      })
    for (const text of [lin.id, lin.teamId, 'lin@example.org'])
      expect((await names(`/api/admin/jobs?q=${q(text)}`)).jobs.map((job: { id: string }) => job.id)[0]).toBe(id)
    await lin.post(`/api/jobs/${id}/cancel`)
    const cancelled = await names(`/api/admin/jobs?q=${lin.teamId}&status=cancelled`)
    expect(cancelled.jobs.map((job: { id: string }) => job.id)).toEqual([id])
    const { result: __, ...shown } = (await lin.get(`/api/jobs/${id}`)).body
    expect(cancelled.jobs[0]).toEqual({ ...shown, team_name: `${lin.email}'s Team`, user_email: lin.email })
  })

  test('no character that is searched for has a meaning', async () => {
    const odd = ['100%', 'under_score', 'back\\slash', "O'Hara", '"quoted"', '$1', "'; drop table users; --", '*', '(']
    const made = new Map<string, string>()
    for (const name of odd) {
      const user = await withTeam()
      made.set(name, user.id)
      await db.execute(sql`update users set display_name = ${`x${name}y`} where id = ${user.id}`)
      await db.execute(sql`update teams set name = ${`x${name}y`} where id = ${user.teamId}`)
      await db.execute(sql`update jobs set name = ${`x${name}y`} where team_id = ${user.teamId}`)
    }
    for (const [name, id] of made) {
      const users = await names(`/api/admin/users?q=${q(`x${name}y`)}`)
      expect([name, users.users.map((user: { id: string }) => user.id)]).toEqual([name, [id]])
      for (const list of ['teams', 'jobs'])
        expect([name, (await names(`/api/admin/${list}?q=${q(`x${name}y`)}`)).total]).toEqual([name, 1])
    }
    // A wildcard would find all of them.
    for (const text of ['%', '_', '\\'])
      expect([text, (await names(`/api/admin/teams?q=${q(text)}`)).total]).toEqual([text, 1])
    for (const text of [
      'x%y',
      'x_y',
      '.*',
      '%%',
      '__',
      "' or 1=1 --",
      'x'.repeat(1000),
      '\\'.repeat(1000),
      '%'.repeat(1000)
    ])
      for (const list of ['teams', 'users', 'jobs'])
        expect([text, (await names(`/api/admin/${list}?q=${q(text)}`)).total]).toEqual([text, 0])
  })

  test.each(['teams', 'users', 'jobs'])(
    '%s: what cannot be searched for or is no filter is refused by name',
    async (list) => {
      for (const [query, message] of [
        [`q=${'x'.repeat(1001)}`, 'q: must be a string of at most 1000 characters'],
        ['q=%00', 'url: holds a NUL character'],
        ['limit=0', 'limit: must be an integer from 1 to 100'],
        ['limit=101', 'limit: must be an integer from 1 to 100'],
        ['offset=-1', 'offset: must be an integer from 0'],
        ['order=name', 'order: is not a field of this request']
      ] as const) {
        const answer = await admin.get(`/api/admin/${list}?${query}`)
        expect([query, answer.status, answer.body.error]).toEqual([query, 400, expect.stringContaining(message)])
      }
    }
  )

  test('pages follow each other without a gap; without a search all are there', async () => {
    const { total } = await names('/api/admin/users')
    const ids: string[] = []
    for (let offset = 0; offset < total; offset += 7)
      ids.push(
        ...(await names(`/api/admin/users?limit=7&offset=${offset}`)).users.map((user: { id: string }) => user.id)
      )
    expect(new Set(ids).size).toBe(total)
    expect([...ids].sort().reverse()).toEqual(ids)
    const [{ n }] = (await db.execute(sql`select count(*)::int as n from users`)) as unknown as [{ n: number }]
    expect(total).toBe(n)
  })

  test('no list holds a hash of a password, of a session or of a key', async () => {
    const boss = await withTeam()
    await boss.post('/api/team/api-keys', { team_id: boss.teamId, name: 'k', tier: 'read', kind: 'live' })
    const rows = await db.execute<{ secret: string }>(sql`select password_hash as secret from users
      union all select encode(token_hash, 'hex') from sessions union all select encode(token_hash, 'base64') from sessions
      union all select encode(token_hash, 'hex') from api_keys union all select encode(token_hash, 'base64') from api_keys`)
    expect(rows.length).toBeGreaterThan(10)
    for (const list of ['teams', 'users', 'jobs', 'access-codes', 'audit', 'system']) {
      const limit = list === 'system' ? '' : '?limit=100'
      const { text } = await admin.get(`/api/admin/${list}${limit}`)
      expect([list, rows.filter(({ secret }) => text.includes(secret))]).toEqual([list, []])
      expect(text).not.toMatch(/hash|argon2|password/i)
    }
  })
})

describe('cancelling a job as an administrator', () => {
  const cancel = (id: string) => admin.post(`/api/admin/jobs/${id}/cancel`)

  test('works on a suspended team, whose own members cannot; the answer is the record', async () => {
    const ada = await withTeam()
    const id = await ada.submit(submission())
    await suspend(ada.teamId)
    expect((await ada.post(`/api/jobs/${id}/cancel`)).status).toBe(403)
    const answer = await cancel(id)
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({
      id,
      status: 'cancelled',
      cancel: { outcome: 'stopped_before_provider' },
      result: null
    })
    expect((await ada.get(`/api/jobs/${id}`)).body).toEqual(answer.body)
  })

  test('tells the engine to stop one that runs; asking again changes nothing and is noted once', async () => {
    const ada = await withTeam()
    const id = await ada.submit(submission({ execution_mode: 'temporal' }))
    await forceStatus(db, id, { status: 'running' })
    const entries = await entriesOf(async () => {
      for (let time = 0; time < 2; time++) {
        const answer = await cancel(id)
        expect([answer.status, answer.body.status]).toEqual([202, 'cancelling'])
      }
    })
    expect(entries).toEqual([
      expect.objectContaining({ action: 'job.cancel', target: id, details: { status: 'running', team_id: ada.teamId } })
    ])
    const rows = await db.execute(sql`select kind from outbox where job_id = ${id} and kind = 'cancel'`)
    expect(rows.length).toBe(1)
  })

  test('one that is final is 409, one that is not there 404; nothing is noted', async () => {
    const ada = await withTeam()
    const id = await ada.submit(submission())
    await ada.post(`/api/jobs/${id}/cancel`)
    const entries = await entriesOf(async () => {
      const late = await cancel(id)
      expect([late.status, late.body]).toEqual([
        409,
        { error: 'job is cancelled already; only a job that is not final can be cancelled' }
      ])
      const none = await cancel(nobody)
      expect([none.status, none.body]).toEqual([404, { error: 'no such job' }])
    })
    expect(entries).toEqual([])
  })

  test('by five at once and its owner ends it once, with one entry at most', async () => {
    const ada = await withTeam()
    const id = await ada.submit(submission())
    const entries = await entriesOf(async () => {
      const answers = await Promise.all([
        ...Array.from({ length: 5 }, () => cancel(id)),
        ada.post(`/api/jobs/${id}/cancel`)
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409, 409])
    })
    expect(entries.length).toBeLessThanOrEqual(1)
  })
})

describe('the audit', () => {
  test('has one entry for every change, with who, what and to what, and none for what was refused', async () => {
    const ada = await withTeam()
    const job = await ada.submit(submission())
    let code = ''
    const entries = await entriesOf(async () => {
      await suspend(ada.teamId, 'first')
      await suspend(ada.teamId, 'second')
      await unsuspend(ada.teamId)
      await unsuspend(ada.teamId)
      await suspend(nobody)
      code = (await admin.post('/api/admin/access-codes', { uses: 4 })).body.code
      await admin.post('/api/admin/access-codes', { code, uses: 4 })
      await admin.post('/api/admin/access-codes', { uses: 0 })
      await admin.ask('PATCH', '/api/admin/backends/local', { displayOrder: 12, isRecommended: true })
      await admin.ask('PATCH', '/api/admin/backends/local', { pricing: { taskFee: 0.0000001 } })
      await admin.ask('PATCH', '/api/admin/backends/aer-statevector', { isAvailable: false, pricing: { perShot: 0.5 } })
      await admin.ask('PATCH', '/api/admin/backends/nope', { displayOrder: 1 })
      await admin.ask('PUT', `/api/admin/teams/${ada.teamId}/budgets`, { daily_usd: 7, ceilings: { per_job_usd: 50 } })
      await admin.ask('PUT', `/api/admin/teams/${ada.teamId}/budgets`, { daily_usd: 0.0000001 })
      await admin.ask('PUT', `/api/admin/teams/${nobody}/budgets`, { daily_usd: 7 })
      await admin.post(`/api/admin/jobs/${job}/cancel`)
      await admin.post(`/api/admin/jobs/${job}/cancel`)
    })
    const actor = { id: admin.id, email: admin.email }
    expect(entries).toEqual([
      { actor, action: 'team.suspend', target: ada.teamId, details: { reason: 'first' } },
      { actor, action: 'team.suspend', target: ada.teamId, details: { reason: 'second', previous_reason: 'first' } },
      {
        actor,
        action: 'team.unsuspend',
        target: ada.teamId,
        details: { reason: 'second', suspended_at: expect.stringMatching(/Z$/) }
      },
      { actor, action: 'access_code.create', target: code, details: { uses: 4, expires_at: null } },
      {
        actor,
        action: 'backend.change',
        target: 'local',
        details: { before: { displayOrder: 10 }, after: { displayOrder: 12 } }
      },
      {
        actor,
        action: 'backend.change',
        target: 'aer-statevector',
        details: {
          before: { isAvailable: true, pricing: { taskFee: 0, perShot: 0, minimumCost: 0 } },
          after: { isAvailable: false, pricing: { taskFee: 0, perShot: 0.5, minimumCost: 0 } }
        }
      },
      {
        actor,
        action: 'team.budget',
        target: ada.teamId,
        details: {
          before: { per_job_usd: 100, daily_usd: 100, ceilings: expect.objectContaining({ per_job_usd: 1000 }) },
          after: { per_job_usd: 50, daily_usd: 7, ceilings: expect.objectContaining({ per_job_usd: 50 }) }
        }
      },
      { actor, action: 'job.cancel', target: job, details: { status: 'pending', team_id: ada.teamId } }
    ])
  })

  test('no change is made whose entry cannot be written', async () => {
    const ada = await withTeam()
    const job = await ada.submit(submission())
    const state = async () => [
      (await admin.get(`/api/admin/teams?q=${ada.teamId}`)).body,
      (await admin.get(`/api/admin/teams/${ada.teamId}/budgets`)).body.limits,
      (await admin.get('/api/admin/access-codes')).body.total,
      (await ask('GET', '/api/backends/local')).body,
      (await ada.get(`/api/jobs/${job}`)).body
    ]
    const before = await state()
    await db.execute(sql`alter table admin_actions add constraint full_disk check (false) not valid`)
    try {
      const answers = [
        await suspend(ada.teamId),
        await admin.ask('PUT', `/api/admin/teams/${ada.teamId}/budgets`, { daily_usd: 3 }),
        await admin.post('/api/admin/access-codes', { uses: 1 }),
        await admin.ask('PATCH', '/api/admin/backends/local', { description: 'changed' }),
        await admin.post(`/api/admin/jobs/${job}/cancel`)
      ]
      expect(answers.map(({ status }) => status)).toEqual([500, 500, 500, 500, 500])
    } finally {
      await db.execute(sql`alter table admin_actions drop constraint full_disk`)
    }
    expect(await state()).toEqual(before)
  })

  test('is read newest first, page by page, with every entry once though new ones come', async () => {
    const ada = await withTeam()
    for (const reason of ['1', '2', '3', '4', '5']) await suspend(ada.teamId, reason)
    const reasons: string[] = []
    let cursor = ''
    for (let page = 0; page < 3; page++) {
      const { body } = await admin.get(`/api/admin/audit?limit=2${cursor && `&cursor=${cursor}`}`)
      reasons.push(...body.entries.map((entry: { details: { reason: string } }) => entry.details.reason))
      expect([body.limit, body.entries.length]).toEqual([2, 2])
      cursor = body.next_cursor
      await suspend(ada.teamId, 'while somebody reads')
    }
    expect(reasons.slice(0, 5)).toEqual(['5', '4', '3', '2', '1'])
    const rest = (await admin.get(`/api/admin/audit?limit=100&cursor=${cursor}`)).body
    expect(rest.next_cursor).toBe(null)
    expect((await admin.get('/api/admin/audit?cursor=x')).status).toBe(400)
  })
})
