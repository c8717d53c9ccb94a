import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { readKeyRing } from '../../activities/key-ring.js'
import { readApiConfig } from '../../apps/api/config.js'
import { createOidcClient } from '../../apps/api/oidc.js'
import { createAccessCode } from '../../db/accounts.js'
import { beginPasswordReset } from '../../db/passwords.js'
import { rateLimits } from '../../domain/rate-limits.js'
import { type Answer, cookieOf, deadAddress, PASSWORD, startApi, type TestApi } from '../support/api.js'
import { CLIENT, type Person, startIdentityProvider } from '../support/identity-provider.js'

const redirectUri = 'http://localhost/api/auth/oidc/callback'
const provider = await startIdentityProvider({ redirectUri })
const keyRing = readKeyRing(`oidc:${Buffer.from('a ring key of 32 bytes for cooki').toString('base64')}`)
const clock = { ahead: 0 }
const lines: string[] = []
const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
const clientFor = (issuer: string, more: { clientSecret?: string; providerSeconds?: number } = {}) =>
  createOidcClient({
    ...CLIENT,
    issuer,
    redirectUri,
    keyRing,
    log,
    now: () => Date.now() + clock.ahead,
    ...more
  })

const api = await startApi('oidc', { oidc: clientFor(provider.issuer), log })
const { database } = api
const { db } = database
afterAll(async () => {
  await api.close()
  await provider.close()
})
afterEach(() => {
  provider.state.fault = {}
  provider.state.claimsIn = 'token'
  provider.state.authMethods = ['client_secret_basic', 'client_secret_post']
  clock.ahead = 0
})

let count = 0
const newPerson = (more: Partial<Person> = {}): Person => {
  const name = `someone-${++count}`
  return { sub: `subject of ${name}`, email: `${name}@example.org`, email_verified: true, ...more }
}
const newCode = (uses = 1) => createAccessCode(db, { uses })

/** A browser that began to sign in, with the cookie it got and the address to which the provider sends it back. */
interface Visit {
  cookie: string
  back: string
}

async function goToProvider(person: Person, query = '', at: TestApi = api): Promise<Visit> {
  provider.state.person = person
  const answer = await at.ask('GET', `/api/auth/oidc/start${query}`)
  if (answer.status !== 302) throw new Error(`start answered ${answer.status}: ${answer.text}`)
  const back = new URL(await provider.visit(answer.headers.location as string))
  return { cookie: cookieOf(answer), back: `${back.pathname}${back.search}` }
}

const comeBack = ({ cookie, back }: Visit, at: TestApi = api): Promise<Answer> =>
  at.ask('GET', back, undefined, cookie ? { cookie } : {})

const signIn = async (person: Person, query = '', at: TestApi = api): Promise<Answer> =>
  comeBack(await goToProvider(person, query, at), at)

/** All cookies that an answer sets, by name. */
const cookiesOf = (answer: Answer): Record<string, string> =>
  Object.fromEntries(
    [answer.headers['set-cookie']]
      .flat()
      .filter((line) => line !== undefined)
      .map((line) => [line.split('=')[0]!, line])
  )

async function whoIs(answer: Answer): Promise<string> {
  const session = cookiesOf(answer).qjs_session
  if (!session) throw new Error(`no session in an answer ${answer.status}: ${answer.text}`)
  const seen = await api.ask('GET', '/api/auth/session', undefined, { cookie: session.split(';')[0]! })
  return seen.body.user.id
}

/** Nobody is signed in, and the browser may not come back with the same cookie. */
function expectRefusal(answer: Answer, status: number, message: RegExp): void {
  expect([answer.status, answer.body]).toEqual([status, { error: expect.stringMatching(message) }])
  expect(Object.keys(cookiesOf(answer))).toEqual(['qjs_oidc'])
  expect(cookiesOf(answer).qjs_oidc).toMatch(/^qjs_oidc=;.*Expires=Thu, 01 Jan 1970/)
}

const rowsOf = async (email: unknown) => [
  ...(await db.execute(
    sql`select u.*, i.issuer, i.subject from users u left join identities i on i.user_id = u.id where email = ${email}`
  ))
]
const usesLeft = async (code: string) =>
  (await api.ask('POST', '/api/auth/validate-code', { code })).body.remaining_uses as number

describe('the way to the provider', () => {
  test('is a redirect with state, nonce and PKCE, and a cookie that scripts cannot read and that shows nothing', async () => {
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

  test('never takes the same state, nonce or challenge twice', async () => {
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
  ])('is not taken for whoever would end up at %j', async (returnTo) => {
    const answer = await api.ask('GET', `/api/auth/oidc/start?return_to=${encodeURIComponent(returnTo)}`)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^return_to: must/)])
  })

  test('refuses an access code that can be none, without repeating it', async () => {
    const answer = await api.ask('GET', '/api/auth/oidc/start?code=a%20b')
    expect([answer.status, answer.body.error]).toEqual([400, 'code: must match ^[A-Za-z0-9_-]+$'])
  })

  test('is no route where no provider is configured', async () => {
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
  test('makes an account with one use of the access code, verified as the provider says, and goes where it was asked to', async () => {
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

  test('of an address that the provider does not vouch for makes an account that is not verified', async () => {
    for (const email_verified of [false, undefined, 'true', 1]) {
      const person = newPerson({ email_verified })
      expect((await signIn(person, `?code=${await newCode()}`)).status).toBe(302)
      expect(await rowsOf(person.email)).toMatchObject([{ email_verified_at: null, subject: person.sub }])
    }
  })

  test('without an access code is refused with the way to bring one, and makes nothing', async () => {
    const person = newPerson()
    expectRefusal(await signIn(person), 400, /^code: is required for your first sign-in; begin again at .*start\?code=/)
    expect(await rowsOf(person.email)).toEqual([])
  })

  test('with a code that is used up makes nothing, and counts as a look at a code', async () => {
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

  test('needs no code where codes are off', async () => {
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

  test('of five people with a code of two uses at once lets in exactly two', async () => {
    const code = await newCode(2)
    const visits: Visit[] = []
    for (let turn = 0; turn < 5; turn++) visits.push(await goToProvider(newPerson(), `?code=${code}`))
    const answers = await Promise.all(visits.map((visit) => comeBack(visit)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([302, 302, 400, 400, 400])
    expect(await usesLeft(code)).toBe(0)
  })

  test('of one person from five browsers at once makes one account and takes one use', async () => {
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

  test('of one subject with two addresses at once makes one account, and the code of the other is not spent', async () => {
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
    ['none', undefined],
    ['no text', 5],
    ['no address', 'nobody'],
    ['one too long', `${'a'.repeat(250)}@example.org`],
    ['two lines', 'a@example.org\r\nb@example.org'],
    ['the Kelvin sign for a k', '\u212Aelvin@example.org'],
    ['a NUL', 'a\u0000b@example.org']
  ])('is refused when the e-mail address is %s', async (_what, email) => {
    expectRefusal(
      await signIn(newPerson({ email }), `?code=${await newCode()}`),
      403,
      /gave no e-mail address of yours that can be used/
    )
  })

  test.each([
    ['empty', ' ', null],
    ['no text', { first: 'Ada' }, null],
    ['text with a NUL', 'A\u0000da', null],
    ['very long', '\u{1F600}'.repeat(300), '\u{1F600}'.repeat(100)]
  ])('takes a name that is %s as far as it can be shown', async (_what, name, shown) => {
    const person = newPerson({ name })
    expect((await signIn(person, `?code=${await newCode()}`)).status).toBe(302)
    expect(await rowsOf(person.email)).toMatchObject([{ display_name: shown }])
  })

  test('asks the userinfo endpoint when the token does not tell the address', async () => {
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
  test('is of the same account, whatever the address is called by then, and needs no code', async () => {
    const person = newPerson()
    const first = await whoIs(await signIn(person, `?code=${await newCode()}`))
    const code = await newCode()
    const later = await signIn({ sub: person.sub, email: 'moved@example.org', email_verified: false }, `?code=${code}`)
    expect(await whoIs(later)).toBe(first)
    expect(await usesLeft(code)).toBe(1)
    expect(await rowsOf('moved@example.org')).toEqual([])
    expect(await whoIs(await signIn({ sub: person.sub }))).toBe(first)
  })

  test('of the same subject at another provider is somebody else', async () => {
    const person = newPerson({ email_verified: false })
    await signIn(person, `?code=${await newCode()}`)
    await db.execute(sql`update identities set issuer = 'https://other.example' where subject = ${person.sub}`)
    expectRefusal(await signIn(person), 403, /sign in with the password/)
  })

  test('begins a new session, and leaves nothing of one that was planted', async () => {
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

  test('opens only when both the provider and this service have the address proved', async () => {
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
    // From now on it is the subject that counts, and the password still works.
    expect(await whoIs(await signIn({ sub: person.sub }))).toBe(user.id)
    expect((await api.ask('POST', '/api/auth/sign-in', { email: user.email, password: PASSWORD })).status).toBe(200)
  })

  test('that somebody made with an address of somebody else is lost to them once its owner resets the password', async () => {
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
    // The lost identity may still open an account of its own.
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

  test('takes no password while it has none', async () => {
    const person = newPerson()
    await signIn(person, `?code=${await newCode()}`)
    for (const password of ['', 'null', PASSWORD])
      expect((await api.ask('POST', '/api/auth/sign-in', { email: person.email, password })).status).toBe(401)
  })
})

describe('an ID token', () => {
  const seconds = Math.floor(Date.now() / 1000)
  test.each([
    ['of another issuer', { claims: { iss: 'https://other.example' } }],
    ['for another service', { claims: { aud: 'another-service' } }],
    ['for several, made for another', { claims: { aud: [CLIENT.clientId, 'another'], azp: 'another' } }],
    ['that has expired', { claims: { iat: seconds - 900, exp: seconds - 600 } }],
    ['that never expires', { claims: { exp: undefined } }],
    ['that is not valid yet', { claims: { nbf: seconds + 3600 } }],
    ['of another sign-in', { claims: { nonce: 'another nonce' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['about nobody', { claims: { sub: undefined } }],
    ['with a subject of 256 characters', { claims: { sub: 'a'.repeat(256) } }],
    ['with a NUL in its subject', { claims: { sub: 'a\u0000b' } }],
    ['without a signature', { signedBy: 'nobody' }],
    ['signed by another key under the same name', { signedBy: 'another key' }],
    ['signed by the secret of the client', { signedBy: 'the client secret' }],
    ['that is missing', { noIdToken: true }]
  ] as const)('%s signs nobody in', async (_what, fault) => {
    const person = newPerson()
    const code = await newCode()
    const visit = await goToProvider(person, `?code=${code}`)
    provider.state.fault = fault
    expectRefusal(await comeBack(visit), 401, /cannot be trusted|is no subject/)
    expect(await rowsOf(person.email)).toEqual([])
    expect(await usesLeft(code)).toBe(1)
    // The same person gets in as soon as the provider is right again.
    provider.state.fault = {}
    expect((await signIn(person, `?code=${code}`)).status).toBe(302)
  })
})

describe('coming back', () => {
  test('with the state of another browser is refused', async () => {
    const [mine, theirs] = [await goToProvider(newPerson()), await goToProvider(newPerson())]
    expectRefusal(await comeBack({ cookie: mine.cookie, back: theirs.back }), 400, /^state: belongs to another sign-in/)
    const swapped = new URL(theirs.back, 'http://localhost')
    swapped.searchParams.set('state', new URL(mine.back, 'http://localhost').searchParams.get('state')!)
    // A code of somebody else's sign-in: the verifier does not fit it.
    const injected = { cookie: mine.cookie, back: `${swapped.pathname}${swapped.search}` }
    expectRefusal(await comeBack(injected), 400, /^code: was used already, has expired or is not of this sign-in/)
  })

  test('twice is refused, with the cookie or without', async () => {
    const visit = await goToProvider(newPerson(), `?code=${await newCode()}`)
    expect((await comeBack(visit)).status).toBe(302)
    expectRefusal(await comeBack(visit), 400, /^code: was used already/)
    expectRefusal(await comeBack({ ...visit, cookie: '' }), 400, /brings no sign-in that was begun here/)
  })

  test('with a cookie that was changed, cut, mixed or made up is refused', async () => {
    const [visit, other] = [await goToProvider(newPerson()), await goToProvider(newPerson())]
    const [name, sealed] = visit.cookie.split('=') as [string, string]
    const [ring, key, value] = sealed.split('.') as [string, string, string]
    const flip = (part: string, at: number) =>
      `${part.slice(0, at)}${part[at] === 'A' ? 'B' : 'A'}${part.slice(at + 1)}`
    const changed = [
      ...[0, 20, 60].map((at) => `${ring}.${flip(key, at)}.${value}`),
      ...[0, 40, 400].map((at) => `${ring}.${key}.${flip(value, at)}`),
      `${ring}.${key}.${value.slice(0, -8)}`,
      `${ring}.${key}`,
      `other.${key}.${value}`,
      `${ring}.${key}.${other.cookie.split('.')[2]}`,
      `${ring}..`,
      '..',
      'x',
      '%00',
      Buffer.from('{"state":"x"}').toString('base64url')
    ]
    for (const cookie of changed)
      expectRefusal(await comeBack({ ...visit, cookie: `${name}=${cookie}` }), 400, /was not made here/)
  })

  test('after ten minutes is refused, and before it is not', async () => {
    const [late, early] = [await goToProvider(newPerson(), `?code=${await newCode()}`), await goToProvider(newPerson())]
    clock.ahead = 600_000
    expectRefusal(await comeBack(early), 400, /begun more than 10 minutes ago/)
    clock.ahead = 570_000
    expect((await comeBack(late)).status).toBe(302)
  })

  test('with nothing, twice the same, or the name of another provider is refused', async () => {
    for (const query of ['', '?code=x', '?state=x', '?error=access_denied', '?state=a&state=b']) {
      const answer = await api.ask('GET', `/api/auth/oidc/callback${query}`)
      expect(answer.status).toBe(400)
    }
    const onlyState = await goToProvider(newPerson())
    expectRefusal(
      await comeBack({ ...onlyState, back: onlyState.back.replace(/code=[^&]*/, '') }),
      400,
      /^code: is req/
    )
    const twice = await goToProvider(newPerson())
    expect((await comeBack({ ...twice, back: `${twice.back}&code=another` })).status).toBe(400)
    const mixed = await goToProvider(newPerson())
    const back = mixed.back.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fother.example')
    expectRefusal(await comeBack({ ...mixed, back }), 401, /cannot be trusted/)
  })

  test.each([
    ['access_denied', 403, /did not sign you in \(access_denied\)/],
    ['temporarily_unavailable', 502, /cannot sign anybody in now/],
    ['server_error', 502, /cannot sign anybody in now/],
    ['<script>alert(1)</script>', 403, /did not sign you in \(an unknown error\)/]
  ])('with the error %s says so', async (denial, status, message) => {
    provider.state.fault = { denial }
    expectRefusal(await signIn(newPerson()), status, message)
  })

  test('needs a cookie bound to TLS and to the host where the service has TLS', async () => {
    const tls = await startApi('oidc_tls', {
      database,
      oidc: clientFor(provider.issuer),
      config: { publicUrl: 'https://jobs.example.org' }
    })
    const visit = await goToProvider(newPerson(), `?code=${await newCode()}`, tls)
    expect(visit.cookie).toMatch(/^__Host-qjs_oidc=/)
    expect((await comeBack({ ...visit, cookie: visit.cookie.replace('__Host-', '') }, tls)).status).toBe(400)
    const answer = await comeBack(visit, tls)
    expect(answer.status).toBe(302)
    expect(Object.keys(cookiesOf(answer)).sort()).toEqual(['__Host-qjs_oidc', '__Host-qjs_session'])
    for (const cookie of Object.values(cookiesOf(answer))) expect(cookie).toContain('Secure')
    await tls.close()
  })
})

describe('a provider', () => {
  const withClient = async (oidc: ReturnType<typeof clientFor>, work: (at: TestApi) => Promise<void>) => {
    const at = await startApi('oidc_other', { database, oidc })
    try {
      await work(at)
    } finally {
      await at.close()
    }
  }

  test('that is away lets the api start, and is found again when it is back', async () => {
    const address = await deadAddress()
    await withClient(clientFor(`http://${address}`), async (at) => {
      for (let turn = 0; turn < 2; turn++) {
        const answer = await at.ask('GET', '/api/auth/oidc/start')
        expect([answer.status, answer.body]).toEqual([
          502,
          { error: 'The provider of identities cannot be reached; try again later' }
        ])
      }
      expect((await at.ask('GET', '/healthz')).status).toBe(200)
      const back = await startIdentityProvider({ redirectUri, port: Number(address.split(':')[1]) })
      expect((await at.ask('GET', '/api/auth/oidc/start')).status).toBe(302)
      await back.close()
    })
  })

  test('that goes away between the two steps is a 502', async () => {
    const passing = await startIdentityProvider({ redirectUri })
    await withClient(clientFor(passing.issuer), async (at) => {
      const start = await at.ask('GET', '/api/auth/oidc/start')
      const back = new URL(await passing.visit(start.headers.location as string))
      await passing.close()
      const answer = await comeBack({ cookie: cookieOf(start), back: `${back.pathname}${back.search}` }, at)
      expectRefusal(answer, 502, /cannot be reached/)
    })
  })

  test.each(['/.well-known/openid-configuration', '/token', '/jwks', '/userinfo'])(
    'that says nothing at %s is not waited for without end',
    async (silentAt) => {
      await withClient(clientFor(provider.issuer, { providerSeconds: 0.3 }), async (at) => {
        provider.state.claimsIn = 'userinfo'
        if (silentAt.startsWith('/.well-known')) {
          provider.state.fault = { silentAt }
          expect((await at.ask('GET', '/api/auth/oidc/start')).status).toBe(502)
        } else {
          const visit = await goToProvider(newPerson(), '', at)
          provider.state.fault = { silentAt }
          expectRefusal(await comeBack(visit, at), 502, /cannot be reached/)
        }
      })
    }
  )

  test.each([
    ['a page instead of tokens', { status: 200, body: '<html>', type: 'text/html' }, 502],
    ['broken JSON', { status: 200, body: '{"access_token":' }, 502],
    ['a fault of its own', { status: 503, body: 'busy', type: 'text/plain' }, 502],
    ['a list', { status: 200, body: '[]' }, 401],
    ['an empty object', { status: 200, body: '{}' }, 401],
    ['another error', { status: 400, body: '{"error":"unauthorized_client"}' }, 503]
  ])('whose token endpoint answers %s signs nobody in', async (_what, tokenAnswer, status) => {
    const visit = await goToProvider(newPerson(), `?code=${await newCode()}`)
    provider.state.fault = { tokenAnswer }
    expectRefusal(await comeBack(visit), status, /^The provider of identities /)
  })

  test('that is called otherwise than it is configured is not used', async () => {
    provider.state.fault = { metadata: { issuer: 'https://other.example' } }
    await withClient(clientFor(provider.issuer), async (at) =>
      expect((await at.ask('GET', '/api/auth/oidc/start')).status).toBe(502)
    )
  })

  test('gets the secret in the body or in the header, as it says it takes it', async () => {
    for (const method of ['client_secret_post', 'client_secret_basic']) {
      provider.state.authMethods = [method]
      await withClient(clientFor(provider.issuer), async (at) =>
        expect((await signIn(newPerson(), `?code=${await newCode()}`, at)).status).toBe(302)
      )
    }
  })

  test('that does not know the secret is a fault of the configuration', async () => {
    await withClient(clientFor(provider.issuer, { clientSecret: 'wrong' }), async (at) =>
      expectRefusal(
        await signIn(newPerson(), '', at),
        503,
        /\(invalid_client\).*check OIDC_CLIENT_ID and OIDC_CLIENT_SEC/
      )
    )
  })

  test('is asked for its metadata once an hour, however many come', async () => {
    await withClient(clientFor(provider.issuer), async (at) => {
      const looks = () => provider.paths.filter((path) => path.startsWith('/.well-known')).length
      const before = looks()
      const start = () => at.ask('GET', '/api/auth/oidc/start')
      await Promise.all(Array.from({ length: 10 }, start))
      expect(looks()).toBe(before + 1)
      clock.ahead = 3_600_000
      await start()
      expect(looks()).toBe(before + 2)
    })
  })
})

test('no log holds a code, a verifier, a token, a state or an access code', async () => {
  const code = await newCode(9)
  const visits = [await goToProvider(newPerson(), `?code=${code}`), await goToProvider(newPerson(), `?code=${code}`)]
  await comeBack(visits[0]!)
  await comeBack(visits[0]!)
  provider.state.fault = { signedBy: 'another key' }
  await comeBack(visits[1]!)
  provider.state.fault = { denial: 'access_denied' }
  await signIn(newPerson())
  const states = visits.map(({ back }) => new URL(back, 'http://localhost').searchParams.get('state')!)
  const written = lines.join('')
  // What it does hold: that something failed, and at which step.
  expect(written).toContain('"reason":"OAUTH_')
  for (const secret of [
    ...provider.secrets,
    ...states,
    ...visits.map(({ cookie }) => cookie),
    code,
    CLIENT.clientSecret
  ])
    expect(written).not.toContain(secret)
})

describe('the configuration', () => {
  const env = {
    DATABASE_URL: 'postgres://x',
    REDIS_URL: 'redis://x',
    TEMPORAL_ADDRESS: 'x:1',
    SECRETS_KEYS: `k1:${Buffer.from('another ring key of 32 bytes its').toString('base64')}`,
    OIDC_ISSUER: 'https://accounts.example.org/realms/one',
    OIDC_CLIENT_ID: 'service',
    OIDC_CLIENT_SECRET: 'secret'
  }

  test('has a provider when all three variables are there, and none when none is', () => {
    expect(readApiConfig(env).oidc).toEqual({ issuer: env.OIDC_ISSUER, clientId: 'service', clientSecret: 'secret' })
    const without = { ...env, OIDC_ISSUER: '', OIDC_CLIENT_ID: '', OIDC_CLIENT_SECRET: '' }
    expect(readApiConfig(without).oidc).toBeNull()
  })

  test.each(['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'SECRETS_KEYS'])(
    'that misses only %s does not start, and says so',
    (name) => {
      expect(() => readApiConfig({ ...env, [name]: '' })).toThrow(new RegExp(`^${name} is not set`))
    }
  )

  test.each([
    'accounts.example.org',
    'http://accounts.example.org',
    'ftp://x',
    'https://u:p@x.example',
    'https://x/?a=b'
  ])('takes no issuer %s', (issuer) => {
    expect(() => readApiConfig({ ...env, OIDC_ISSUER: issuer })).toThrow(/^OIDC_ISSUER must be an address/)
  })

  test('takes http for a provider on this machine', () => {
    for (const issuer of ['http://localhost:8080/realms/one', 'http://127.0.0.1:9', 'http://[::1]:9'])
      expect(readApiConfig({ ...env, OIDC_ISSUER: issuer }).oidc?.issuer).toBe(issuer)
  })
})
