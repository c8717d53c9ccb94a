// The lists and searches of platform administrators.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('admin_lists')
const { db } = api.database
afterAll(() => api.close())

let admin: TestUser
beforeAll(async () => {
  admin = await api.signUp({ admin: true })
})

const names = async (path: string) => {
  const answer = await admin.get(path)
  expect(answer.status).toBe(200)
  return answer.body
}
const q = (text: string) => encodeURIComponent(text)

test('users are found by id, team, address, username and displayed name, whatever the case', async () => {
  const ada = await api.signUpWithTeam({ email: 'Ada.Lovelace@Example.org' })
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
  const grace = await api.signUpWithTeam({ email: 'grace.hopper@example.org' })
  await db.execute(sql`update teams set name = 'Compilers' where id = ${grace.teamId}`)
  for (const text of [grace.teamId, grace.id, 'compil', 'HOPPER@'])
    expect(await names(`/api/admin/teams?q=${q(text)}`)).toMatchObject({
      teams: [{ id: grace.teamId, name: 'Compilers', members: 1, owner: { email: grace.email }, suspended: false }],
      total: 1
    })
})

test('jobs of all teams are found by id, team, user, name and status, with the team’s name and the address', async () => {
  const lin = await api.signUpWithTeam({ email: 'lin@example.org' })
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
  const { body: shown } = await lin.get(`/api/jobs/${id}`)
  // Of the record alone.
  for (const name of ['result', 'choice', 'can', 'entrypoint', 'max_cost_usd']) delete shown[name]
  expect(cancelled.jobs[0]).toEqual({
    ...shown,
    params_omitted: false,
    summary: null,
    team_name: `${lin.email}'s Team`,
    user_email: lin.email
  })
})

test('the record of a job of any team holds nothing of its program, parameters and result', async () => {
  const ada = await api.signUpWithTeam()
  const secret = 'canary-of-a-program'
  const id = await ada.submit({
    ...submission(),
    inline_code: `// ${secret}\n${submission().inline_code}`,
    name: 'seen'
  })
  const { status, body, text } = await admin.get(`/api/admin/jobs/${id}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ id, name: 'seen', team_id: ada.teamId, user_email: ada.email })
  for (const field of ['params', 'result', 'code', 'inline_code']) expect(body).not.toHaveProperty(field)
  expect(text).not.toContain(secret)
  expect((await ada.get(`/api/admin/jobs/${id}`)).status).toBe(404)
  expect((await admin.get('/api/admin/jobs/00000000-0000-4000-8000-000000000000')).status).toBe(404)
})

test('searches treat every character literally', async () => {
  const odd = ['100%', 'under_score', 'back\\slash', "O'Hara", '"quoted"', '$1', "'; drop table users; --", '*', '(']
  const made = new Map<string, string>()
  for (const name of odd) {
    const user = await api.signUpWithTeam()
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
  // A wildcard would match all of them.
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
  'the list of %s refuses invalid searches and unknown filters by name',
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

test('pages have no gaps, and lists without a search are complete', async () => {
  const { total } = await names('/api/admin/users')
  const ids: string[] = []
  for (let offset = 0; offset < total; offset += 7)
    ids.push(...(await names(`/api/admin/users?limit=7&offset=${offset}`)).users.map((user: { id: string }) => user.id))
  expect(new Set(ids).size).toBe(total)
  expect([...ids].sort().reverse()).toEqual(ids)
  const [{ n }] = (await db.execute(sql`select count(*)::int as n from users`)) as unknown as [{ n: number }]
  expect(total).toBe(n)
})

test('no list contains a hash of a password, of a session or of a key', async () => {
  const boss = await api.signUpWithTeam()
  await boss.post('/api/team/api-keys', { team_id: boss.teamId, name: 'k', tier: 'read', kind: 'live' })
  const rows = await db.execute<{ secret: string }>(sql`select password_hash as secret from users
      union all select encode(token_hash, 'hex') from sessions union all select encode(token_hash, 'base64') from sessions
      union all select encode(token_hash, 'hex') from api_keys union all select encode(token_hash, 'base64') from api_keys`)
  expect(rows.length).toBeGreaterThan(10)
  for (const list of ['teams', 'users', 'jobs', 'access-codes', 'audit', 'system']) {
    const limit = list === 'system' ? '' : '?limit=100'
    const { text } = await admin.get(`/api/admin/${list}${limit}`)
    expect([list, rows.filter(({ secret }) => text.includes(secret))]).toEqual([list, []])
    // Names of fields: the letters of a random access code can spell anything.
    expect(text).not.toMatch(/"\w*(hash|password)\w*":|\$argon2/i)
  }
})
