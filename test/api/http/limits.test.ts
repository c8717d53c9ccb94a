// Rate limits as callers meet them: exact, with the seconds to wait, and independent of other callers.
import { createHash } from 'node:crypto'
import { afterEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { isPassword } from '../../../apps/api/accounts/password-hash.js'
import { accessTable } from '../../../apps/api/http/access-table.js'
import { parseTrustedProxies } from '../../../apps/api/http/limits/client-address.js'
import { createAccessCode, remainingUses } from '../../../db/accounts/accounts.js'
import { type RateLimits, rateLimitRefusalBody, rateLimits } from '../../../domain/teams/rate-limits.js'
import { type ApiResponse, deadAddress, type Headers, PASSWORD, startApi } from '../../support/api/api.js'
import { asForm, form, tarGz } from '../../support/capsules/capsule-bench.js'
import { submission } from '../../support/jobs/builders.js'
import { longTest } from '../../support/lane.js'

// Each has database connections of its own, of which the server has 300 for all tests.
const apis: { close(): Promise<void> }[] = []
afterEach(() => Promise.all(apis.splice(0).map((api) => api.close())))

async function limited(name: string, options: Parameters<typeof startApi>[1] = {}) {
  const api = await startApi(`limits_${name}`, { limits: rateLimits, ...options })
  apis.push(api)
  return api
}

const of = (answers: ApiResponse[], status: number): ApiResponse[] =>
  answers.filter((answer) => answer.status === status)
const times = <T>(count: number, ask: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => ask(at)))

describe('the access table', () => {
  test('limits every write that a user or a key can make', () => {
    // Signing out must never be refused, and what it removes is bounded by the sign-ins.
    const exempt = new Set(['POST /api/auth/sign-out'])
    const unlimited = Object.entries(accessTable)
      .filter(([line, { who, write, limit }]) => {
        const changes = write || (!line.startsWith('GET ') && (who === 'session' || who === 'caller'))
        return changes && !limit && !exempt.has(line)
      })
      .map(([line]) => line)
    expect(unlimited).toEqual([])
  })
})

describe('the limit of imports', () => {
  const manifest = 'version: "1.0.0"\nname: from elsewhere\nlifecycle_state: draft\n'
  const path = '/api/capsules/import'

  test('also counts repetitions under one Idempotency-Key, whose forms are read again', async () => {
    const api = await limited('import_repeats')
    const ada = await api.signUp()
    const content = tarGz({ 'x/capsule.yaml': manifest })
    const body = form([{ name: 'file', content, file: 'x' }], 'b')
    const answers: ApiResponse[] = []
    for (let turn = 0; turn < 10; turn++) answers.push(await ada.ask('POST', path, body, asForm('b', 'one')))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, ...Array(7).fill(429)])
    expect(answers[1]!.headers['idempotency-replayed']).toBe('true')
  })

  test('is all that a repetition costs: its package is not inflated again', async () => {
    const api = await limited('import_replay')
    const ada = await api.signUp()
    // A package that cannot be read, under whose key a response is stored.
    const content = Buffer.from('neither gzip nor zip')
    const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')
    await api.database.db.execute(sql`
      insert into idempotency_keys (principal, key, method, path, body_sha256, status, body)
      values (${`user:${ada.id}`}, 'one', 'POST', ${path},
        ${sha256(JSON.stringify(['file', 'x', sha256(content)]))}, 201, '{"state":"draft"}')`)
    const body = form([{ name: 'file', content, file: 'x' }], 'b')
    const repeated = await ada.ask('POST', path, body, asForm('b', 'one'))
    expect([repeated.status, repeated.text]).toEqual([201, '{"state":"draft"}'])
  })
})

describe('the limit of submissions', () => {
  test('accepts ten of fifty at once, refuses the rest with the seconds to wait, and does not affect another user', async () => {
    const api = await limited('submit')
    const [ada, bob] = [await api.signUp(), await api.signUp()]
    const answers = await times(50, () => ada.post('/api/jobs/submit', submission()))
    expect([of(answers, 201).length, of(answers, 429).length]).toEqual([10, 40])
    const refused = of(answers, 429)[0]!
    const seconds = Number(refused.headers['retry-after'])
    expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60).toBe(true)
    expect(refused.body).toEqual({ error: rateLimitRefusalBody(rateLimits.submit, seconds).message })
    expect((await bob.post('/api/jobs/submit', submission())).status).toBe(201)
    expect((await ada.get('/api/jobs')).body.total).toBe(10)
  })

  test('is shared with the playground and among all sessions of a user', async () => {
    const api = await limited('playground', { executorUrl: null })
    const ada = await api.signUp()
    await times(9, () => ada.post('/api/jobs/submit', submission()))
    const body = { code: 'x', language: 'qiskit', backend: 'local', shots: 1 }
    expect((await ada.post('/api/playground/run', body)).status).toBe(503)
    const other = await api.ask('POST', '/api/auth/sign-in', { email: ada.email, password: 'correct horse battery' })
    const cookie = String(other.headers['set-cookie']).split(';')[0]!
    expect(
      (await api.ask('POST', '/api/playground/convert', { code: 'x', language: 'qiskit' }, { cookie })).status
    ).toBe(429)
  })

  test('counts requests with an API key for the key, not for its creator', async () => {
    const api = await limited('keys')
    const ada = await api.signUp()
    const { key } = (await ada.post('/api/team/api-keys', { name: 'k', tier: 'simulate', kind: 'live' })).body
    const headers: Headers = { authorization: `Bearer ${key}` }
    const answers = await times(15, () => api.ask('POST', '/api/jobs/submit', submission(), headers))
    expect(of(answers, 201)).toHaveLength(10)
    expect(of(answers, 429)[0]!.body.error).toMatchObject({ code: 'rate_limited', status: 429 })
    expect((await ada.post('/api/jobs/submit', submission())).status).toBe(201)
  })

  test('also counts by team and day, and a refusal of the team does not count against the user', async () => {
    const few: RateLimits = { ...rateLimits, submitTeam: { ...rateLimits.submitTeam, max: 4 } }
    const api = await limited('team', { limits: few })
    const ada = await api.signUp()
    const answers = await times(12, () => ada.post('/api/jobs/submit', submission()))
    expect(of(answers, 201)).toHaveLength(4)
    const refused = of(answers, 429).find(({ body }) => body.error.includes('0/4 requests'))
    expect(Number(refused!.headers['retry-after'])).toBeGreaterThan(86_000)
    // Only the four recorded jobs count against her own ten.
    const elsewhere = (await ada.post('/api/teams', { name: 'Elsewhere' })).body.id
    expect((await ada.post('/api/jobs/submit', submission({ team_id: elsewhere }))).status).toBe(201)
  })
})

describe('the limit of comparisons', () => {
  test('allows twenty a minute to a user, refused ones included, and does not affect another user', async () => {
    const api = await limited('compare')
    const [ada, bob] = [await api.signUp(), await api.signUp()]
    const unknown = '01900000-0000-7000-8000-000000000000'
    const answers = await times(25, () => ada.post('/api/jobs/compare', { a: unknown, b: unknown }))
    expect([of(answers, 404).length, of(answers, 429).length]).toEqual([20, 5])
    expect((await bob.post('/api/jobs/compare', { a: unknown, b: unknown })).status).toBe(404)
  })
})

describe('the limit of an address', () => {
  const look = (api: Awaited<ReturnType<typeof limited>>, headers: Headers = {}) =>
    api.ask('POST', '/api/auth/validate-code', { code: 'any' }, headers)

  test('allows five checks of access codes a minute, and client-sent headers do not change the address', async () => {
    const api = await limited('address')
    const answers = await times(30, (at) =>
      look(api, {
        'x-forwarded-for': `203.0.113.${at}`,
        'x-real-ip': `203.0.113.${at}`,
        forwarded: `for=203.0.113.${at}`,
        'cf-connecting-ip': `203.0.113.${at}`,
        'true-client-ip': `203.0.113.${at}`
      })
    )
    expect([of(answers, 200).length, of(answers, 429).length]).toEqual([5, 25])
  })

  test('counts the address that a trusted proxy reports', async () => {
    const api = await limited('proxy', { trustedProxies: parseTrustedProxies('127.0.0.1') })
    const one = await times(8, (at) => look(api, { 'x-forwarded-for': `198.51.100.${at}, 203.0.113.7` }))
    expect(of(one, 200)).toHaveLength(5)
    expect((await look(api, { 'x-forwarded-for': '203.0.113.8' })).status).toBe(200)
  })

  test('counts wrong access codes at sign-up', async () => {
    const api = await limited('sign_up')
    const signUp = (at: number) =>
      api.ask('POST', '/api/auth/sign-up', {
        email: `a${at}@example.org`,
        password: 'long enough',
        code: `guess-${at}`
      })
    const answers = await times(20, signUp)
    expect([of(answers, 400).length, of(answers, 429).length]).toEqual([5, 15])
  })

  test('refuses the right access code too once the wrong ones have used it up', async () => {
    const api = await limited('guesses')
    const code = await createAccessCode(api.database.db, { uses: 5 })
    const signUp = (at: number, guess: string) =>
      api.ask('POST', '/api/auth/sign-up', { email: `b${at}@example.org`, password: 'long enough', code: guess })
    for (let at = 0; at < 5; at++) expect((await signUp(at, `guess-${at}`)).status).toBe(400)
    expect((await signUp(5, code)).status).toBe(429)
    expect(await remainingUses(api.database.db, code)).toBe(5)
  })

  test('counts a sign-up with a valid code and an address that is taken, and not one that makes an account', async () => {
    const api = await limited('taken')
    const code = await createAccessCode(api.database.db, { uses: 20 })
    const signUp = (email: string) => api.ask('POST', '/api/auth/sign-up', { email, password: 'long enough', code })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) expect((await signUp(`${name}@example.org`)).status).toBe(201)
    const again = await times(6, () => signUp('a@example.org'))
    expect([of(again, 400).length, of(again, 429).length]).toEqual([4, 2])
  })

  test('allows ten sign-ups a minute where no code is needed', async () => {
    const api = await limited('open_sign_up', { config: { codesNeeded: false } })
    const signUp = (at: number) =>
      api.ask('POST', '/api/auth/sign-up', { email: `c${at}@example.org`, password: 'long enough' })
    const answers = await times(15, signUp)
    expect([of(answers, 201).length, of(answers, 429).length]).toEqual([10, 5])
  })

  test('allows ten sign-ins a minute, over all accounts', async () => {
    const api = await limited('sign_in')
    const signIn = (at: number) =>
      api.ask('POST', '/api/auth/sign-in', { email: `a${at}@example.org`, password: 'guessed it' })
    const answers = await times(15, signIn)
    expect([of(answers, 401).length, of(answers, 429).length]).toEqual([10, 5])
  })
})

describe('the limit of an e-mail address', () => {
  const fromAnywhere = { trustedProxies: parseTrustedProxies('127.0.0.1') }
  const from = (at: number): Headers => ({ 'x-forwarded-for': `203.0.113.${at}` })

  test('ends the guessing of one password from many addresses, in the same way where there is no account', async () => {
    const api = await limited('one_account', fromAnywhere)
    const [ada, bob] = [await api.signUp(), await api.signUp()]
    const signIn = (email: string, password: string, at: number) =>
      api.ask('POST', '/api/auth/sign-in', { email, password }, from(at))
    for (let at = 0; at < 3; at++) expect((await signIn(ada.email, PASSWORD, at)).status).toBe(200)
    const known = await times(12, (at) => signIn(ada.email.toUpperCase(), `guess ${at}`, at))
    const unknown = await times(12, (at) => signIn('nobody@example.org', `guess ${at}`, at))
    for (const answers of [known, unknown]) expect([of(answers, 401).length, of(answers, 429).length]).toEqual([10, 2])
    const [one, other] = [known, unknown].map((answers) => of(answers, 429)[0]!.body.error.replace(/\d+ seconds/, ''))
    expect(one).toBe(other)
    expect((await signIn(ada.email, PASSWORD, 99)).status).toBe(429)
    expect((await signIn(bob.email, PASSWORD, 99)).status).toBe(200)
    expect((await ada.get('/api/auth/session')).status).toBe(200)
  })

  test('allows five mails with a link to a new password an hour, whether or not it has an account', async () => {
    const api = await limited('resets', fromAnywhere)
    const ada = await api.signUp()
    for (const email of [ada.email, 'nobody@example.org']) {
      const answers = await times(7, (at) => api.ask('POST', '/api/auth/forgot-password', { email }, from(at)))
      expect([of(answers, 202).length, of(answers, 429).length]).toEqual([5, 2])
    }
    expect(api.mails).toHaveLength(5)
  })
  test('allows five invitations a day, from whatever team, and counts none that is refused', async () => {
    const api = await limited('invited')
    const inviters = [await api.signUpWithTeam(), await api.signUpWithTeam()]
    const email = 'often@example.org'
    const body = (team_id: string) => ({ team_id, email, role: 'member' })
    const [first] = await Promise.all(inviters.map(({ post, teamId }) => post('/api/team/invitations', body(teamId))))
    const again = (at: number) => inviters[0]!.ask('PATCH', `/api/team/invitations/${first!.body.id}`, { action: at })
    expect(of(await times(4, () => again(0)), 400)).toHaveLength(4)
    const resent = []
    for (let at = 0; at < 5; at++)
      resent.push(await inviters[0]!.ask('PATCH', `/api/team/invitations/${first!.body.id}`, { action: 'resend' }))
    expect(resent.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
    expect(api.mails.filter(({ to }) => to === email)).toHaveLength(5)
  })

  test('allows ten requests a day for a mail about a job, until the address is proved', async () => {
    const wide: RateLimits = { ...rateLimits, submit: { ...rateLimits.submit, max: 100 } }
    const api = await limited('job_mails', { limits: wide })
    const ada = await api.signUp()
    const submit = () => ada.post('/api/jobs/submit', submission({ notify: 'email' }))
    const answers = []
    for (let at = 0; at < 11; at++) answers.push(await submit())
    expect([of(answers, 201).length, of(answers, 429).length]).toEqual([10, 1])
    expect((await ada.post('/api/jobs/submit', submission())).status).toBe(201)
    await api.database.db.execute(sql`update users set email_verified_at = now()`)
    expect((await submit()).status).toBe(201)
  })
})

test('a process hashes two passwords at a time, and refuses those that would wait too long', async () => {
  const ends = await times(150, () =>
    isPassword(null, 'a password').then(
      () => 'checked',
      (error) => error.code
    )
  )
  expect([ends.filter((end) => end === 'checked').length, new Set(ends)]).toEqual([
    102,
    new Set(['checked', 'service_busy'])
  ])
})

describe('the limit of reads', () => {
  test('allows a hundred reads a minute, and does not count polls', async () => {
    const api = await limited('read')
    const ada = await api.signUp()
    const job = await ada.submit(submission({ not_before: new Date(Date.now() + 3.6e6).toISOString() }))
    const answers = await times(105, () => ada.get('/api/jobs'))
    expect([of(answers, 200).length, of(answers, 429).length]).toEqual([100, 5])
    const polls = await times(20, () => ada.get(`/api/jobs/${job}/status`))
    expect(of(polls, 200)).toHaveLength(20)
    expect((await ada.post('/api/jobs/submit', submission())).status).toBe(201)
  })

  test('cannot be bypassed by another spelling of the path', async () => {
    const few: RateLimits = { ...rateLimits, read: { ...rateLimits.read, max: 3 } }
    const api = await limited('spelling', { limits: few })
    const ada = await api.signUp()
    await times(3, () => ada.get('/api/jobs'))
    for (const path of ['/api/jobs', '/api/jobs?x=1', '/api/team/members', '/api/jobs?limit=1'])
      expect([path, (await ada.get(path)).status]).toEqual([path, 429])
    for (const path of ['/api/jobs/', '/API/JOBS', '//api/jobs', '/api/./jobs'])
      expect([path, [404, 429].includes((await ada.get(path)).status)]).toEqual([path, true])
    expect((await ada.ask('HEAD', '/api/jobs')).status).toBe(429)
    const overridden = await ada.ask('GET', '/api/jobs', undefined, { 'x-http-method-override': 'POST' })
    expect(overridden.status).toBe(429)
  })

  test('does not count health probes', async () => {
    const api = await limited('probes')
    expect(of(await times(120, () => api.ask('GET', '/healthz')), 200)).toHaveLength(120)
  })
})

describe('the scope that a limit declares decides whose requests are counted together', () => {
  const readLimit = (scope: 'user' | 'address'): RateLimits => ({
    ...rateLimits,
    read: { ...rateLimits.read, max: 3, scope }
  })
  const statuses = (answers: ApiResponse[]): number[] => answers.map(({ status }) => status).sort()

  test('by user, callers at one address do not share a limit, and a key has a limit of its own', async () => {
    const api = await limited('scope_user', { limits: readLimit('user') })
    const [ada, bob] = [await api.signUp(), await api.signUp()]
    const { key } = (await ada.post('/api/team/api-keys', { name: 'k', tier: 'read', kind: 'live' })).body
    expect(statuses(await times(4, () => ada.get('/api/teams')))).toEqual([200, 200, 200, 429])
    expect((await bob.get('/api/teams')).status).toBe(200)
    expect((await api.ask('GET', '/api/teams', undefined, { authorization: `Bearer ${key}` })).status).toBe(200)
    expect((await api.ask('GET', '/api/meta')).status).toBe(200)
  })

  test('by address, all callers at one address share a limit, signed in or not', async () => {
    const trustedProxies = parseTrustedProxies('127.0.0.1')
    const api = await limited('scope_address', { limits: readLimit('address'), trustedProxies })
    const [ada, bob] = [await api.signUp(), await api.signUp()]
    const at = (address: string, cookie?: string) =>
      api.ask('GET', cookie ? '/api/teams' : '/api/meta', undefined, {
        'x-forwarded-for': address,
        ...(cookie && { cookie })
      })
    const together = [
      await at('203.0.113.7', ada.cookie),
      await at('203.0.113.7', bob.cookie),
      await at('203.0.113.7'),
      await at('203.0.113.7', ada.cookie)
    ]
    expect(together.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect((await at('203.0.113.8', ada.cookie)).status).toBe(200)
  })

  test('by team, no request can take a slot before its team is known', async () => {
    const limits: RateLimits = { ...rateLimits, read: { ...rateLimits.read, scope: 'team' } }
    const api = await limited('scope_team', { limits })
    expect((await api.ask('GET', '/api/meta')).status).toBe(500)
  })
})

describe('the limit of other operations', () => {
  const operations: [string, number, (at: number, team: string) => [string, string, unknown]][] = [
    ['PATCH /api/profile', 30, (at: number) => ['PATCH', '/api/profile', { bio: `${at}` }]],
    [
      'POST /api/team/invitations',
      10,
      (at: number, team: string) => [
        'POST',
        '/api/team/invitations',
        { team_id: team, email: `x${at}@example.org`, role: 'member' }
      ]
    ],
    [
      'members, PATCH and DELETE together',
      30,
      (at: number, team: string) => [
        at % 2 ? 'PATCH' : 'DELETE',
        '/api/team/members/01890000-0000-7000-8000-000000000000',
        at % 2 ? { team_id: team, role: 'member' } : { team_id: team }
      ]
    ]
  ]
  test.each(operations)('allows for %s %p requests a minute', async (name, max, request) => {
    const api = await limited(`other_${name.length}`)
    const ada = await api.signUp()
    const team = (await ada.post('/api/teams', { name: 'Ours' })).body.id
    const answers = await times(max + 5, (at) => ada.ask(...request(at, team)))
    expect(of(answers, 429)).toHaveLength(5)
  })
})

longTest('without Redis, every request is let through', async () => {
  const api = await limited('down', { redisUrl: `redis://${await deadAddress()}` })
  const ada = await api.signUp()
  const answers = await times(30, () => ada.get('/api/jobs'))
  expect(of(answers, 200)).toHaveLength(30)
  expect(of(await times(15, () => ada.post('/api/jobs/submit', submission())), 201)).toHaveLength(15)
})
