import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginPasswordReset } from '../../../db/accounts/passwords.js'
import { rateLimits } from '../../../domain/teams/rate-limits.js'
import { PASSWORD, startApi } from '../../support/api/api.js'
import { CLIENT } from '../../support/api/identity-provider.js'
import { cookiesOf, expectRefusal, redirectUri, startOidc, type Visit } from '../../support/api/oidc.js'

const oidc = await startOidc('oidc')
const { api, provider, clientFor, goToProvider, comeBack, signIn, newPerson, newCode, usesLeft, whoIs, rowsOf } = oidc
const { database } = api
const { db } = database
afterAll(() => oidc.close())
afterEach(() => oidc.mend())

describe('the redirect to the provider', () => {
  test('has state, nonce and PKCE, and sets an opaque cookie that scripts cannot read', async () => {
    const code = await newCode()
    const answer = await api.ask('GET', `/api/auth/oidc/start?code=${code}&return_to=/jobs`)
    expect(answer.status).toBe(302)
    const location = new URL(answer.headers.location as string)
    expect(location.origin + location.pathname).toBe(`${provider.issuer}/authorize`)
    expect(Object.fromEntries(location.searchParams)).toEqual({
      client_id: CLIENT.clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256'
    })
    const cookie = cookiesOf(answer).qjs_oidc!
    for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Max-Age=600', 'Path=/']) expect(cookie).toContain(attribute)
    expect(cookie.length).toBeLessThan(4_000)
    const readable = cookie + cookie.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'))
    for (const secret of [code, location.searchParams.get('state')!, location.searchParams.get('nonce')!])
      expect(readable).not.toContain(secret)
  })

  test('never uses the same state, nonce or challenge twice', async () => {
    const seen = new Set<string | null>()
    for (let turn = 0; turn < 5; turn++) {
      const { searchParams } = new URL((await api.ask('GET', '/api/auth/oidc/start')).headers.location as string)
      for (const name of ['state', 'nonce', 'code_challenge']) seen.add(searchParams.get(name))
    }
    expect(seen.size).toBe(15)
  })

  test.each([
    '//evil.example',
    '/\\evil.example',
    '\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    'evil.example',
    '',
    '/\t/evil.example',
    '/\r\nSet-Cookie: a=b',
    '/a b',
    '/jobs/é',
    `/${'a'.repeat(1000)}`
  ])('is refused when it would return the user to %j', async (returnTo) => {
    const answer = await api.ask('GET', `/api/auth/oidc/start?return_to=${encodeURIComponent(returnTo)}`)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^return_to: must/)])
  })

  test('is refused for a malformed access code, which the message does not repeat', async () => {
    const answer = await api.ask('GET', '/api/auth/oidc/start?code=a%20b')
    expect([answer.status, answer.body.error]).toEqual([400, 'code: must match ^[A-Za-z0-9_-]+$'])
  })

  test('is a 404 where no identity provider is configured', async () => {
    const without = await startApi('oidc_none', { database })
    for (const path of ['start', 'start?return_to=//x', 'callback', 'callback?state=x&code=y']) {
      const answer = await without.ask('GET', `/api/auth/oidc/${path}`)
      expect([answer.status, answer.body.error]).toEqual([
        404,
        expect.stringContaining('not set up here (OIDC_ISSUER)')
      ])
    }
    await without.close()
  })
})

describe('a first sign-in', () => {
  test('creates a verified account with one use of the access code, and redirects to the requested page', async () => {
    const person = newPerson({ name: '  Ada Lovelace ' })
    const code = await newCode(2)
    const answer = await signIn(person, `?code=${code}&return_to=${encodeURIComponent('/jobs?page=2#last')}`)
    expect([answer.status, answer.headers.location]).toEqual([302, '/jobs?page=2#last'])
    const { qjs_session, qjs_oidc } = cookiesOf(answer)
    for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Path=/']) expect(qjs_session).toContain(attribute)
    expect(qjs_oidc).toMatch(/^qjs_oidc=;/)
    const rows = await rowsOf(person.email)
    expect(rows).toMatchObject([
      { display_name: 'Ada Lovelace', password_hash: null, issuer: provider.issuer, subject: person.sub }
    ])
    expect(rows[0]!.email_verified_at).not.toBeNull()
    expect(await whoIs(answer)).toBe(rows[0]!.id)
    expect(await usesLeft(code)).toBe(1)
  })

  test('with an address that the provider has not verified creates an unverified account', async () => {
    for (const email_verified of [false, undefined, 'true', 1]) {
      const person = newPerson({ email_verified })
      expect((await signIn(person, `?code=${await newCode()}`)).status).toBe(302)
      expect(await rowsOf(person.email)).toMatchObject([{ email_verified_at: null, subject: person.sub }])
    }
  })

  test('without an access code is refused with the page that accepts one, and creates nothing', async () => {
    const person = newPerson()
    expectRefusal(await signIn(person), 400, /^code: is required for your first sign-in; begin again at .*start\?code=/)
    expect(await rowsOf(person.email)).toEqual([])
  })

  test('with a used-up access code creates nothing, and counts against the limit for checks of codes', async () => {
    const limits = { ...rateLimits, validateCode: { ...rateLimits.validateCode, max: 2 } }
    const limited = await startApi('oidc_limited', { database, oidc: clientFor(provider.issuer), limits })
    const dead = await newCode(1)
    await signIn(newPerson(), `?code=${dead}`)
    const person = newPerson()
    for (let turn = 0; turn < 2; turn++)
      expectRefusal(await signIn(person, `?code=${dead}`, limited), 400, /^code: is not valid, has expired or is used/)
    expect((await signIn(person, `?code=${dead}`, limited)).status).toBe(429)
    expect(await rowsOf(person.email)).toEqual([])
    await limited.close()
  })

  test('needs no access code where codes are switched off', async () => {
    const open = await startApi('oidc_open', {
      database,
      oidc: clientFor(provider.issuer),
      config: { codesNeeded: false }
    })
    const person = newPerson()
    expect((await signIn(person, '', open)).status).toBe(302)
    expect(await rowsOf(person.email)).toHaveLength(1)
    await open.close()
  })

  test('by five people at once with an access code of two uses admits exactly two', async () => {
    const code = await newCode(2)
    const visits: Visit[] = []
    for (let turn = 0; turn < 5; turn++) visits.push(await goToProvider(newPerson(), `?code=${code}`))
    const answers = await Promise.all(visits.map((visit) => comeBack(visit)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([302, 302, 400, 400, 400])
    expect(await usesLeft(code)).toBe(0)
  })

  test('by one person from five browsers at once creates one account and takes one use', async () => {
    const person = newPerson()
    const code = await newCode(5)
    const visits: Visit[] = []
    for (let turn = 0; turn < 5; turn++) visits.push(await goToProvider(person, `?code=${code}`))
    const answers = await Promise.all(visits.map((visit) => comeBack(visit)))
    for (const { status } of answers) expect([302, 400, 409]).toContain(status)
    expect(answers.filter((answer) => answer.status === 302).length).toBeGreaterThan(0)
    expect(await rowsOf(person.email)).toHaveLength(1)
    expect(await usesLeft(code)).toBe(4)
  })

  test('of one subject with two addresses at once creates one account and uses one access code', async () => {
    const { sub } = newPerson()
    const code = await newCode(2)
    const visits: Visit[] = []
    for (const email of [newPerson().email, newPerson().email])
      visits.push(await goToProvider({ sub, email, email_verified: true }, `?code=${code}`))
    const answers = await Promise.all(visits.map((visit) => comeBack(visit)))
    const made = await db.execute(sql`select user_id from identities where subject = ${sub}`)
    expect(made).toHaveLength(1)
    expect(await usesLeft(code)).toBe(1)
    for (const answer of answers)
      if (answer.status === 302) expect(await whoIs(answer)).toBe(made[0]!.user_id)
      else expect(answer.status).toBe(409)
  })

  test.each([
    ['missing', undefined],
    ['not text', 5],
    ['not an address', 'nobody'],
    ['too long', `${'a'.repeat(250)}@example.org`],
    ['two addresses on two lines', 'a@example.org\r\nb@example.org'],
    ['written with the Kelvin sign for a k', '\u212Aelvin@example.org'],
    ['an address with a NUL', 'a\u0000b@example.org']
  ])('is refused when the e-mail address is %s', async (_what, email) => {
    expectRefusal(
      await signIn(newPerson({ email }), `?code=${await newCode()}`),
      403,
      /gave no e-mail address of yours that can be used/
    )
  })

  test.each([
    ['empty', ' ', null],
    ['not text', { first: 'Ada' }, null],
    ['text with a NUL', 'A\u0000da', null],
    ['very long', '\u{1F600}'.repeat(300), '\u{1F600}'.repeat(100)]
  ])('stores as much of a name that is %s as can be shown', async (_what, name, shown) => {
    const person = newPerson({ name })
    expect((await signIn(person, `?code=${await newCode()}`)).status).toBe(302)
    expect(await rowsOf(person.email)).toMatchObject([{ display_name: shown }])
  })

  test('gets the address from the userinfo endpoint when the token has none', async () => {
    provider.state.claimsIn = 'userinfo'
    const person = newPerson({ name: 'Ada' })
    expect((await signIn(person, `?code=${await newCode()}`)).status).toBe(302)
    const [row] = await rowsOf(person.email)
    expect(row).toMatchObject({ display_name: 'Ada', subject: person.sub })
    expect(row!.email_verified_at).not.toBeNull()
    provider.state.fault = { userinfoSub: 'somebody else' }
    expectRefusal(await signIn(person), 401, /cannot be trusted/)
  })
})

describe('a later sign-in', () => {
  test('finds the same account after a change of address, and needs no access code', async () => {
    const person = newPerson()
    const first = await whoIs(await signIn(person, `?code=${await newCode()}`))
    const code = await newCode()
    const later = await signIn({ sub: person.sub, email: 'moved@example.org', email_verified: false }, `?code=${code}`)
    expect(await whoIs(later)).toBe(first)
    expect(await usesLeft(code)).toBe(1)
    expect(await rowsOf('moved@example.org')).toEqual([])
    expect(await whoIs(await signIn({ sub: person.sub }))).toBe(first)
  })

  test('with the same subject at another provider opens another account', async () => {
    const person = newPerson({ email_verified: false })
    await signIn(person, `?code=${await newCode()}`)
    await db.execute(sql`update identities set issuer = 'https://other.example' where subject = ${person.sub}`)
    expectRefusal(await signIn(person), 403, /sign in with the password/)
  })

  test('begins a new session, and discards a planted one', async () => {
    const person = newPerson()
    await signIn(person, `?code=${await newCode()}`)
    const visit = await goToProvider(person)
    const planted = 'A'.repeat(43)
    const answer = await api.ask('GET', visit.back, undefined, { cookie: `qjs_session=${planted}; ${visit.cookie}` })
    expect(cookiesOf(answer).qjs_session).not.toContain(planted)
    const asPlanted = await api.ask('GET', '/api/auth/session', undefined, { cookie: `qjs_session=${planted}` })
    expect(asPlanted.status).toBe(401)
  })
})

describe('an account with the same e-mail address', () => {
  const reset = async (email: string) => {
    const { token } = (await beginPasswordReset(db, email))!
    expect((await api.ask('POST', '/api/auth/reset-password', { token, password: PASSWORD })).status).toBe(200)
  }

  test('is linked only when both the provider and this service have verified the address', async () => {
    const user = await api.signUp()
    const person = newPerson({ email: user.email.toUpperCase() })
    expectRefusal(await signIn(person), 403, /never verified here: sign in with the password.*reset the password once/)
    await reset(user.email)
    for (const email_verified of [false, undefined, 'true', 1])
      expectRefusal(await signIn({ ...person, email_verified }), 403, /email_verified\): sign in with the password/)
    expect(await rowsOf(user.email)).toMatchObject([{ subject: null }])

    const code = await newCode()
    expect(await whoIs(await signIn(person, `?code=${code}`))).toBe(user.id)
    expect(await usesLeft(code)).toBe(1)
    expect(await rowsOf(user.email)).toMatchObject([{ subject: person.sub }])
    // From now on the subject identifies the account, and the password still works.
    expect(await whoIs(await signIn({ sub: person.sub }))).toBe(user.id)
    expect((await api.ask('POST', '/api/auth/sign-in', { email: user.email, password: PASSWORD })).status).toBe(200)
  })

  test("that was created with another person's address is closed to its creator once the owner resets the password", async () => {
    const email = newPerson().email as string
    const squatter = newPerson({ email, email_verified: false })
    const account = await whoIs(await signIn(squatter, `?code=${await newCode()}`))
    expect(await whoIs(await signIn(squatter))).toBe(account)

    const owner = newPerson({ email })
    expectRefusal(await signIn(owner), 403, /reset the password once/)
    await reset(email)
    expectRefusal(await signIn(squatter), 403, /email_verified/)
    expect(await whoIs(await signIn(owner))).toBe(account)
    expectRefusal(await signIn(squatter), 403, /email_verified/)
    // The removed identity can still open an account of its own.
    const elsewhere = newPerson().email
    const own = await whoIs(await signIn({ ...squatter, email: elsewhere }, `?code=${await newCode()}`))
    expect(own).not.toBe(account)
    expect(await whoIs(await signIn(squatter))).toBe(own)
  })

  test('that was verified from the start stays open to its identity after a reset', async () => {
    const person = newPerson()
    const account = await whoIs(await signIn(person, `?code=${await newCode()}`))
    await reset(person.email as string)
    expect(await whoIs(await signIn({ sub: person.sub }))).toBe(account)
  })

  test('without a password cannot be opened with one', async () => {
    const person = newPerson()
    await signIn(person, `?code=${await newCode()}`)
    for (const password of ['', 'null', PASSWORD])
      expect((await api.ask('POST', '/api/auth/sign-in', { email: person.email, password })).status).toBe(401)
  })
})
