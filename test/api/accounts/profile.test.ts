// Profiles, and the deletion of an account.
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { cookieOf, type Headers, PASSWORD, startApi } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('profile')
const { db } = api.database
afterAll(() => api.close())

describe('a profile', () => {
  test('begins with the username of the account and is private', async () => {
    const ada = await api.signUp()
    const { body } = await ada.get('/api/profile')
    expect(body).toEqual({
      username: ada.email.split('@')[0],
      display_name: null,
      bio: null,
      avatar_url: null,
      website: null,
      location: null,
      github_username: null,
      twitter_username: null,
      linkedin_url: null,
      is_public: false
    })
    expect((await api.ask('GET', `/api/profiles/${body.username}`)).status).toBe(404)
  })

  test('is changed field by field, published, and found in any case', async () => {
    const ada = await api.signUp()
    const change = { username: 'Ada-Lovelace', bio: 'Notes', website: 'https://example.org', is_public: true }
    const changed = await ada.ask('PATCH', '/api/profile', change)
    expect([changed.status, changed.body]).toEqual([200, expect.objectContaining(change)])
    expect((await ada.ask('PATCH', '/api/profile', { bio: null })).body).toMatchObject({ ...change, bio: null })
    const shown = await api.ask('GET', '/api/profiles/ADA-lovelace')
    expect([shown.status, shown.body.username]).toEqual([200, 'Ada-Lovelace'])
    expect(shown.text).not.toContain(ada.email)
  })

  test.each([
    [{ username: 'ab' }],
    [{ username: 'x'.repeat(31) }],
    [{ username: 'a b c' }],
    [{ username: 'ünïcode' }],
    [{ username: null }],
    [{ display_name: 'x'.repeat(101) }],
    [{ bio: 'x'.repeat(501) }],
    [{ location: 'x'.repeat(101) }],
    [{ github_username: 'x'.repeat(40) }],
    [{ twitter_username: 'x'.repeat(16) }],
    [{ website: `https://${'x'.repeat(200)}` }],
    [{ website: 'javascript:alert(1)' }],
    [{ avatar_url: 'data:text/html,x' }],
    [{ linkedin_url: '//example.org' }],
    [{ website: 'https://bank.example@evil.example/' }],
    [{ website: 'https://:secret@example.org/' }],
    [{ website: 'https://example.org/\r\nSet-Cookie: a=b' }],
    [{ website: 'https://example.org/a b' }],
    [{ avatar_url: 'https:\\\\example.org' }],
    [{ github_username: '../../x' }],
    [{ github_username: 'a--b' }],
    [{ github_username: '-a' }],
    [{ twitter_username: 'a/b' }],
    [{ username: 'Admin' }],
    [{ username: 'no-reply' }],
    [{ is_public: 'yes' }],
    [{ id: '01890000-0000-7000-8000-000000000000' }],
    [{ email: 'other@example.org' }],
    [{ is_platform_admin: true }],
    [{ password_hash: 'x' }],
    [{ created_at: '2020-01-01T00:00:00Z' }]
  ])('refuses %j', async (change) => {
    const ada = await api.signUp()
    const before = (await ada.get('/api/profile')).body
    expect((await ada.ask('PATCH', '/api/profile', change)).status).toBe(400)
    expect((await ada.get('/api/profile')).body).toEqual(before)
  })

  test('accepts every field at its maximum length, and every field empty', async () => {
    const ada = await api.signUp()
    const full = {
      username: 'x'.repeat(30),
      display_name: '🔑'.repeat(100),
      bio: 'x'.repeat(500),
      location: 'x'.repeat(100),
      github_username: 'x'.repeat(39),
      twitter_username: 'x'.repeat(15)
    }
    expect((await ada.ask('PATCH', '/api/profile', full)).body).toMatchObject(full)
    expect((await ada.ask('PATCH', '/api/profile', {})).body).toMatchObject(full)
  })

  test('of an account whose address begins with a reserved name has another username', async () => {
    const root = await api.signUp({ email: 'root@example.org' })
    expect((await root.get('/api/profile')).body.username).toBe('user-root')
  })

  test('has a unique username in any case, also with ten changes at once', async () => {
    const people = await Promise.all(Array.from({ length: 10 }, () => api.signUp()))
    const answers = await Promise.all(
      people.map((one, at) => one.ask('PATCH', '/api/profile', { username: at % 2 ? 'the-one' : 'THE-ONE' }))
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)])
    expect(answers.find(({ status }) => status === 400)!.body.error).toBe('username: is taken')
  })
})

describe('deleting an account', () => {
  const end = (user: Awaited<ReturnType<typeof api.signUp>>, password = PASSWORD) =>
    user.ask('DELETE', '/api/profile', { password })

  test('needs the password, and ends sessions, keys and one-person teams', async () => {
    const ada = await api.signUp()
    const { key } = (await ada.post('/api/team/api-keys', { name: 'k', tier: 'read', kind: 'live' })).body
    const second = cookieOf(await api.ask('POST', '/api/auth/sign-in', { email: ada.email, password: PASSWORD }))
    expect((await end(ada, 'not the password')).status).toBe(400)
    expect((await end(ada)).body).toEqual({ success: true })
    const credentials: Headers[] = [{ cookie: ada.cookie }, { cookie: second }, { authorization: `Bearer ${key}` }]
    for (const headers of credentials) expect((await api.ask('GET', '/api/jobs', undefined, headers)).status).toBe(401)
    expect((await api.ask('POST', '/api/auth/sign-in', { email: ada.email, password: PASSWORD })).status).toBe(401)
    const [row] = await db.execute(sql`select count(*)::int as left from users where id = ${ada.id}`)
    expect(row).toEqual({ left: 0 })
  })

  test('is refused while the user owns a team with other members, and the refusal names the team', async () => {
    const [ada, bob] = [await api.signUp(), await api.signUp()]
    const { id } = (await ada.post('/api/teams', { name: 'Ours' })).body
    await db.execute(sql`insert into members (team_id, user_id, role) values (${id}, ${bob.id}, 'member')`)
    const refused = await end(ada)
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('"Ours"')])
    await ada.post(`/api/teams/${id}/transfer`, { user_id: bob.id })
    expect((await end(ada)).status).toBe(200)
    expect((await bob.get(`/api/team/members?team_id=${id}`)).body.members).toHaveLength(1)
  })

  test('keeps the jobs of a team with other members', async () => {
    const [ada, bob] = [await api.signUp(), await api.signUp()]
    const { id } = (await ada.post('/api/teams', { name: 'Ours' })).body
    await db.execute(sql`insert into members (team_id, user_id, role) values (${id}, ${bob.id}, 'member')`)
    const job = await bob.submit(submission({ team_id: id }))
    expect((await end(bob)).status).toBe(200)
    expect((await ada.get(`/api/jobs/${job}`)).body).toMatchObject({ id: job, user_id: null })
  })
})
