import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { createAccessCode } from '../../../db/accounts/accounts.js'
import { cookieOf, PASSWORD, startApi, type TestApi, type TestUser } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'

const api = await startApi('accounts')
const { ask, database } = api
const { db } = database
afterAll(() => api.close())

const code = (uses = 1) => createAccessCode(db, { uses })
let count = 0
const newEmail = () => `person-${++count}@example.org`
const signUp = (body: Record<string, unknown>) => ask('POST', '/api/auth/sign-up', { password: PASSWORD, ...body })

describe('an access code', () => {
  test('shows its remaining uses to every caller, and a check takes no use', async () => {
    const given = await code(3)
    for (let look = 0; look < 2; look++) {
      const answer = await ask('POST', '/api/auth/validate-code', { code: given })
      expect([answer.status, answer.body]).toEqual([200, { valid: true, remaining_uses: 3 }])
    }
  })

  test('gets the same response when it is unknown, used up or expired', async () => {
    const used = await code(1)
    await signUp({ email: newEmail(), code: used })
    const expired = await createAccessCode(db, { uses: 5, expiresAt: new Date(Date.now() - 1000) })
    for (const dead of ['nobody-made-this', used, expired]) {
      const answer = await ask('POST', '/api/auth/validate-code', { code: dead })
      expect([answer.status, answer.body]).toEqual([200, { valid: false, remaining_uses: 0 }])
      expect((await signUp({ email: newEmail(), code: dead })).status).toBe(400)
    }
  })

  test.each([
    ['of 1 character', 'a', 200],
    ['of 64 characters', 'a'.repeat(64), 200],
    ['of 65 characters', 'a'.repeat(65), 400],
    ['without characters', '', 400],
    ['with a space', 'a b', 400],
    ['with a dollar sign', 'a$', 400],
    ['with a line break', 'a\n', 400],
    ['that is a number', 5, 400],
    ['that is a list', ['a'], 400],
    ['that is missing', undefined, 400]
  ])('%s, %p, returns %p', async (_what, given, status) => {
    expect((await ask('POST', '/api/auth/validate-code', { code: given })).status).toBe(status)
  })

  test('with three uses admits exactly three of twenty simultaneous sign-ups', async () => {
    const given = await code(3)
    const answers = await Promise.all(Array.from({ length: 20 }, () => signUp({ email: newEmail(), code: given })))
    const statuses = answers.map((answer) => answer.status).sort()
    expect(statuses).toEqual([...Array(3).fill(201), ...Array(17).fill(400)])
    expect((await ask('POST', '/api/auth/validate-code', { code: given })).body.remaining_uses).toBe(0)
    for (const refused of answers.filter((answer) => answer.status === 400))
      expect(refused.body.error).toBe('code: is not valid, has expired or is used up')
  })
})

describe('signing up', () => {
  test('returns the user and a session cookie that scripts cannot read', async () => {
    const email = newEmail()
    const answer = await signUp({ email, code: await code(), display_name: 'Ada' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      user: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        email,
        username: email.split('@')[0],
        display_name: 'Ada',
        is_platform_admin: false,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/)
      }
    })
    const cookie = answer.headers['set-cookie'] as string
    expect(cookie).toMatch(/^qjs_session=[A-Za-z0-9_-]{43}; /)
    for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Path=/']) expect(cookie).toContain(attribute)
    expect(cookie).not.toMatch(/Secure|Domain/)
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('with TLS, sets a cookie that is bound to the host and to HTTPS', async () => {
    const tls = await startApi('accounts_tls', { database, config: { publicUrl: 'https://jobs.example.org' } })
    const answer = await tls.ask('POST', '/api/auth/sign-up', {
      email: newEmail(),
      password: PASSWORD,
      code: await code()
    })
    expect(answer.headers['set-cookie']).toMatch(/^__Host-qjs_session=.*Secure/)
    expect((await tls.ask('GET', '/api/auth/session', undefined, { cookie: cookieOf(answer) })).status).toBe(200)
    const bare = cookieOf(answer).replace('__Host-', '')
    expect((await tls.ask('GET', '/api/auth/session', undefined, { cookie: bare })).status).toBe(401)
    await tls.close()
  })

  test('with a taken address, in any case, is refused and uses no access code', async () => {
    const email = newEmail()
    const given = await code(2)
    expect((await signUp({ email, code: given })).status).toBe(201)
    const again = await signUp({ email: email.toUpperCase(), code: given })
    expect([again.status, again.body.error]).toEqual([
      400,
      'email: cannot be used for a new account; sign in instead if it is yours'
    ])
    expect((await ask('POST', '/api/auth/validate-code', { code: given })).body.remaining_uses).toBe(1)
  })

  test('ten times at once with one address creates one account', async () => {
    const email = newEmail()
    const given = await code(10)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => signUp({ email: index % 2 ? email : email.toUpperCase(), code: given }))
    )
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1)
    expect((await ask('POST', '/api/auth/validate-code', { code: given })).body.remaining_uses).toBe(9)
  })

  test('gives different usernames to two people whose addresses begin with the same name', async () => {
    const names = []
    for (const domain of ['a', 'b', 'c'])
      names.push((await signUp({ email: `Same.Name@${domain}.example`, code: await code() })).body.user.username)
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(3)
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{3,30}$/)
  })

  test('derives a valid username from any address, however short or long', async () => {
    for (const local of ['a', 'x'.repeat(64), '!#$', '--'])
      expect(
        (await signUp({ email: `${local}@${newEmail().split('@')[0]}.example`, code: await code() })).body.user.username
      ).toMatch(/^[A-Za-z0-9_-]{3,30}$/)
  })

  test.each([
    ['a password of 9 characters', { password: 'x'.repeat(9) }, 'password: must be a string of 10 to 200 characters'],
    [
      'a password of 201 characters',
      { password: 'x'.repeat(201) },
      'password: must be a string of 10 to 200 characters'
    ],
    ['no password', { password: undefined }, 'password: is required'],
    ['an address without @', { email: 'nobody' }, 'email: must be a valid email (got "nobody")'],
    [
      'an address of 255 characters',
      { email: `${'x'.repeat(243)}@example.org` },
      'email: must be a string of at most 254 characters'
    ],
    ['two addresses in a list', { email: ['a@b.c', 'd@e.f'] }, 'email: must be a string'],
    ['no code', { code: undefined }, 'code: is required'],
    ['an empty name', { display_name: '' }, 'display_name: must be a string of 1 to 100 characters'],
    [
      'a name of 101 characters',
      { display_name: 'x'.repeat(101) },
      'display_name: must be a string of 1 to 100 characters'
    ],
    ['a role', { is_platform_admin: true }, 'is_platform_admin: is not a field of this request']
  ])('with %s is refused, and the message names the field', async (_what, changes, message) => {
    const answer = await signUp({ email: newEmail(), code: 'x', ...changes })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(message)
    if ('password' in changes) expect(answer.text).not.toContain('xxx')
  })

  test.each([10, 200])('accepts a password of %p characters, and counts an astral character once', async (length) => {
    const [email, password] = [newEmail(), '🔑'.repeat(length)]
    expect((await signUp({ email, password, code: await code() })).status).toBe(201)
    expect((await ask('POST', '/api/auth/sign-in', { email, password })).status).toBe(200)
  })

  test('needs no access code where codes are switched off', async () => {
    const open = await startApi('accounts_open', { database, config: { codesNeeded: false } })
    const answer = await open.ask('POST', '/api/auth/sign-up', { email: newEmail(), password: PASSWORD })
    expect(answer.status).toBe(201)
    await open.close()
  })
})

describe('signing in', () => {
  test('works with any case of the address, and creates a new session each time', async () => {
    const ada = await api.signUp()
    const answer = await ask('POST', '/api/auth/sign-in', { email: ada.email.toUpperCase(), password: PASSWORD })
    expect(answer.status).toBe(200)
    expect(answer.body.user.id).toBe(ada.id)
    expect(cookieOf(answer)).not.toBe(ada.cookie)
  })

  test('replaces the cookie value of an earlier session', async () => {
    const ada = await api.signUp()
    const planted = `qjs_session=${'A'.repeat(43)}`
    const answer = await ask('POST', '/api/auth/sign-in', { email: ada.email, password: PASSWORD }, { cookie: planted })
    expect(cookieOf(answer)).not.toBe(planted)
    expect((await ask('GET', '/api/auth/session', undefined, { cookie: planted })).status).toBe(401)
  })

  test('gives a wrong password and an unknown address the same response', async () => {
    const ada = await api.signUp()
    const wrong = await ask('POST', '/api/auth/sign-in', { email: ada.email, password: 'not the password' })
    const unknown = await ask('POST', '/api/auth/sign-in', {
      email: 'nobody@example.org',
      password: 'not the password'
    })
    expect([wrong.status, wrong.body]).toEqual([401, { error: 'E-mail address or password is wrong' }])
    expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body])
    expect(wrong.headers['set-cookie']).toBeUndefined()
  })
})

describe('a session', () => {
  let ada: TestUser
  beforeAll(async () => {
    ada = await api.signUp()
  })
  const session = (cookie: string) => ask('GET', '/api/auth/session', undefined, { cookie })

  test('shows the user, their teams, and itself', async () => {
    const listed = (await ada.get('/api/auth/sessions')).body.sessions
    expect((await session(ada.cookie)).body).toEqual({
      user: expect.objectContaining({ id: ada.id }),
      teams: [],
      session: {
        id: listed.find(({ current }: { current: boolean }) => current).id,
        expires_at: expect.any(String),
        idle_until: expect.any(String)
      }
    })
  })

  test('says when it ends: its request counts as a use, and its last day is the last', async () => {
    const person = await api.signUp()
    const daysLeft = async () => {
      const { expires_at, idle_until } = (await session(person.cookie)).body.session
      return [expires_at, idle_until].map((at) => (Date.parse(at) - Date.now()) / 86_400_000)
    }
    const near = (days: number) => expect.closeTo(days, 2)
    expect(await daysLeft()).toEqual([near(30), near(7)])
    await db.execute(sql`update sessions set last_seen_at = now() - interval '6 days' where user_id = ${person.id}`)
    expect(await daysLeft()).toEqual([near(30), near(7)])
    await db.execute(sql`update sessions set created_at = now() - interval '25 days' where user_id = ${person.id}`)
    expect(await daysLeft()).toEqual([near(5), near(5)])
  })

  test('that is missing gives exactly { "error": "Unauthorized" }', async () => {
    for (const path of ['/api/auth/session', '/api/jobs', '/api/team/budget', '/api/admin/teams/x/budgets']) {
      const answer = await ask('GET', path)
      expect([path, answer.status, answer.text]).toEqual([path, 401, '{"error":"Unauthorized"}'])
      expect(answer.headers['www-authenticate']).toMatch(
        /^Bearer realm="[^"]+", .*POST \/api\/auth\/sign-in or 'qjob login'/
      )
    }
  })

  test.each([
    ['truncated', (cookie: string) => cookie.slice(0, -1)],
    ['lengthened', (cookie: string) => `${cookie}A`],
    [
      'changed in one character',
      (cookie: string) => cookie.slice(0, -2) + (cookie.at(-2) === 'A' ? 'B' : 'A') + cookie.at(-1)
    ],
    ['empty', () => 'qjs_session='],
    ['sent twice', (cookie: string) => `${cookie}; ${cookie}`],
    ['next to a planted one', (cookie: string) => `qjs_session=${'A'.repeat(43)}; ${cookie}`],
    ['under another name', (cookie: string) => cookie.replace('qjs', 'QJS')],
    ['replaced by a wildcard', () => 'qjs_session=%25'],
    ['of ten thousand characters', () => `qjs_session=${'A'.repeat(10_000)}`]
  ])('with its cookie %s is not accepted', async (_what, change) => {
    const answer = await session(change(ada.cookie))
    expect([answer.status, answer.text]).toEqual([401, '{"error":"Unauthorized"}'])
  })

  test('is accepted among other cookies', async () => {
    expect((await session(`a=1; ${ada.cookie}; not_qjs_session=2`)).status).toBe(200)
  })

  test('expires after 7 idle days, and after 30 days in total', async () => {
    for (const [column, alive, over] of [
      ['last_seen_at', '6 days 23 hours', '7 days 1 second'],
      ['created_at', '29 days 23 hours', '30 days 1 second']
    ] as const) {
      const person = await api.signUp()
      for (const [age, status] of [
        [alive, 200],
        [over, 401]
      ] as const) {
        await db.execute(
          sql`update sessions set ${sql.identifier(column)} = now() - ${age}::interval where user_id = ${person.id}`
        )
        expect([column, age, (await session(person.cookie)).status]).toEqual([column, age, status])
        // The time of the last request is stored after the response. Without this wait it could overwrite the next change.
        if (column === 'last_seen_at' && status === 200)
          await eventually(async () => {
            const [row] = await db.execute(
              sql`select last_seen_at > now() - interval '1 minute' as seen from sessions where user_id = ${person.id}`
            )
            return row!.seen as boolean
          })
      }
    }
  })

  test('ends on the server when its owner signs out, and the other sessions stay valid', async () => {
    const person = await api.signUp()
    const second = cookieOf(await ask('POST', '/api/auth/sign-in', { email: person.email, password: PASSWORD }))
    const answer = await person.post('/api/auth/sign-out')
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers['set-cookie']).toMatch(/^qjs_session=;/)
    expect((await session(person.cookie)).status).toBe(401)
    expect((await session(second)).status).toBe(200)
  })

  test('never shows another user during a hundred concurrent requests of two users', async () => {
    const bob = await api.signUp()
    const people = Array.from({ length: 100 }, (_, index) => (index % 2 ? ada : bob))
    const answers = await Promise.all(people.map((person) => person.get('/api/auth/session')))
    expect(answers.map((answer) => answer.body.user.id)).toEqual(people.map((person) => person.id))
  })

  test('is stored only as a digest', async () => {
    const token = ada.cookie.split('=')[1]!
    const rows = await db.execute(
      sql`select sessions::text as text, encode(token_hash, 'escape') as hash from sessions`
    )
    for (const row of rows) expect(`${row.text} ${row.hash}`).not.toContain(token)
  })
})

describe('cross-site protection:', () => {
  let ada: TestUser
  beforeAll(async () => {
    ada = await api.signUp()
  })
  const json = { 'content-type': 'application/json' }
  const crossSite = { 'sec-fetch-site': 'cross-site' }

  // `localhost:80` is the host that injected requests carry.
  test.each([
    ['no browser header', {}, 400],
    ['the same origin', { origin: 'http://localhost:80' }, 400],
    ['a foreign origin', { origin: 'https://evil.example' }, 403],
    ['a sibling of the host', { origin: 'http://x.localhost:80' }, 403],
    ['another port of the host', { origin: 'http://localhost:81' }, 403],
    ['an origin that begins like ours', { origin: 'http://localhost:80.evil.example' }, 403],
    ['origin null', { origin: 'null' }, 403],
    ['an empty origin', { origin: '' }, 403],
    ['Sec-Fetch-Site cross-site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['Sec-Fetch-Site same-site', { 'sec-fetch-site': 'same-site' }, 403],
    ['Sec-Fetch-Site same-origin', { 'sec-fetch-site': 'same-origin' }, 400],
    ['Sec-Fetch-Site none', { 'sec-fetch-site': 'none' }, 400],
    ['Sec-Fetch-Site cross-site and an origin like ours', { ...crossSite, origin: 'http://localhost:80' }, 403],
    ['a Sec-Fetch-Site that no browser sends', { 'sec-fetch-site': '' }, 403]
  ])('with %s, a write returns %p', async (_what, headers, status) => {
    // 400: the request reached the check of its body, which is not a valid submission.
    expect((await ada.ask('POST', '/api/jobs/submit', {}, headers as never)).status).toBe(status)
  })

  describe('where the service is known as http://127.0.0.1:3000,', () => {
    let known: TestApi
    beforeAll(async () => {
      known = await startApi('accounts_known', { database, config: { publicUrl: 'http://127.0.0.1:3000' } })
    })
    afterAll(() => known.close())

    // What Chromium sends with a POST to this machine, and what it sends over http to another one.
    test.each([
      ['a page of 127.0.0.1', { origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'same-origin' }, 400],
      ['a page of localhost', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' }, 400],
      ['a page of another port of localhost', { origin: 'http://localhost:9', 'sec-fetch-site': 'same-site' }, 403],
      ['a page of localhost that calls 127.0.0.1', { origin: 'http://localhost:3000', ...crossSite }, 403],
      ['a page of another site', { origin: 'https://evil.example', ...crossSite }, 403],
      ['a page of localhost in a browser without Sec-Fetch-Site', { origin: 'http://localhost:3000' }, 403],
      ['a page of this address in such a browser', { origin: 'http://127.0.0.1:3000' }, 400],
      ['a page of another site in such a browser', { origin: 'http://evil.example' }, 403]
    ])('a write from %s returns %p', async (_what, headers, status) => {
      const answer = await known.ask('POST', '/api/auth/sign-in', {}, { host: 'localhost:3000', ...headers })
      expect(answer.status).toBe(status)
    })
  })

  test('a foreign page cannot sign a visitor in, up or out', async () => {
    for (const path of ['sign-in', 'sign-up', 'sign-out', 'validate-code'])
      for (const foreign of [{ origin: 'https://evil.example' }, crossSite])
        expect((await ada.ask('POST', `/api/auth/${path}`, {}, foreign)).status).toBe(403)
    expect((await ada.get('/api/auth/session')).status).toBe(200)
  })

  test('a read gets a response, without CORS headers that would let another site see it', async () => {
    const answer = await ada.ask('GET', '/api/auth/session', undefined, { origin: 'https://evil.example' })
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test.each([
    ['a form', 'application/x-www-form-urlencoded', 'a=1'],
    ['JSON with a text type', 'text/plain', '{"shots":1}'],
    ['a multipart form', 'multipart/form-data; boundary=x', '--x--'],
    ['JSON with another JSON type', 'application/json-patch+json', '{}'],
    ['no type at all', '', '{}']
  ])('a write with %s as its body returns 415', async (_what, type, body) => {
    const answer = await ada.ask('POST', '/api/jobs/submit', body, { 'content-type': type })
    expect([answer.status, answer.body]).toEqual([415, { error: 'Content-Type: must be application/json' }])
  })

  test('a write accepts JSON with a charset', async () => {
    const answer = await ada.ask('POST', '/api/jobs/submit', '{}', {
      ...json,
      'content-type': 'application/json; charset=utf-8'
    })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain('is required')
  })
})

describe('an Authorization header', () => {
  test.each([
    ['Basic dXNlcjpwYXNz', /must be Bearer \(got "Basic"; a \.netrc entry/],
    ['Digest x', /got "Digest"/],
    ['marqey_live_0123456789012345678901234567890123', /got "marqey_live_01234567"/],
    ['', /got ""/],
    ['Bearer marqey_live_0123456789012345678901234567890123', /this API key is unknown, revoked or expired/],
    ['bearer x', /this API key is unknown/]
  ])(
    '%p returns 401 with a structured error that says what is wrong, even with a valid cookie',
    async (authorization, message) => {
      const ada = await api.signUp()
      const answer = await ada.ask('GET', '/api/jobs', undefined, { authorization })
      expect(answer.status).toBe(401)
      expect(answer.body).toEqual({
        error: { code: 'unauthorized', message: expect.stringMatching(message), status: 401 }
      })
    }
  )
})
